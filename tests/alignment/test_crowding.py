"""Crowding: distances to neighbours, and whether a map sends crowded places to crowded places."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.alignment import crowding
from invarot.alignment.crowding import compare_crowding, describe_crowding

from .clouds import posed, random_turn


@pytest.mark.parametrize("most", [2000, 40])
def test_distances_to_neighbours_are_those_of_a_sorted_table(lib, monkeypatch, most):
    monkeypatch.setattr(crowding, "QUERIES", most)
    x = np.random.default_rng(0).standard_normal((90, 3))
    rows = np.array([0, 3, 30, 89])
    step = -(-90 // most)
    far = np.linalg.norm(x[:, None] - x[::step], axis=2)
    far[np.arange(0, 90, step), np.arange(len(x[::step]))] = np.inf
    expected = np.sort(far[rows], axis=1) ** 2
    found = describe_crowding(lib.array(x), lib.array(np.full(90, 1 / 90)), lib.array(rows))
    np.testing.assert_allclose(found[:, 0], expected[:, 4], rtol=1e-4)
    np.testing.assert_allclose(found[:, 1], expected[:, 19], rtol=1e-4)
    np.testing.assert_allclose(found[:, 2], np.sum((x[rows] - x.mean(0)) ** 2, axis=1), rtol=1e-4)


def test_a_right_matching_agrees_and_a_shuffled_one_does_not(lib):
    rng = np.random.default_rng(1)
    centres, spread = rng.standard_normal((8, 4)), rng.uniform(0.05, 0.6, 8)
    group = rng.integers(8, size=240)
    x = centres[group] + spread[group, None] * rng.standard_normal((240, 4))
    y = x @ random_turn(4, rng) + 0.05 * rng.standard_normal((240, 4))
    problem = posed(lib.array(x), lib.array(y))
    there = np.stack([np.arange(240), rng.permutation(240)])
    (right, wrong), (inside, outside) = compare_crowding(problem, lib.array(np.arange(240)), there)
    assert right > 0.9
    assert inside > 0.7
    assert abs(wrong) < 0.25
    assert abs(outside) < 0.25


def test_equal_values_agree_with_nothing():
    x = np.ones((6, 2))
    there = np.arange(6)[None]
    assert compare_crowding(posed(x, x), np.arange(6), there).tolist() == [[0.0], [0.0]]
