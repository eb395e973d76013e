from __future__ import annotations

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.starts import clusters
from invarot.starts.clusters import match_centroids


def islands(seed=0, d=5, k=12, each=15):
    rng = np.random.default_rng(seed)
    centres = 4 * rng.standard_normal((k, d))
    points = np.repeat(centres, each, axis=0) + 0.2 * rng.standard_normal((k * each, d))
    return centres, points - points.mean(axis=0)


def test_centroids_are_matched_by_their_distances():
    centres, _ = islands()
    rng = np.random.default_rng(2)
    turn, shuffle = np.linalg.qr(rng.standard_normal((5, 5)))[0], rng.permutation(12)
    found, value = match_centroids(centres, (centres @ turn)[shuffle], rng=rng, restarts=10)
    np.testing.assert_array_equal(shuffle[found], np.arange(12))
    assert value == pytest.approx(1.0)


def test_a_global_generator_that_was_seeded_changes_nothing():
    """SciPy would use it, and warn of that."""
    centres, _ = islands()
    found = [match_centroids(centres, centres[::-1], rng=np.random.default_rng(2), restarts=3)[0]]
    before = np.random.get_bit_generator()
    np.random.set_bit_generator(np.random.MT19937())
    try:
        np.random.seed(0)  # noqa: NPY002 -- what a program around us may have done
        found.append(match_centroids(centres, centres[::-1], rng=np.random.default_rng(2), restarts=3)[0])
    finally:
        np.random.set_bit_generator(before)
    np.testing.assert_array_equal(*found)


def test_a_new_sample_of_the_same_islands_is_aligned():
    rng = np.random.default_rng(3)
    centres, x = islands()
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    y = np.repeat(centres, 10, axis=0) + 0.2 * rng.standard_normal((120, 5))
    y = (y - y.mean(axis=0)) @ turn
    a, b = np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))
    maps = clusters(x, y, a, b, rng=np.random.default_rng(0), n_clusters=12, repeats=3)
    assert maps.shape == (5, 5, 5)
    assert min(np.linalg.norm(m - turn) for m in maps[:3]) < 0.3


def test_a_cloud_with_fewer_places_than_clusters_is_matched_by_its_heaviest():
    """Five places in x, many in y: k-means finds five centroids of one and forty of the other."""
    rng = np.random.default_rng(4)
    x = np.repeat(rng.standard_normal((5, 3)), 10, axis=0)
    y = rng.standard_normal((50, 3))
    a = np.full(50, 1 / 50)
    maps = clusters(x, y, a, a, rng=np.random.default_rng(0), repeats=2)
    np.testing.assert_allclose(maps @ maps.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (4, 3, 3)), atol=1e-10)


def test_two_points_a_cloud():
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.standard_normal((2, 2, 3))
        found, value = match_centroids(x, y, rng=rng, restarts=10)
        assert sorted(found) == [0, 1]
        assert np.isfinite(value)


@pytest.mark.parametrize("option", ["n_clusters", "repeats", "restarts"])
def test_counts_must_be_positive(option):
    _, x = islands()
    a = np.full(len(x), 1 / len(x))
    with pytest.raises(InputError, match=option):
        clusters(x, x, a, a, rng=np.random.default_rng(0), **{option: 0})
