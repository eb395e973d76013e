"""Gaussian random matrices: the start of the paper's Algorithm 1."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, normal
from ..checks import check_count


def gaussian(x: Array, y: Array, a: Array, b: Array, *, rng: np.random.Generator, n_starts: int = 1) -> Array:
    """Draw ``n_starts`` Gaussian matrices (n_starts, dx, dy), which the family of maps scales to its boundary.

    In a Schatten ball that is s = k·σ/‖σ‖_p of Algorithm 1. For p = ∞ only the largest singular value is 1: unlike
    :func:`random`, the map is not orthogonal.
    """
    check_count(n_starts, "n_starts")
    return normal(rng, (n_starts, x.shape[1], y.shape[1]), x)
