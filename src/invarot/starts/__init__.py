"""Starts: candidate maps for the alternation to start from, by name in `STARTS`.

All are called alike: ``start(x, y, a, b, *, rng, …)`` with the points x (n, dx) and y (m, dy), their weights a (n,) and b (m,), and a
numpy Generator, and return maps (s, dx, dy), in an order that is the start's own.
"""

from __future__ import annotations

from collections.abc import Callable

from ..arrays import Array
from .axes import axes
from .clusters import clusters
from .fused import fused
from .gaussian import gaussian
from .identity import identity
from .leading import leading
from .random import random
from .relaxation import relaxation
from .seeds import seeds
from .signature import signature

STARTS: dict[str, Callable[..., Array]] = {
    "random": random,
    "gaussian": gaussian,
    "identity": identity,
    "seeds": seeds,
    "axes": axes,
    "signature": signature,
    "fused": fused,
    "leading": leading,
    "relaxation": relaxation,
    "clusters": clusters,
}

__all__ = [
    "STARTS", "axes", "clusters", "fused", "gaussian", "identity", "leading", "random", "relaxation", "seeds", "signature",
]  # fmt: skip
