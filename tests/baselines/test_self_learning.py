from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from invarot.baselines.self_learning import _draw, _draw_both, first_dictionary, learn_maps, self_learning
from invarot.retrieval import neighbours


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    x = rng.gamma(1.0, size=(250, 8))
    x -= x.mean(axis=0)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    order = rng.permutation(250)
    return x, (x @ turn)[order], turn, np.argsort(order)


def test_finds_a_rotation(clouds, lib):
    x, y, turn, answer = clouds
    found = self_learning(lib.array(x), lib.array(y), patience=3)
    assert np.mean(lib.numpy(found.matches()) == answer) > 0.99
    assert np.allclose(lib.numpy(found.map), turn, atol=1e-6)
    assert lib.owns(found.map)


def test_the_start_does_not_depend_on_coordinates_or_order(clouds):
    x, y, _, answer = clouds
    i, j = first_dictionary(x, y, 10)
    assert np.mean(answer[i] == j) > 0.9


def test_both_maps_make_pairs_alike(clouds):
    x, y, _, answer = clouds
    noisy = y + 0.02 * np.random.default_rng(1).normal(size=y.shape)
    found = learn_maps(x, noisy, patience=3)
    left, right = x @ found.x_map, (noisy @ found.y_map)[answer]
    cosine = np.sum(left * right, axis=1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)
    assert cosine.mean() > 0.97
    assert np.allclose(np.linalg.svd(found.rotation)[1], 1)


def test_keeping_grows_until_all_are_kept(clouds):
    kept = learn_maps(*clouds[:2], patience=2).history["epsilon"]
    assert kept[0] == 0.1
    assert kept[-1] == 1
    assert all(later >= earlier for earlier, later in pairwise(kept))


def test_drawing_the_rth_best_is_dropping_at_random(clouds):
    """The share of rows that get their very best is the probability of keeping it."""
    x, y, turn, answer = clouds
    rng = np.random.default_rng(0)
    nothing = np.zeros(len(y))
    hits = np.mean([np.mean(_draw(x @ turn, y, nothing, 0.3, rng)[0] == answer) for _ in range(40)])
    assert hits == pytest.approx(0.3, abs=0.02)
    assert np.mean(_draw(x @ turn, y, nothing, 1.0, rng)[0] == answer) == 1


def test_a_dictionary_of_all_is_that_of_csls(clouds):
    x, y, turn, _ = clouds
    rough = x @ turn + 0.2 * np.random.default_rng(2).normal(size=x.shape)
    (i, j), value = _draw_both(rough, y, 10, 1.0, np.random.default_rng(0))
    there, back = neighbours(rough, y, k=1)[0][:, 0], neighbours(y, rough, k=1)[0][:, 0]
    assert np.array_equal(j[: len(x)], there)
    assert np.array_equal(i[len(x) :], back)
    unit = rough / np.linalg.norm(rough, axis=1, keepdims=True)
    assert value == pytest.approx((np.sum(unit * y[there], 1).mean() + np.sum(y * unit[back], 1).mean()) / 2)


def test_same_seed_same_run(clouds):
    one, other, third = (learn_maps(*clouds[:2], patience=2, rng=seed) for seed in (5, 5, 6))
    assert np.array_equal(one.x_map, other.x_map)
    assert one.history["objective"] == other.history["objective"]
    assert one.history["objective"] != third.history["objective"]
