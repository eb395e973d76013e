"""Votes of neighbourhoods."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from invarot.retrieval.thinning import thin
from invarot.starts.neighbourhoods import yield_descriptors
from invarot.starts.votes import find_candidates, find_nearest_few, fit_rigid, vote_for_maps


def turned(seed=0, n=300, d=3):
    rng = np.random.default_rng(seed)
    x = rng.gamma(2.0, size=(n, d))
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return x, turn, rng.normal(size=d)


def test_descriptors_do_not_depend_on_coordinates():
    x, turn, shift = turned()
    kinds = (yield_descriptors(points, balls=True) for points in (x, x @ turn + shift))
    for one, other in zip(*kinds, strict=True):  # a point on the edge of a ball is inside or outside by rounding
        assert np.mean(np.abs(one - other) > 1e-9) < 0.02


def test_similar_neighbourhoods_are_candidates():
    x, turn, shift = turned()
    left, right = (next(yield_descriptors(points, balls=False)) for points in (x, (x @ turn + shift)[::-1]))
    i, j = find_candidates(left, right)
    assert np.mean(i + j == len(x) - 1) > 0.15
    assert set(i[i + j == len(x) - 1]) == set(range(len(x)))


@pytest.mark.parametrize("d", [2, 3, 10])
@pytest.mark.parametrize("size", [1.0, 2.5])
def test_the_right_map_is_among_those_voted_for(d, size):
    x, turn, shift = turned(d, 250, d)
    y = size * x[x[:, 0] < np.quantile(x[:, 0], 0.6)] @ turn + shift
    maps = list(vote_for_maps(x, y, translate=True, proper=False, scale=size != 1))
    assert min(np.abs(w[:-1] - size * turn).max() for w in maps) < 0.05 * size


def test_rotations_only():
    x, turn, shift = turned(2)
    turn = turn * np.linalg.det(turn)
    for w in vote_for_maps(x, x @ -turn + shift, translate=True, proper=True, scale=False):
        assert np.linalg.det(w[:-1]) == pytest.approx(1.0)


def test_a_rigid_fit_is_exact_for_exact_pairs():
    x, turn, shift = turned(3, 20)
    w = fit_rigid(x, 2 * x @ turn + shift, np.ones(20), size=2.0, translate=True, proper=False)
    np.testing.assert_allclose(w, np.concatenate([2 * turn, shift[None]]), atol=1e-9)
    about = fit_rigid(x, x @ turn, np.ones(20), size=1.0, translate=False, proper=False)
    np.testing.assert_allclose(about[-1], 0.0, atol=1e-12)


def test_a_thinned_cloud_has_even_density():
    rng = np.random.default_rng(0)
    points = np.concatenate([0.05 * rng.uniform(size=(9000, 3)), rng.uniform(size=(1000, 3))])
    few = thin(points, 800)
    assert 400 <= len(few) <= 800
    assert np.mean(np.all(few < 0.05, axis=1)) < 0.1
    assert thin(points[:50], 800) is not None
    assert len(thin(rng.normal(size=(100, 20)), 30)) <= 30


def test_the_nearest_few_are_those_of_a_tree():
    rng = np.random.default_rng(5)
    z, y = rng.normal(size=(300, 20)), rng.normal(size=(40, 20))
    np.testing.assert_array_equal(find_nearest_few(z, y, 3), cKDTree(y).query(z, 3)[1])
