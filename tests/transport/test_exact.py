"""Exact plans against POT's network simplex, and against SciPy's assignment where that applies."""

import sys

import numpy as np
import ot
import pytest
from scipy.optimize import linear_sum_assignment

from invarot.errors import MissingExtra
from invarot.transport.exact import exact_plan
from invarot.transport.sparse_plan import SparsePlan


def clouds(n, m, seed, uniform=False):
    rng = np.random.default_rng(seed)
    z, y = rng.standard_normal((n, 3)), rng.standard_normal((m, 3))
    a, b = (np.ones(k) if uniform else rng.uniform(size=k) for k in (n, m))
    return z, y, a / a.sum(), b / b.sum()


@pytest.mark.parametrize(("n", "m"), [(20, 20), (15, 33), (40, 7), (2, 2)])
@pytest.mark.parametrize("uniform", [False, True])
def test_costs_what_pot_says(lib, n, m, uniform):
    for seed in range(5):
        parts = clouds(n, m, seed, uniform)
        z, y, a, b = parts
        plan = exact_plan(*(lib.array(part) for part in parts))
        assert plan.cost() == pytest.approx(ot.emd2(a, b, ot.dist(z, y)), abs=1e-9)
        rows, columns = (lib.numpy(part) for part in plan.marginals())
        np.testing.assert_allclose(rows, a, atol=1e-12)
        np.testing.assert_allclose(columns, b, atol=1e-12)
        assert len(lib.numpy(plan.mass)) <= n + m - 1


def test_uniform_square_is_an_assignment():
    z, y, a, b = clouds(30, 30, 0, uniform=True)
    plan = exact_plan(z, y, a, b)
    np.testing.assert_array_equal(plan.matches(), linear_sum_assignment(ot.dist(z, y))[1])


def test_assignment_does_not_need_pot(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    exact_plan(*clouds(5, 5, 0, uniform=True))
    with pytest.raises(MissingExtra, match="exact"):
        exact_plan(*clouds(5, 6, 0))


def test_operators_agree_with_the_dense_plan(lib):
    parts = clouds(12, 9, 1)
    plan = exact_plan(*(lib.array(part) for part in parts))
    dense = lib.numpy(plan.dense())
    values = np.random.default_rng(0).standard_normal((9, 2))
    np.testing.assert_allclose(lib.numpy(plan.apply(lib.array(values))), dense @ values, atol=1e-12)
    np.testing.assert_allclose(lib.numpy(plan.apply(lib.array(values[:, 0]))), dense @ values[:, 0], atol=1e-12)
    np.testing.assert_allclose(lib.numpy(plan.apply_transposed(lib.array(parts[0]))), dense.T @ parts[0], atol=1e-12)
    np.testing.assert_array_equal(lib.numpy(plan.matches()), dense.argmax(1))
    positive = dense[dense > 0]
    assert plan.entropy() == pytest.approx(-np.sum(positive * np.log(positive)))


def test_a_row_without_mass_goes_to_its_nearest_target():
    z, y = np.asarray([[0.0], [5.0], [1.1]]), np.asarray([[0.0], [1.0], [5.0]])
    plan = SparsePlan(z, y, np.asarray([0, 1]), np.asarray([0, 2]), np.asarray([0.5, 0.5]))
    assert plan.matches().tolist() == [0, 2, 1]
