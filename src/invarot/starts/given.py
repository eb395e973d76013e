"""Maps given by the caller."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import check_map


def given(x: Array, y: Array, a: Array, b: Array, *, rng: np.random.Generator, maps: Any) -> Array:
    """Return ``maps``, checked, in the library, device and dtype of ``x``; ``rng`` is not used.

    Parameters
    ----------
    x, y : arrays (n, dx), (m, dy)
    a, b : arrays (n,), (m,)
    rng : numpy Generator
    maps : array (dx, dy) or (s, dx, dy)
        Not projected: a map from a solve with finite p is returned unchanged.

    Returns
    -------
    maps : array (s, dx, dy)
    """
    return check_map(maps, "start", x.shape[1], y.shape[1], x)
