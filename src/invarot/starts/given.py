"""Maps the caller already has."""

from __future__ import annotations

from typing import Any

import numpy as np

from invarot.arrays import Array, as_like, is_array, namespace
from invarot.errors import InputError


def given(x: Array, y: Array, a: Array, b: Array, *, rng: np.random.Generator, maps: Any) -> Array:
    """``maps`` itself, checked and in the library, device and dtype of ``x``; ``rng`` is not used.

    Parameters
    ----------
    x, y : arrays (n, dx), (m, dy)
    a, b : arrays (n,), (m,)
    rng : numpy Generator
    maps : array (dx, dy) or (s, dx, dy)
        Not projected: a map from a solve with finite p is passed on as it is.

    Returns
    -------
    maps : array (s, dx, dy)
    """
    found = as_like(maps if is_array(maps) else np.asarray(maps, dtype=np.float64), x)
    if found.ndim == 2:
        found = found[None]
    expected = (x.shape[1], y.shape[1])
    if found.ndim != 3 or tuple(found.shape[1:]) != expected or found.shape[0] < 1:
        raise InputError(
            f"start map must have shape {expected} or (s, {expected[0]}, {expected[1]}), got {tuple(found.shape)}: "
            "rows of the map are source dimensions, columns target dimensions"
        )
    if not bool(namespace(found).all(namespace(found).isfinite(found))):
        raise InputError("start map must be finite, got NaN or infinite entries: remove them or choose another start")
    return found
