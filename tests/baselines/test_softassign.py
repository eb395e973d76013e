from __future__ import annotations

import numpy as np
import pytest

from invarot.baselines.softassign import soft_matches, softassign


@pytest.fixture(scope="module")
def shape():
    rng = np.random.default_rng(1)
    x = rng.gamma(1.5, size=(40, 2))
    angle = 0.4
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return x, turn, rng.permutation(40)


def test_rotation_and_translation(shape):
    x, turn, order = shape
    found = softassign(x, (x @ turn + [3.0, -2.0])[order])
    assert found.verdict.word == "aligned"  # judged with its translation
    assert np.allclose(found.map, turn, atol=1e-3)
    assert np.allclose(found.offset, [3.0, -2.0], atol=1e-2)
    assert np.mean(found.matches() == np.argsort(order)) == 1
    assert np.linalg.det(found.map) == pytest.approx(1)


def test_outliers_are_left_out(shape):
    x, turn, _ = shape
    y = np.concatenate([x @ turn, [[9.0, 9.0], [10.0, 8.0], [8.5, 9.5]]])
    with_slack = softassign(x, y, outlier=0.05)
    without = softassign(x, y)
    assert np.linalg.norm(with_slack.map - turn) < 1e-2
    assert np.linalg.norm(with_slack.offset) < 0.1
    assert np.linalg.norm(without.offset) > 3 * np.linalg.norm(with_slack.offset)


def test_matches_are_doubly_stochastic():
    cost = np.random.default_rng(0).random((6, 6))
    match = soft_matches(cost, 0.2, None, 200)
    assert np.allclose(match.sum(0), 1)
    assert np.allclose(match.sum(1), 1)
    slack = soft_matches(cost, 0.2, 0.1, 200)
    assert (slack.sum(0) < 1).all()
    assert slack.sum() < match.sum()
