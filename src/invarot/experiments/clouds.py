"""Synthetic clouds with known answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import to_numpy
from ..geometry.schatten import SchattenBall
from ..words import Gold, Preprocessing, load_core_pair

Floats = np.ndarray[Any, Any]
RING = 9  # points around the tube of a shell


def make_cloud(count: int, d: int, rng: np.random.Generator, *, whiten: bool = False) -> Floats:
    """Draw a clustered cloud without symmetry (n, d), centred, of mean variance one per dimension; white if asked."""
    centres = 2.0 * rng.normal(size=(4, d))
    x: Floats = centres[rng.integers(4, size=count)] + rng.gamma(1.5, size=(count, d))
    x -= x.mean(axis=0)
    x /= np.sqrt(np.mean(x**2))
    if not whiten:
        return x
    power, vectors = np.linalg.eigh(x.T @ x / count)
    white: Floats = x @ (vectors / np.sqrt(power)) @ vectors.T
    return white


def make_shell(rings: int, rng: np.random.Generator) -> Floats:
    """Draw a sea shell (rings · RING, 3), a tube along a spiral that grows: a shape whose rotation one can see.

    Centred, of mean variance one per dimension; ring after ring, from the tip to the mouth.
    """
    growth, turns, tube = 0.13, 2.6, 0.45
    along = np.repeat(np.linspace(-2 * np.pi * turns, 0, rings), RING)
    around = np.tile(np.arange(RING) * 2 * np.pi / RING, rings) + rng.normal(scale=0.05, size=rings * RING)
    size = np.exp(growth * along)
    out = size * (1 + tube * np.cos(around))
    x: Floats = np.stack([out * np.cos(along), out * np.sin(along), size * (tube * np.sin(around) - 1.6)], axis=1)
    x -= x.mean(axis=0)
    return np.asarray(x / np.sqrt(np.mean(x**2)))


def random_orthogonal(d: int, rng: np.random.Generator) -> Floats:
    """Draw a uniformly random orthogonal matrix."""
    return random_map(d, math.inf, rng)


def random_map(d: int, p: float, rng: np.random.Generator) -> Floats:
    """Draw a map of F_p: Haar orthogonal for p = ∞, else a Gaussian matrix scaled to the boundary of the ball."""
    draw = rng.normal(size=(d, d))
    if math.isinf(p):
        u, _, vt = np.linalg.svd(draw)
        return np.asarray(u @ vt)
    return np.asarray(SchattenBall(p).fit(draw))


def core_words(count: int) -> tuple[Floats, Floats, Gold]:
    """Return the first words of the built-in pair, preprocessed, and its gold list."""
    source, target, pairs = load_core_pair()
    source, target = source.first(count), target.first(count)
    x, y = (to_numpy(Preprocessing().fit_apply(side.vectors)[1]) for side in (source, target))
    return x, y, Gold.from_pairs(pairs, source.words, target.words)
