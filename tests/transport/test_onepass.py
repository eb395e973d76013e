"""The compiled iteration: the same sums as two products, for any number of rows."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.transport import onepass
from invarot.transport.cost import BlockedCost
from invarot.transport.sinkhorn import Potentials, sinkhorn

numba = pytest.importorskip("numba")


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 8, 31])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_sums(rows: int, dtype: type) -> None:
    draw = np.random.default_rng(rows)
    kernel, right, a = (draw.random(shape) for shape in ((rows, 17), 17, rows))
    mass, columns = onepass.one_pass(kernel.astype(dtype), right.astype(dtype), a.astype(dtype))
    assert mass.dtype == columns.dtype == dtype
    tolerance = 20 * np.finfo(dtype).eps
    np.testing.assert_allclose(mass, kernel @ right, rtol=tolerance)
    np.testing.assert_allclose(columns, (a / (kernel @ right)) @ kernel, rtol=tolerance)


def test_a_row_without_mass_is_infinite_as_in_numpy() -> None:
    """Division by nothing must not raise from inside a thread, nor be optimised away."""
    kernel, ones = np.eye(5), np.ones(5)
    kernel[2] = 0
    mass, columns = onepass.one_pass(kernel, ones, ones)
    assert mass[2] == 0
    assert np.isnan(columns).all()  # 0 · ∞ in every column


def test_a_plan_is_the_same_compiled_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    z, y = draw.normal(size=(1, 203, 4)), draw.normal(size=(190, 4))
    a, b = draw.random(203), draw.random(190)
    a[:3] = b[-2:] = 0  # points without weight
    a, b = a / a.sum(), b / b.sum()
    plain = BlockedCost(z, y, 8.0, a, b)
    monkeypatch.setattr(onepass, "WORTH_COMPILING", 1)
    compiled = BlockedCost(z, y, 8.0, a, b)
    assert compiled.compiled
    assert not plain.compiled
    nothing = Potentials(np.zeros((1, 203)), np.zeros((1, 190)), np.ones(1), 0)
    want, got = (sinkhorn(cost, a, b, warm=nothing, tol=1e-10, max_iter=500) for cost in (plain, compiled))
    np.testing.assert_allclose(got.u, want.u, atol=1e-8)
    np.testing.assert_allclose(got.v, want.v, atol=1e-8)
