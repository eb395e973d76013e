"""Symmetries that no start happened to find."""

import numpy as np
import pytest

import invarot
from invarot.alignment.options import check_settings
from invarot.alignment.problem import pose
from invarot.alignment.symmetry import images


def turn(d, rng):
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def grid(side):
    points = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
    return points - (side - 1) / 2


@pytest.mark.parametrize("seed", range(4))
def test_a_grid_is_called_symmetric_whatever_the_starts_find(seed):
    rng = np.random.default_rng(seed)
    x = grid(7)
    found = invarot.align(x, (x @ turn(2, rng))[rng.permutation(49)], rng=seed)
    assert found.verdict.symmetric
    assert found.verdict.word != "aligned"


def posed(x, y):
    settings = check_settings(
        x.shape[1], y.shape[1], p=np.inf, radius=None, proper=False, objective="simplified", plan="sinkhorn",
        translate=False, scale=False, whiten=False, schedule=None, tol=1e-5, max_iter=500, plan_tol=1e-3,
        plan_max_iter=50, memory=None, n_jobs=1, stages=None, coarse="points", polish=False,
    )  # fmt: skip
    even = [np.full(len(points), 1 / len(points)) for points in (x, y)]
    return pose(x, y, *even, settings)


def test_images_are_the_symmetries_of_the_cloud():
    rng = np.random.default_rng(0)
    half = rng.gamma(2.0, size=(60, 3)) * [3, 2, 1]
    w = turn(3, rng)
    for x, symmetry in (
        (np.concatenate([half, -half]), -np.eye(3)),
        (np.concatenate([half, half * [1, 1, -1]]), np.diag([1.0, 1, -1])),
    ):
        found = images(posed(x, x @ w), w)
        assert found.shape == (1, 3, 3)
        np.testing.assert_allclose(found[0], symmetry @ w, atol=1e-6)


def test_clouds_without_any_have_none():
    rng = np.random.default_rng(1)
    x, w = rng.gamma(2.0, size=(200, 3)), turn(3, rng)
    assert images(posed(x, x @ w), w).shape[0] == 0
    noisy = x @ w + 0.5 * rng.standard_normal(x.shape)  # points that do not meet their targets show no symmetry
    assert images(posed(x, noisy), w).shape[0] == 0
