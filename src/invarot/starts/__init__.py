"""Starts: candidate maps from which the alternation sets out; one form for all, by name in `STARTS`."""

from __future__ import annotations

from collections.abc import Callable

from invarot.arrays import Array
from invarot.starts.axes import axes
from invarot.starts.clusters import clusters
from invarot.starts.fused import fused
from invarot.starts.given import given
from invarot.starts.identity import identity
from invarot.starts.random import random
from invarot.starts.relaxation import relaxation
from invarot.starts.seeds import seeds
from invarot.starts.signature import signature

STARTS: dict[str, Callable[..., Array]] = {
    "random": random,
    "identity": identity,
    "given": given,
    "seeds": seeds,
    "axes": axes,
    "signature": signature,
    "fused": fused,
    "relaxation": relaxation,
    "clusters": clusters,
}

__all__ = ["STARTS", "axes", "clusters", "fused", "given", "identity", "random", "relaxation", "seeds", "signature"]
