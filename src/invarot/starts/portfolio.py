"""Waves of different starts for ``start="auto"``, the cheapest and most promising first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace
from ..rows import ALL, Rows
from . import axes, clusters, fused, leading, random, relaxation, seeds, signature


@dataclass(frozen=True)
class Wave:
    """A batch of candidate maps (s, dx, dy) to race together, and the name of the start each came from."""

    maps: Array
    names: list[str]


def waves(
    x: Array,
    y: Array,
    a: Array,
    b: Array,
    *,
    rng: np.random.Generator,
    ordered: bool = False,
    pairs: Any = None,
    side: tuple[Any, Any] | None = None,
    side_weight: float = 0.3,
    where: Rows = ALL,
) -> Iterator[Wave]:
    """Yield waves of candidates; the caller stops when one is good enough.

    Known ``pairs`` come first. ``side`` is side information for the signatures. ``where`` says which processes share the profiles.
    """
    side_options: dict[str, Any] = {
        "side": side, "side_weight": side_weight, "ordered": ordered, "rng": rng, "where": where,
    }  # fmt: skip
    shared: dict[str, Any] = {"rng": rng}
    if pairs is not None:
        yield _wave("seeds", seeds(x, y, a, b, pairs=pairs, ordered=ordered, **shared))
    d = min(x.shape[1], y.shape[1])
    first = signature(x, y, a, b, standardise=False, powers=(0.5,), **side_options)
    yield _join(_wave("signature", first), _wave("axes", axes(x, y, a, b, all_signs=3, doubtful=0, **shared)))
    yield _wave("leading", leading(x, y, a, b, ordered=ordered, **shared))
    yield _wave("fused", fused(x, y, a, b, ordered=ordered, **shared))
    more = [
        signature(x, y, a, b, sizes=2000, powers=powers, match=("sinkhorn", "mutual"), **side_options)
        for powers in ((0.25, 0.5, 1.0), (0.5,), (1.0,))
    ]
    yield _join(*(_wave("signature", maps) for maps in more))
    yield _join(_wave("axes", axes(x, y, a, b, **shared)), _wave("clusters", clusters(x, y, a, b, **shared)))
    yield _wave("relaxation", relaxation(x, y, a, b, ordered=ordered, **shared))
    while True:
        yield _wave("random", random(x, y, a, b, n_starts=16 if d > 3 else 32, **shared))


def _wave(name: str, maps: Array) -> Wave:
    return Wave(maps, [name] * maps.shape[0])


def _join(*parts: Wave) -> Wave:
    maps = namespace(parts[0].maps).concat([part.maps for part in parts], axis=0)
    return Wave(maps, [name for part in parts for name in part.names])
