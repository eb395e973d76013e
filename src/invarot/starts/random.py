"""Uniformly (Haar) random (semi-)orthogonal maps."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, normal
from ..errors import InputError
from ..geometry.orthogonal import polar


def random(x: Array, y: Array, a: Array, b: Array, *, rng: np.random.Generator, n_starts: int = 1) -> Array:
    """Draw ``n_starts`` uniformly random maps: polar factors of Gaussian matrices.

    Parameters
    ----------
    x, y, a, b, rng
        As of every start (:mod:`invarot.starts`).
    n_starts : int

    Returns
    -------
    maps : array (n_starts, dx, dy)
    """
    if n_starts < 1:
        raise InputError(f"n_starts: expected a number ≥ 1, got {n_starts}; pass the number of random maps to draw")
    return polar(normal(rng, (n_starts, x.shape[1], y.shape[1]), x))
