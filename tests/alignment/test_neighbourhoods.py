"""Neighbourhoods: where neighbours lie, how they spread and how near they are, against a plain computation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from invarot.alignment.neighbourhoods import describe_neighbourhoods

from .clouds import random_turn


def standard(values):
    inside = values - values.mean(0)
    return inside / np.linalg.norm(inside)


def test_what_surrounds_points_is_that_of_a_sorted_table(lib):
    points = np.random.default_rng(0).gamma(2.0, size=(70, 3))
    far = np.linalg.norm(points[:, None] - points, axis=2)
    order = np.argsort(far, axis=1)[:, 1:]
    near = points[order[:, :20]]
    offset = near.mean(1) - points
    base = np.column_stack([np.ones(70), points])
    offset -= base @ np.linalg.lstsq(base, offset, rcond=None)[0]
    spread = np.stack([np.cov(one.T, bias=True) / np.trace(np.cov(one.T, bias=True)) for one in near])
    drift, shape, crowding = describe_neighbourhoods(lib.array(points), lib.array(np.arange(70))).standardise()
    np.testing.assert_allclose(lib.numpy(drift), standard(offset), atol=1e-5)
    np.testing.assert_allclose(lib.numpy(shape), standard(spread.reshape(70, 9)), atol=1e-5)
    ranks = [rankdata(np.sort(far, axis=1)[:, k]) for k in (1, 2, 4, 8, 16, 32, 64, 69, 69)]
    ranks = np.stack([(one - one.mean()) / np.linalg.norm(one - one.mean()) for one in ranks], axis=1)
    centre = rankdata(np.linalg.norm(points - points.mean(0), axis=1))
    centre = (centre - centre.mean()) / np.linalg.norm(centre - centre.mean())
    inside = ranks - centre[:, None] * (centre @ ranks)
    np.testing.assert_allclose(lib.numpy(crowding), inside / np.linalg.norm(inside), atol=1e-5)


def test_they_turn_with_the_cloud():
    rng = np.random.default_rng(1)
    points, turn = rng.gamma(2.0, size=(60, 4)), random_turn(4, rng)
    here, there = (describe_neighbourhoods(one, np.arange(60)).standardise() for one in (points, points @ turn))
    np.testing.assert_allclose(here[0] @ turn, there[0], atol=1e-9)
    np.testing.assert_allclose(here[2], there[2], atol=1e-9)
    moved = turn.T @ here[1].reshape(60, 4, 4) @ turn
    np.testing.assert_allclose(moved.reshape(60, 16), there[1], atol=1e-9)


def test_some_points_have_the_surroundings_of_the_whole_cloud(monkeypatch):
    """Neighbours are sought among all points, in blocks: a sample of the cloud has others."""
    points = np.random.default_rng(2).gamma(2.0, size=(300, 3))
    whole, some = describe_neighbourhoods(points, np.arange(300)), np.arange(0, 300, 7)
    monkeypatch.setattr("invarot.alignment.neighbourhoods.NEAREST_BLOCK", 10 * 300)
    found = describe_neighbourhoods(points, some)
    for name in ("places", "drift", "shape", "distances"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole.take(some), name), atol=1e-9)
    sampled = describe_neighbourhoods(points[some], np.arange(len(some)))
    assert np.abs(sampled.drift - found.drift).max() > 0.1


@pytest.mark.parametrize("points", [np.ones((6, 2)), np.zeros((5, 3)), np.array([[0.0], [1.0]])])
def test_points_with_nothing_around_them_are_described_by_zeros(points):
    n, d = points.shape
    found = describe_neighbourhoods(points, np.arange(n)).standardise()
    assert [one.shape for one in found] == [(n, d), (n, d * d), (n, 9)]
    assert all(np.isfinite(one).all() for one in found)
    assert np.all(found[2] == 0)
