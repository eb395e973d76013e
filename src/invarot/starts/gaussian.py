"""Gaussian random matrices: the start of the paper's Algorithm 1."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array, normal
from ..checks import check_count
from ..geometry.schatten import SchattenBall


def gaussian(x: Array, y: Array, a: Array, b: Array, *, rng: np.random.Generator, n_starts: int = 1) -> Array:
    """Draw ``n_starts`` Gaussian matrices (n_starts, dx, dy), each over its largest singular value.

    The family of maps scales them to the edge of its ball, which gives s = k·σ/‖σ‖_p as in Algorithm 1. Unlike the maps of
    :func:`random` they are not orthogonal, not even for p = ∞.
    """
    check_count(n_starts, "n_starts")
    return SchattenBall(math.inf).fit(normal(rng, (n_starts, x.shape[1], y.shape[1]), x))
