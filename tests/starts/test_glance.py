"""The first look: it takes what is plainly right and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.retrieval.nearest import nearest
from invarot.starts import signature
from invarot.starts.glance import try_quick_map
from invarot.starts.profiles import subsample

ROWS = 400  # of 1500: the rule is the same for fewer points, and faster
MANY = 2 * ROWS


@pytest.fixture(autouse=True)
def _fewer_rows(monkeypatch):
    monkeypatch.setattr("invarot.starts.glance.PROFILED_ROWS", ROWS)


def look(x, y):
    """`try_quick_map` on clouds put in their own order, as `signature` does it."""
    (xs, a, _), (ys, b, _) = (subsample(points, np.full(len(points), 1 / len(points)), None) for points in (x, y))
    return try_quick_map(xs, ys, a, b, quantiles=128, epsilon=0.05)


def loose_clusters(n: int, d: int, rng: np.random.Generator, centres: np.ndarray) -> np.ndarray:
    return np.asarray(centres[rng.integers(len(centres), size=n)] + rng.standard_normal((n, d)))


@pytest.mark.parametrize(("d", "noise"), [(4, 0.0), (25, 0.2)])
def test_a_copy_is_seen_at_once(d, noise, twins):
    case = twins(MANY + 50, d, noise=noise)
    found = look(case.x, case.y)
    assert found is not None
    assert np.mean(nearest(case.x @ found, case.y) == case.match) > 0.9


def test_unrelated_clouds_and_two_samples_are_left_to_a_closer_look():
    rng = np.random.default_rng(3)
    for d in (2, 20):
        centres = 2 * rng.standard_normal((40, d))
        x = loose_clusters(MANY, d, rng, centres)
        assert look(x, loose_clusters(MANY + 700, d, rng, centres)) is None
        assert look(x, loose_clusters(MANY, d, rng, 2 * rng.standard_normal((40, d)))) is None


def test_many_more_targets_do_not_pass_for_twins():
    """Nearly every point is a mutual neighbour where the other cloud is many times as dense."""
    rng = np.random.default_rng(5)
    x, y = rng.gamma(2.0, size=(MANY, 3)), rng.gamma(2.0, size=(16 * MANY, 3))
    assert look(x, y) is None


def test_a_map_that_is_plainly_right_is_the_start_and_no_option_changes_it(twins):
    case = twins(MANY, 5, noise=0.02)
    rng = np.random.default_rng(0)
    plain = signature(case.x, case.y, case.a, case.b, rng=rng, match=("sinkhorn", "mutual"))
    assert plain.shape == (2, 5, 5)
    np.testing.assert_array_equal(plain[0], plain[1])
    np.testing.assert_allclose(plain[0], case.map, atol=0.01)
    other = signature(case.x, case.y, case.a, case.b, rng=rng, match="mutual", look_first=False)
    assert not np.allclose(other[0], plain[0], atol=1e-6)


def test_fewer_points_are_not_worth_it(twins):
    case = twins(MANY - 1, 3)
    assert look(case.x, case.y) is None
