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
    found = describe_neighbourhoods(lib.array(points))
    np.testing.assert_allclose(lib.numpy(found.drift), standard(offset), atol=1e-5)
    np.testing.assert_allclose(lib.numpy(found.shape), standard(spread.reshape(70, 9)), atol=1e-5)
    ranks = [rankdata(np.sort(far, axis=1)[:, k]) for k in (1, 2, 4, 8, 16, 32, 64, 69, 69)]
    ranks = np.stack([(one - one.mean()) / np.linalg.norm(one - one.mean()) for one in ranks], axis=1)
    centre = rankdata(np.linalg.norm(points - points.mean(0), axis=1))
    centre = (centre - centre.mean()) / np.linalg.norm(centre - centre.mean())
    inside = ranks - centre[:, None] * (centre @ ranks)
    np.testing.assert_allclose(lib.numpy(found.crowding), inside / np.linalg.norm(inside), atol=1e-5)


def test_they_turn_with_the_cloud():
    rng = np.random.default_rng(1)
    points, turn = rng.gamma(2.0, size=(60, 4)), random_turn(4, rng)
    here, there = describe_neighbourhoods(points), describe_neighbourhoods(points @ turn)
    np.testing.assert_allclose(here.drift @ turn, there.drift, atol=1e-9)
    np.testing.assert_allclose(here.crowding, there.crowding, atol=1e-9)
    moved = turn.T @ here.shape.reshape(60, 4, 4) @ turn
    np.testing.assert_allclose(moved.reshape(60, 16), there.shape, atol=1e-9)


@pytest.mark.parametrize("points", [np.ones((6, 2)), np.zeros((5, 3)), np.array([[0.0], [1.0]])])
def test_points_with_nothing_around_them_are_described_by_zeros(points):
    found = describe_neighbourhoods(points)
    assert found.table.shape == (len(points), points.shape[1] * (1 + points.shape[1]) + 9)
    assert np.isfinite(found.table).all()
    assert np.all(found.crowding == 0)
