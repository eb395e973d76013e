"""Targets that pass in blocks: the sweeps, images and plans of targets that are all here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from invarot.rows import ALL, AllRows
from invarot.transport.choice import make_cost, memory_needed
from invarot.transport.cut import CutCost
from invarot.transport.plan import EntropicPlan
from invarot.transport.sinkhorn import Potentials, sinkhorn


class Passing(AllRows):
    """All rows, but a few at a time, as they come from other processes."""

    whole = False

    def blocks(self, *arrays):
        for begin in range(0, arrays[0].shape[0], 7):
            rows = slice(begin, min(begin + 7, arrays[0].shape[0]))
            yield rows, *(one[rows] for one in arrays)


@pytest.fixture
def points(lib):
    rng = np.random.default_rng(0)
    z, y = rng.standard_normal((2, 12, 3)), rng.standard_normal((25, 3))
    a, b = rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(25))
    return tuple(lib.array(one) for one in (z, y, a, b))


def test_sweeps_and_images_are_those_of_all_targets(points, lib):
    z, y, a, b = points
    whole = make_cost(z, y, 3.0, a, b, memory=None)
    cut = make_cost(z, y, 3.0, a, b, memory=None, columns=Passing())
    assert isinstance(cut, CutCost)
    assert cut.mode == "streamed, targets travel"
    warm = Potentials.zero(a, b, starts=2)
    one, other = (sinkhorn(cost, a, b, warm=warm, tol=1e-10, max_iter=50) for cost in (whole, cut))
    assert one.iterations == other.iterations
    for first, second in ((one.u, other.u), (one.v, other.v)):
        np.testing.assert_allclose(lib.numpy(first), lib.numpy(second), atol=1e-10)
    for first, second in zip(whole.images(one.u, one.v), cut.images(one.u, one.v), strict=True):
        np.testing.assert_allclose(lib.numpy(first), lib.numpy(second), atol=1e-12)


def test_a_plan_does_what_it_does_with_all_targets(points, lib):
    z, y, a, b = points
    found = sinkhorn(
        make_cost(z, y, 3.0, a, b, memory=None), a, b, warm=Potentials.zero(a, b, starts=2), tol=1e-6, max_iter=50
    )
    plan = EntropicPlan(z[0], y, a, b, found.u[0], found.v[0], 2 / 3.0, 0.0, 1)
    cut = replace(plan, columns=Passing())
    pairs = [
        (plan.apply(y), cut.apply(y)), (plan.apply_transposed(z[0]), cut.apply_transposed(z[0])), (plan.dense(), cut.dense()),
        (plan.matches(), cut.matches()), *zip(plan.marginals(), cut.marginals(), strict=True),
    ]  # fmt: skip
    for one, other in pairs:
        np.testing.assert_allclose(lib.numpy(one), lib.numpy(other), atol=1e-12)
    assert cut.cost() == pytest.approx(plan.cost())
    assert cut.entropy() == pytest.approx(plan.entropy())
    assert plan.columns is ALL
    assert cut.shape == (12, 25)


def test_a_part_of_the_targets_needs_less_memory():
    z, part, all_of_y = np.zeros((1, 100, 50)), np.zeros((500, 50)), np.zeros((4000, 50))
    assert memory_needed(z, part, dense=False, targets=4000) < memory_needed(z, all_of_y, dense=False)
    assert memory_needed(z, all_of_y, dense=False, targets=4000) == memory_needed(z, all_of_y, dense=False)
