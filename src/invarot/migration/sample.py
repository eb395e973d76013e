"""One pass over a store: a random sample for the solve, and a check of every row."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..stores import Batch, Info, Store

READ = 4096  # rows at a time


@dataclass(frozen=True)
class Sample:
    """Rows drawn from a store, those asked for by id, and what the pass saw of all of them.

    Attributes
    ----------
    vectors : (n, d) float32, of unit length
    kept : dict
        The vectors asked for, by their ids as strings.
    info : Info
    seconds : float
        How long the pass took.
    """

    vectors: np.ndarray[Any, Any]
    kept: dict[str, np.ndarray[Any, Any]]
    info: Info
    seconds: float


def draw(store: Store, size: int, rng: np.random.Generator, *, keep: Collection[str] = ()) -> Sample:
    """Draw ``size`` rows at random, and apart from them all rows whose id is in ``keep``.

    Every row is read once and checked; rows of length zero are left out of the sample.
    """
    begun = time.perf_counter()
    info = store.info()
    drawn, keys = np.empty((0, info.dimension), np.float32), np.empty(0)
    kept: dict[str, np.ndarray[Any, Any]] = {}
    hashes, whole, payload = [], True, False
    for batch in store.read(READ):
        hashes.append(np.fromiter((hash(str(id)) for id in batch.ids), np.int64, len(batch)))
        whole = whole and all(isinstance(id, int) for id in batch.ids)
        payload = payload or any(batch.payload)
        rows, free = _unit(batch, keep, kept)
        drawn, keys = np.concatenate([drawn, rows[free]]), np.concatenate([keys, rng.random(int(free.sum()))])
        if len(drawn) > size:
            first = np.sort(np.argpartition(keys, size)[:size])
            drawn, keys = drawn[first], keys[first]
    _check_distinct(np.concatenate(hashes) if hashes else np.empty(0), store.address)
    info = replace(info, whole_ids=whole, payload=payload)
    return Sample(drawn, kept, info, time.perf_counter() - begun)


def _unit(
    batch: Batch, keep: Collection[str], kept: dict[str, np.ndarray[Any, Any]]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the rows at unit length and which may be drawn; those in ``keep`` go to ``kept`` instead."""
    lengths = np.linalg.norm(batch.vectors, axis=1, keepdims=True)
    rows = batch.vectors / np.where(lengths > 0, lengths, 1)
    free = lengths[:, 0] > 0
    if keep:
        for k, name in enumerate(map(str, batch.ids)):
            if name in keep and free[k]:
                kept[name], free[k] = rows[k], False
    return rows, free


def _check_distinct(hashes: np.ndarray[Any, Any], address: str) -> None:
    again = len(hashes) - len(np.unique(hashes))
    if again:
        raise InputError(
            f"{address}: expected a different id in every row, got {again} repeated ids; make them unique first"
        )
