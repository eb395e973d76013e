"""mini-vec2vec: the assignment, against brute force, and clouds it recovers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from invarot.baselines import mini_vec2vec
from invarot.baselines.mini_vec2vec import _swap_gains, match_graphs
from invarot.errors import InputError


def symmetric(count: int, rng: np.random.Generator) -> np.ndarray:
    half = rng.normal(size=(count, count))
    return half + half.T


def test_gains_of_swaps_are_what_the_sum_gains():
    rng = np.random.default_rng(0)
    a, b = symmetric(6, rng), symmetric(6, rng)
    gains = _swap_gains(a, b)
    for i, j in itertools.combinations(range(6), 2):
        order = np.arange(6)
        order[[i, j]] = order[[j, i]]
        assert gains[i, j] == pytest.approx(np.sum(a * b[np.ix_(order, order)]) - np.sum(a * b))


def test_the_best_order_of_a_small_problem():
    rng = np.random.default_rng(1)
    a, b = symmetric(6, rng), symmetric(6, rng)
    best = max(np.sum(a * b[np.ix_(p, p)]) for p in map(list, itertools.permutations(range(6))))
    found = match_graphs(a, b, restarts=30, rng=np.random.default_rng(0))
    assert np.sum(a * b[np.ix_(found, found)]) == pytest.approx(best)
    order = rng.permutation(6)
    np.testing.assert_array_equal(order[match_graphs(a[np.ix_(order, order)], a, restarts=30, rng=rng)], order[order])


def test_a_rotated_cloud_of_other_points_is_recovered(lib):
    rng = np.random.default_rng(2)
    topics = 3 * rng.normal(size=(12, 6))
    points = topics[rng.integers(12, size=400)] + 0.3 * rng.normal(size=(400, 6))
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0][:6]
    options = {"runs": 3, "clusters": 12, "restarts": 10, "k": 8, "iterations": 20, "sample": 100, "fine_clusters": 24}
    result = mini_vec2vec(lib.array(points[:200]), lib.array(points[200:] @ turn), rng=0, **options)
    assert lib.owns(result.map)
    off = lib.numpy(result.transform(lib.array(points[:200]))) - points[:200] @ turn
    assert np.sqrt(np.mean(off**2)) < 0.15 * points.std()
    assert len(result.history) == 21
    assert result.settings["baseline"] == "mini-vec2vec"


def test_bad_options():
    points = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(InputError, match="runs: expected a whole number"):
        mini_vec2vec(points, points, runs=0)
    with pytest.raises(InputError, match="smoothing: expected a number"):
        mini_vec2vec(points, points, smoothing=2.0)
