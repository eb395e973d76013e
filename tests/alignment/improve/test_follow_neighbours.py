"""An optimum that is right but for a few directions is left through mutual neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from invarot import Schatten
from invarot.alignment.improve.follow_neighbours import fit_to_mutual, follow_neighbours
from invarot.alignment.loop.alternate import solve_from

from ..clouds import posed, random_turn

N, D = 600, 30


@pytest.fixture(scope="module")
def clouds():
    """A skewed cloud with five directions of little spread, its noisy turned copy, the turn, and the turn with four of these mirrored."""
    rng = np.random.default_rng(5)
    spread = np.r_[np.ones(D - 5), np.full(5, 0.35)]
    x = (rng.gamma(2.0, size=(N, D)) - 2.0) * spread
    turn, order = random_turn(D, rng), rng.permutation(N)
    y = (x @ turn)[order] + 0.1 * rng.standard_normal((N, D))
    signs = np.where(np.arange(D) >= D - 4, -1.0, 1.0)
    return x, y, turn, signs[:, None] * turn, np.argsort(order)


def settled(problem, w, *, hold_map=False):
    """Where the alternation at the last epsilon ends, or the plan of the map as it is."""
    return solve_from(problem, w, problem.budgets.solve.at_floor(), "given", stage="solve", hold_map=hold_map)


def test_mirrored_directions_are_turned_back(clouds, lib):
    x, y, turn, mirrored, _ = clouds
    problem = posed(lib.array(x), lib.array(y))
    stuck = settled(problem, lib.array(mirrored), hold_map=True)
    before = lib.numpy(stuck.map).copy()
    better = follow_neighbours(problem, stuck)
    assert better is not None
    assert better.value > stuck.value
    assert better.history[-1].stage == "neighbours"
    assert np.linalg.norm(lib.numpy(better.map) - turn) / D**0.5 < 0.15
    np.testing.assert_array_equal(lib.numpy(stuck.map), before)


def test_a_right_map_is_left_alone(clouds):
    """Fitted on half of the points, no map is better than one that all of them fitted."""
    x, y, turn, _, _ = clouds
    problem = posed(x, y)
    right = settled(problem, turn)
    assert fit_to_mutual(problem, right.map) is None
    assert follow_neighbours(problem, right) is None


def test_too_few_points_determine_no_map(clouds):
    x, y, _, mirrored, match = clouds
    few = np.arange(2 * D)
    problem = posed(x[few], y[match[few]])
    assert fit_to_mutual(problem, mirrored) is None


def test_only_orthogonal_maps_keep_distances(clouds):
    x, y, _, mirrored, _ = clouds
    problem = posed(x, y, maps=Schatten(2))
    assert follow_neighbours(problem, settled(problem, mirrored, hold_map=True)) is None
