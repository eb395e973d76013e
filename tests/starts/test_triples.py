"""Rigid maps from triples of candidate pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from invarot.starts import triples
from invarot.starts.triples import Poses, find_rigid_maps, find_similar_maps, fit_rigid_maps

TURN = Rotation.from_rotvec([0.4, -0.9, 0.3]).as_matrix()
OFFSET = np.asarray([1.0, -2.0, 0.5])
TRUTH = np.concatenate([TURN, OFFSET[None]])


def surface(n, seed):
    s, t = np.random.default_rng(seed).uniform(-1, 1, (2, n))
    return np.stack([s, 0.7 * t, 0.4 * np.sin(2.5 * s) + 0.3 * t**2 + 0.2 * s * t], axis=1)


def test_maps_are_those_of_their_pairs():
    x = np.random.default_rng(0).normal(size=(4, 3, 3))
    found = fit_rigid_maps(x, x @ TURN + OFFSET, np.ones((4, 3)), proper=True)
    np.testing.assert_allclose(found, np.broadcast_to(TRUTH, (4, 4, 3)), atol=1e-9)
    mirrored = fit_rigid_maps(x, x * [1, 1, -1], np.ones((4, 3)), proper=True)
    assert np.all(np.linalg.det(mirrored[:, :-1]) > 0)


def test_a_few_right_pairs_among_many_are_enough():
    rng = np.random.default_rng(1)
    x = surface(300, 2)
    y = x[:200] @ TURN + OFFSET
    i, j = rng.integers(300, size=2000), rng.integers(200, size=2000)
    i[:80] = j[:80]  # 4 per cent
    poses = Poses(x, y, 0.2, True, rng)
    found = poses.improve(poses.of_triples(i, j, width=0.03))
    np.testing.assert_allclose(found[np.argmin(poses.measure(found))], TRUTH, atol=0.02)
    assert np.sum(poses.compare(TRUTH, found) < 0.05) > 1


def test_no_triple_gives_no_map():
    x = surface(40, 3)
    pair = np.zeros(5, dtype=int)
    poses = Poses(x, x, 0.2, True, np.random.default_rng(0))
    found = poses.improve(poses.of_triples(pair, pair, width=0.1))
    assert found.shape == (0, 4, 3)


def test_triples_that_agree_end_the_search(monkeypatch):
    x = surface(400, 6)
    y = x[x[:, 0] > -0.2] @ TURN + OFFSET
    batches = []
    draw = Poses.of_triples
    monkeypatch.setattr(Poses, "of_triples", lambda *args, **options: batches.append(1) or draw(*args, **options))
    found = find_rigid_maps(x, y, proper=True, rng=np.random.default_rng(0))
    assert len(batches) == 1
    np.testing.assert_allclose(found[0], TRUTH, atol=0.02)
    monkeypatch.setattr(triples, "BATCHES", 2)
    monkeypatch.setattr(triples, "DRAWS", 20_000)
    monkeypatch.setattr(triples, "AGREEING", 10**6)
    find_rigid_maps(x, y, proper=True, rng=np.random.default_rng(0))
    assert len(batches) == 1 + 2 * 2


def test_samples_without_common_points():
    x, y = surface(500, 4), surface(500, 5)
    y = y[y[:, 0] > -0.4] @ TURN + OFFSET
    found = find_rigid_maps(x, y, proper=True, rng=np.random.default_rng(0))
    turns = [np.degrees(Rotation.from_matrix(TURN.T @ w[:-1]).magnitude()) for w in found]
    assert min(turns) < 5


def test_few_points_of_unlike_number(monkeypatch):
    """Fewer points than a neighbourhood has: descriptors of both sides still have as many numbers."""
    monkeypatch.setattr(triples, "DRAWS", 1000)
    x = surface(14, 0)
    for count in (9, 12):
        assert find_rigid_maps(x, x[:count], proper=True, rng=np.random.default_rng(0)).shape[1:] == (4, 3)


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_samples_of_unlike_size_and_density(share):
    x, y = surface(500, 4), surface(500, 5)
    y = 2.5 * (y[y[:, 0] > -0.4][: int(500 * share)] @ TURN) + OFFSET
    found = find_similar_maps(x, y, proper=True, rng=np.random.default_rng(0))
    sizes = np.cbrt(np.linalg.det(found[:, :-1]))
    turns = [
        np.degrees(Rotation.from_matrix(TURN.T @ w[:-1] / size).magnitude())
        for w, size in zip(found, sizes, strict=True)
    ]
    best = int(np.argmin(turns))
    assert turns[best] < 5
    assert sizes[best] == pytest.approx(2.5, rel=0.1)


def test_sizes_change_no_more_than_they_may():
    x = np.random.default_rng(0).normal(size=(2, 9, 3))
    found = fit_rigid_maps(x, 1.2 * x @ TURN, np.ones((2, 9)), proper=True, resize=1.3)
    np.testing.assert_allclose(found[:, :-1], np.broadcast_to(1.2 * TURN, (2, 3, 3)), atol=1e-9)
    found = fit_rigid_maps(x, 5 * x @ TURN, np.ones((2, 9)), proper=True, resize=1.3)
    np.testing.assert_allclose(found[:, :-1], np.broadcast_to(1.3 * TURN, (2, 3, 3)), atol=1e-9)
