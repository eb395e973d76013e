"""random, identity."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.geometry.schatten import SchattenBall
from invarot.starts import gaussian, identity, random

X, Y = np.ones((5, 3)), np.ones((4, 2))
A, B = np.full(5, 0.2), np.full(4, 0.25)


def test_random_counts_and_differs():
    maps = random(X, Y, A, B, rng=np.random.default_rng(0), n_starts=7)
    assert maps.shape == (7, 3, 2)
    assert not np.allclose(maps[0], maps[1])


def test_random_is_uniform():
    x = np.ones((2, 3))
    maps = random(x, x, np.full(2, 0.5), np.full(2, 0.5), rng=np.random.default_rng(0), n_starts=4000)
    # Haar: entries of mean zero and variance 1/d, both orientations alike
    np.testing.assert_allclose(maps.mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose((maps**2).mean(axis=0), 1 / 3, atol=0.03)
    assert abs(np.linalg.det(maps).mean()) < 0.06


def test_random_needs_at_least_one():
    with pytest.raises(InputError, match="n_starts"):
        random(X, Y, A, B, rng=np.random.default_rng(0), n_starts=0)


def test_identity_is_the_rectangular_eye():
    np.testing.assert_array_equal(identity(X, Y, A, B, rng=np.random.default_rng(0))[0], np.eye(3, 2))


def test_gaussian_is_scaled_into_the_ball_and_not_orthogonal():
    maps = gaussian(X, Y, A, B, rng=np.random.default_rng(0), n_starts=7)
    assert maps.shape == (7, 3, 2)
    spectra = np.linalg.svd(SchattenBall(np.inf).fit(maps))[1]
    np.testing.assert_allclose(spectra[:, 0], 1)
    assert spectra[:, 1].max() < 0.99
    with pytest.raises(InputError, match="n_starts"):
        gaussian(X, Y, A, B, rng=np.random.default_rng(0), n_starts=0)
