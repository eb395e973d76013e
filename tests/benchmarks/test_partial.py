"""The pairs of benchmarks/partial_pairs.py have the answer they come with."""

from __future__ import annotations

import numpy as np
import pytest
from partial import rotation_error
from partial_pairs import CASES, cluster_pair, draw_rotation, match_rows, shape_pair


@pytest.fixture(scope="module")
def vertices():
    return np.random.default_rng(0).standard_normal((500, 3)) * [3, 2, 1]


@pytest.mark.parametrize("case", CASES)
def test_shapes(vertices, case):
    word, value = case.split("-")
    x, y, truth = shape_pair(vertices, case, 3, points=200)
    moved = x @ truth.map + truth.offset
    assert np.linalg.det(truth.map) == pytest.approx(1)
    if word == "resampled":
        assert truth.matches is None
        assert np.linalg.norm(moved[:, None] - y, axis=2).min() > 1e-6
    else:
        common = truth.matches >= 0
        np.testing.assert_array_equal(common, truth.common_x)
        assert sorted(truth.matches[common]) == np.flatnonzero(truth.common_y).tolist()
        off = np.linalg.norm(moved[common] - y[truth.matches[common]], axis=1)
        noise = float(value) / 100 * truth.extent if word == "noise" else 0.0
        assert np.sqrt(np.mean(off**2) / 3) == pytest.approx(noise, rel=0.15, abs=1e-9)
    share = float(value) / 100
    expected = {
        "cut": (share, 1),
        "resampled": (share, 1),
        "both": (share, share),
        "outliers": (1 - share, 1 - share),
        "noise": (0.7, 1),
    }
    assert truth.overlap == pytest.approx(expected[word], abs=0.08 if word == "resampled" else 0.01)


@pytest.mark.parametrize("sides", ["one", "both"])
def test_clusters(sides):
    x, y, truth = cluster_pair(10, 3, sides, 0, points=160)
    common = truth.matches >= 0
    np.testing.assert_allclose((x @ truth.map + truth.offset)[common], y[truth.matches[common]], atol=1e-12)
    np.testing.assert_array_equal(common, truth.labels_x >= 3)
    assert np.all(truth.common_y == (truth.labels_y < 8))
    assert truth.common_y.all() == (sides == "one")


def test_measures():
    rng = np.random.default_rng(0)
    turn = draw_rotation(3, rng)
    angle = np.radians(5)
    small = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    assert rotation_error(2 * turn @ small, turn) == pytest.approx(5)
    assert rotation_error(turn @ np.diag([-1, -1, 1]), turn) == pytest.approx(180)
    assert rotation_error(turn @ np.diag([1, 1, -1]), turn) == 180
    assert match_rows(np.array([5, 9, 2]), np.array([2, 7, 5])).tolist() == [2, -1, 0]
