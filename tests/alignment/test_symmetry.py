"""Symmetries that no start happened to find."""

import itertools

import numpy as np
import pytest

import invarot
from invarot.alignment.alternate import alternate
from invarot.alignment.outcome import Tried, conclude, finish, unnoticed
from invarot.alignment.problem import pose
from invarot.alignment.settings import Settings
from invarot.alignment.symmetry import images
from invarot.errors import MemoryBound
from invarot.transport.schedule import Schedule


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


def test_a_rotation_has_rotations_beside_it():
    """No mirror image, but half a turn: about any axis in space, about the middle of the plane."""
    rng = np.random.default_rng(1)
    x, w = grid(7), turn(2, rng)
    y = (x @ w)[rng.permutation(49)]
    assert invarot.align(x, y, rng=1, proper=True).verdict.symmetric
    np.testing.assert_array_equal(images(posed(x, y), w, proper=True), [-w])
    half, w = rng.gamma(2.0, size=(60, 3)) * [3, 2, 1], turn(3, rng)
    x = np.concatenate([half, half * [-1, -1, 1]])
    found = images(posed(x, x @ w), w, proper=True)
    np.testing.assert_allclose(found, [np.diag([-1.0, -1, 1]) @ w], atol=1e-6)
    assert images(posed(x, x @ w), w).shape[0] == 0


def posed(x, y):
    return pose(x, y, *(np.full(len(points), 1 / len(points)) for points in (x, y)), Settings())


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


def test_mirrors_that_a_flat_cloud_does_not_see_are_not_solved():
    """Directions without any spread change no point: such images are the answer itself."""
    rng = np.random.default_rng(2)
    x = np.pad(rng.gamma(2.0, size=(60, 3)), ((0, 0), (0, 9))) @ turn(12, rng)
    w = turn(12, rng)
    found = invarot.align(x, (x @ w)[rng.permutation(60)])
    assert found.verdict.word == "aligned"
    assert images(posed(x, x @ w), w).shape[0] == 0
    assert "symmetry" not in {one.name for one in found.starts}


def test_all_images_are_solved_within_memory():
    rng = np.random.default_rng(3)
    signs = np.array(list(itertools.product([1, -1], repeat=3)))
    x = (signs[:, None] * (rng.gamma(2.0, size=(10, 3)) * [3, 2, 1])).reshape(-1, 3)
    settings = Settings(memory=500_000, schedule=Schedule.fixed(0.01))
    problem = pose(x, x, *[np.full(80, 1 / 80)] * 2, settings)
    with pytest.raises(MemoryBound):
        alternate(problem, np.stack([np.eye(3)] * 4), settings)
    tried = Tried(problem, settings, None, [finish(alternate(problem, np.eye(3)[None], settings), 0, "one", settings)])
    alone = conclude(tried)
    assert alone.verdict.word == "aligned"
    found = unnoticed(tried, alone)
    assert [one.name for one in found.starts] == ["one", *["symmetry"] * 4]
    assert found.verdict.evidence.rivals == 4
