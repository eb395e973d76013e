from __future__ import annotations

import numpy as np
import pytest

from invarot import InputError
from invarot.baselines.gromov_wasserstein import gromov_wasserstein, solve


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(2)
    x = rng.gamma(1.5, size=(50, 4)) * [1.5, 1.0, 0.8, 0.5]
    x -= x.mean(axis=0)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    order = rng.permutation(50)
    return x, (x @ turn)[order], turn, np.argsort(order)


def test_finds_a_rotation(clouds):
    x, y, turn, answer = clouds
    found = gromov_wasserstein(x, y)
    assert np.mean(found.matches() == answer) > 0.85
    assert np.allclose(found.map, turn, atol=0.05)
    assert found.verdict.word == "aligned"


def test_is_pots_entropic_gromov_wasserstein(clouds):
    """The same problem, the same epsilon, the same first plan: the same plan at the end."""
    ot = pytest.importorskip("ot")
    rng = np.random.default_rng(3)
    x = rng.gamma(1.5, size=(20, 3)) * [1.5, 1.0, 0.6]
    x -= x.mean(axis=0)
    y = x + 0.1 * rng.normal(size=x.shape)
    uniform = np.full(len(x), 1 / len(x))
    first = 0.5 * np.outer(uniform, uniform) + 0.5 * np.diag(uniform)
    epsilon = 20.0
    ours, _, settled = solve(
        x,
        y,
        uniform,
        uniform,
        x.T @ first @ y,
        epsilon=epsilon,
        max_iter=200,
        tol=1e-7,
        plan_tol=1e-8,
        plan_max_iter=1000,
    )
    theirs = ot.gromov.entropic_gromov_wasserstein(
        x @ x.T,
        y @ y.T,
        uniform,
        uniform,
        "square_loss",
        epsilon=epsilon,
        G0=first,
        max_iter=200,
        tol=1e-9,
        solver="PGD",
    )
    assert settled
    assert np.abs(ours.dense() - theirs).max() < 1e-6
    assert np.abs(theirs - np.outer(uniform, uniform)).max() > 1e-3  # not the trivial answer


def test_product_plan_is_stationary_when_centred(clouds):
    x, y, _, _ = clouds
    with pytest.raises(InputError, match="stationary"):
        gromov_wasserstein(x, y, start="product")
    moved = gromov_wasserstein(np.abs(x), np.abs(x)[::-1], start="product", epsilon=0.002)
    assert np.mean(moved.matches() == np.arange(50)[::-1]) > 0.5


def test_unknown_start(clouds):
    with pytest.raises(InputError, match="start"):
        gromov_wasserstein(*clouds[:2], start="nothing")


def test_matches_of_a_part_map_the_whole(clouds):
    x, y, _, answer = clouds
    ordered = y[answer]  # rows that correspond, so that the first rows of both are the same points
    found = gromov_wasserstein(x, ordered, size=30)
    assert found.plan.z.shape[0] == 50
    assert np.mean(found.matches() == np.arange(50)) > 0.9
