"""Centroids that stand for a cloud: means of clusters, with the weight of their points."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.retrieval.kmeans import kmeans


def islands(seed=0, k=6, each=20, spread=0.01):
    """Points of k islands far apart, the label of each, and weights."""
    rng = np.random.default_rng(seed)
    middle = 10 * rng.standard_normal((k, 3))
    label = np.arange(k * each) % k
    a = rng.uniform(0.5, 1, k * each)
    return middle, middle[label] + spread * rng.standard_normal((k * each, 3)), label, a / a.sum()


@pytest.mark.parametrize("spread", [True, False])
def test_centroids_are_weighted_means_and_carry_all_weight(lib, spread):
    middle, x, label, a = islands()
    found, mass = (
        lib.numpy(part) for part in kmeans(lib.array(x), lib.array(a), 60, rng=np.random.default_rng(1), spread=spread)
    )
    assert 6 <= len(found) <= 60
    assert mass.sum() == pytest.approx(1)
    assert (mass > 0).all()
    np.testing.assert_allclose(mass @ found, a @ x, atol=1e-10)  # the mean of the cloud is kept
    island = np.argmin(((found[:, None] - middle) ** 2).sum(2), axis=1)
    assert np.abs(found - middle[island]).max() < 0.1  # no centroid mixes two islands
    np.testing.assert_allclose([mass[island == k].sum() for k in range(6)], [a[label == k].sum() for k in range(6)])


def test_a_spread_draw_finds_every_island_where_a_plain_one_does_not():
    """As many centroids as islands: k-means++ starts with one on each, a plain draw now and then with two on one."""
    middle, x, _, a = islands(k=8)
    missed = {}
    for spread in (True, False):
        missed[spread] = 0
        for seed in range(10):
            found, _ = kmeans(x, a, 8, rng=np.random.default_rng(seed), spread=spread)
            missed[spread] += np.sqrt(((middle[:, None] - found) ** 2).sum(2)).min(1).max() > 1
    assert missed[True] <= 1
    assert missed[False] >= 5


def test_one_cluster_is_the_weighted_mean():
    found, mass = kmeans(np.array([[0.0], [1.0]]), np.array([0.75, 0.25]), 1, rng=np.random.default_rng(0))
    np.testing.assert_allclose(found, [[0.25]])
    np.testing.assert_allclose(mass, [1.0])


def test_rounds_bring_centroids_nearer_and_the_last_is_a_fixed_point():
    x = np.random.default_rng(0).gamma(2.0, size=(300, 2))
    a = np.full(300, 1 / 300)
    gaps = []
    for rounds in (1, 5, 100):
        found, _ = kmeans(x, a, 10, rng=np.random.default_rng(1), rounds=rounds)
        gaps.append(((x[:, None] - found) ** 2).sum(2).min(1).mean())
    assert gaps[0] > gaps[1] > gaps[2]
    label = ((x[:, None] - found) ** 2).sum(2).argmin(1)
    np.testing.assert_allclose(found, [x[label == k].mean(0) for k in range(len(found))], atol=1e-12)


def test_points_of_no_weight_are_no_centroids():
    x = np.random.default_rng(0).standard_normal((50, 2))
    a = np.where(np.arange(50) < 10, 0.1, 0.0)
    for spread in (True, False):
        found, mass = kmeans(x, a, 20, rng=np.random.default_rng(0), spread=spread)
        assert len(found) <= 10
        np.testing.assert_allclose(mass @ found, a @ x, atol=1e-12)


def test_points_that_coincide_are_one_centroid():
    x = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 4, axis=0)
    found, mass = kmeans(x, np.full(12, 1 / 12), 7, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(found[np.argsort(found[:, 0])], [[0, 0], [1, 0], [5, 5]])
    np.testing.assert_allclose(mass, 1 / 3)


def test_same_rng_same_centroids():
    x = np.random.default_rng(0).standard_normal((80, 2))
    a = np.full(80, 1 / 80)
    one, same, other = (kmeans(x, a, 9, rng=np.random.default_rng(seed))[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert one.shape != other.shape or not np.allclose(one, other)


def test_single_precision_stays_single(lib):
    x = np.random.default_rng(0).standard_normal((80, 2))
    found, mass = kmeans(
        lib.array(x, "float32"), lib.array(np.full(80, 1 / 80), "float32"), 9, rng=np.random.default_rng(0)
    )
    assert lib.owns(found)
    assert lib.numpy(found).dtype == np.float32 == lib.numpy(mass).dtype
