from __future__ import annotations

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.starts import fused
from invarot.starts.descriptors import neighbour_means, normal_scores


def solve(case, **more):
    return fused(case.x, case.y, case.a, case.b, rng=np.random.default_rng(0), **more)


@pytest.mark.parametrize(("dx", "dy", "noise"), [(3, 3, 0.0), (8, 8, 0.2), (5, 9, 0.1)])
def test_the_alternation_inside_reaches_the_map(dx, dy, noise, twins, recovered):
    case = twins(150, dx, dy, noise=noise, seed=1)
    maps = solve(case)
    assert maps.shape == (1, dx, dy)
    assert np.sum(maps[0] * case.map) / min(dx, dy) > 0.97
    assert recovered(case, maps) >= 0.97


@pytest.mark.parametrize(
    "change",
    [
        {"sizes": 60},
        {"sizes": 60, "ordered": True},
        {"powers": (1.0,)},
        {"neighbours": ()},
        {"quantiles": 4},
        {"components": 2},
        {"prior_weight": 0.0},
        {"epsilon": (0.5, 0.3)},
        {"decay": 0.5},
        {"side": (np.arange(80.0), np.arange(80.0)), "side_weight": 5.0},
    ],
)
def test_every_option_changes_the_outcome(change, twins):
    case = twins(80, 6, noise=1.0)
    assert not np.allclose(solve(case, **change), solve(case), atol=1e-7)


def test_one_candidate_for_each_size(twins):
    case = twins(60, 3)
    found = solve(case, sizes=(30, None))
    assert found.shape == (2, 3, 3)
    np.testing.assert_allclose(found[1], solve(case)[0], atol=1e-12)
    assert not np.allclose(found[0], found[1])


def test_units_do_not_matter(twins):
    case = twins(60, 4, noise=0.2)
    expected = solve(case)
    case.x, case.y = case.x * 1e3, case.y * 1e-2
    np.testing.assert_allclose(solve(case), expected, atol=1e-5)


def test_normal_scores_share_ranks_on_ties_and_follow_weights():
    found = normal_scores(np.array([[1.0], [2.0], [2.0], [5.0]]), np.full(4, 0.25))
    assert found[1, 0] == found[2, 0] == pytest.approx(0.0)
    assert found[0, 0] == pytest.approx(-found[3, 0])
    heavy = normal_scores(np.array([[1.0], [2.0]]), np.array([0.9, 0.1]))
    np.testing.assert_allclose(heavy[:, 0], [-0.12566, 1.64485], atol=1e-4)  # normal quantiles of 0.45 and 0.95


def test_neighbour_means_leave_the_point_out():
    z = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    values = np.array([[1.0], [10.0], [100.0]])
    one, two = neighbour_means(z, values, (1, 2))
    np.testing.assert_allclose(one[:, 0], [10.0, 1.0, 10.0])
    np.testing.assert_allclose(two[:, 0], [55.0, 50.5, 5.5])


@pytest.mark.parametrize(
    "change", [{"decay": 1.0}, {"epsilon": (0.1, 0.2)}, {"prior_weight": -1.0}, {"components": 0}, {"sizes": 0}]
)
def test_wrong_options_are_refused(change, twins):
    with pytest.raises(InputError, match=next(iter(change))):
        solve(twins(20, 2), **change)
