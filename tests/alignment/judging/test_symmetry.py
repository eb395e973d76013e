"""Symmetries that no start happened to find."""

import itertools

import numpy as np
import pytest

import invarot
from invarot import Rotations, Schatten
from invarot.alignment.judging.symmetry import count_symmetries, mirror_images
from invarot.alignment.problem import add_seeds
from invarot.alignment.tuning import STAGE_POINTS

from ..clouds import posed, random_turn


def grid(side):
    points = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
    return points - (side - 1) / 2


def half_a_cloud(rng, n=60):
    return rng.gamma(2.0, size=(n, 3)) * [3, 2, 1]


@pytest.mark.parametrize("seed", range(4))
def test_a_grid_is_called_symmetric_whatever_the_starts_find(seed):
    rng = np.random.default_rng(seed)
    x = grid(7)
    found = invarot.align(x, (x @ random_turn(2, rng))[rng.permutation(49)], rng=seed)
    assert found.verdict.symmetric
    assert found.verdict.word == "doubtful"


def test_images_are_the_symmetries_of_the_cloud(lib):
    rng = np.random.default_rng(0)
    half, w = half_a_cloud(rng), random_turn(3, rng)
    for x, symmetry in (
        (np.concatenate([half, -half]), -np.eye(3)),
        (np.concatenate([half, half * [1, 1, -1]]), np.diag([1.0, 1, -1])),
    ):
        problem = posed(lib.array(x), lib.array(x @ w))
        (found,) = mirror_images(problem, lib.array(w))
        np.testing.assert_allclose(lib.numpy(found), symmetry @ w, atol=1e-6)
        assert count_symmetries(problem, lib.array(w), [lib.array(w)]) == 1


def test_a_rotation_has_rotations_beside_it():
    """No mirror image, but half a turn: about any axis in space, about the middle of the plane."""
    rng = np.random.default_rng(1)
    x, w = grid(7), random_turn(2, rng)
    w[:, 0] *= np.sign(np.linalg.det(w))
    y = (x @ w)[rng.permutation(49)]
    np.testing.assert_array_equal(mirror_images(posed(x, y), w, proper=True), [-w])
    assert count_symmetries(posed(x, y, maps=Rotations()), w, [w]) == 1
    assert invarot.align(x, y, rng=1, p=Rotations()).verdict.symmetric
    half, w = half_a_cloud(rng), random_turn(3, rng)
    x = np.concatenate([half, half * [-1, -1, 1]])
    found = mirror_images(posed(x, x @ w), w, proper=True)
    np.testing.assert_allclose(found, [np.diag([-1.0, -1, 1]) @ w], atol=1e-6)
    assert mirror_images(posed(x, x @ w), w) == []


def test_known_rivals_are_not_counted_again():
    rng = np.random.default_rng(3)
    signs = np.array(list(itertools.product([1, -1], repeat=3)))
    x = (signs[:, None] * (rng.gamma(2.0, size=(10, 3)) * [3, 2, 1])).reshape(-1, 3)
    problem = posed(x, x)
    assert count_symmetries(problem, np.eye(3), [np.eye(3)]) == 4  # the opposite, and a mirror in each axis
    assert count_symmetries(problem, np.eye(3), [np.eye(3), -np.eye(3)]) == 3


def test_images_that_put_the_points_alike_are_one():
    """On a line the opposite map and the mirror image agree, and the mirrors across it change nothing."""
    rng = np.random.default_rng(4)
    half = rng.gamma(2.0, size=(30, 1))
    line = np.concatenate([half, -half])
    assert count_symmetries(posed(line, line), np.eye(1), [np.eye(1)]) == 1
    flat = np.pad(line, ((0, 0), (0, 2))) @ random_turn(3, rng)
    assert count_symmetries(posed(flat, flat), np.eye(3), [np.eye(3)]) == 1


def test_clouds_without_any_have_none():
    rng = np.random.default_rng(1)
    x, w = rng.gamma(2.0, size=(200, 3)), random_turn(3, rng)
    assert mirror_images(posed(x, x @ w), w) == []
    half = half_a_cloud(rng, 100)
    x = np.concatenate([half, -half])
    noisy = x @ w + 0.5 * rng.standard_normal(x.shape)  # points that do not meet their targets show no symmetry
    assert mirror_images(posed(x, noisy), w) == []
    assert len(mirror_images(posed(x, x @ w), w)) == 1


def test_not_looked_for_where_it_could_not_be_one(monkeypatch):
    rng = np.random.default_rng(0)
    half, w = half_a_cloud(rng), random_turn(3, rng)
    x = np.concatenate([half, -half])
    assert count_symmetries(posed(x, x @ w), w, [w]) == 1
    assert count_symmetries(posed(x, x @ w, maps=Schatten(2)), w, [w]) == 0
    seeded = add_seeds(posed(x, x @ w), np.array([(0, 0)]), 1.0)
    assert count_symmetries(seeded, w, [w]) == 0  # pairs choose between them
    many = np.concatenate([x] * (2 * STAGE_POINTS // len(x) + 1))
    assert count_symmetries(posed(many, many @ w), w, [w]) == 0


def test_directions_without_points_are_no_symmetry():
    rng = np.random.default_rng(2)
    x = np.pad(rng.gamma(2.0, size=(60, 3)), ((0, 0), (0, 9))) @ random_turn(12, rng)
    w = random_turn(12, rng)
    found = invarot.align(x, (x @ w)[rng.permutation(60)])
    assert found.verdict.word == "aligned"
    assert mirror_images(posed(x, x @ w), w) == []
