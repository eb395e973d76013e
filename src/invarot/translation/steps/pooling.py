"""A step of hubs, pooling: each word is moved towards its mutual neighbours in the other vocabularies.

Words of several languages that are each other's neighbours are several measurements of one meaning, and their mean is a better one.
The two languages that are compared take no part: each side is pooled with the others only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import Array, as_like, to_numpy, unit_rows
from ...words.vectors import Vectors
from .shape import Known, Side, Step, StepRecord, Work

NAME = "pooling"
NEIGHBOUR_WEIGHT = 0.1  # weight of a neighbour in another vocabulary beside the word itself (results/align_many.md)

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Neighbours:
    """The mutual neighbours of a vocabulary in another one."""

    name: str  # of the other
    rows: Floats  # (k,) of the vocabulary
    near: Floats  # (k,) of the other
    vectors: Floats  # (m, d) of the other, in the common space


def fit_pooling(
    work: Work, source: Sequence[Neighbours] = (), target: Sequence[Neighbours] = ()
) -> tuple[StepRecord, Work]:
    """Add up the neighbours of both sides in the other vocabularies."""
    names = list(dict.fromkeys(one.name for one in (*source, *target)))
    if not names:
        return StepRecord(NAME, False, "there are no other vocabularies"), work
    arrays = {"source_added": add_up(work.x, source), "target_added": add_up(work.y, target)}
    record = StepRecord(
        NAME, True, f"{NEIGHBOUR_WEIGHT:g} of the mutual neighbours in {', '.join(names)} added", arrays=arrays
    )
    x, y = apply_pooling(record, work.x, "source", ()), apply_pooling(record, work.y, "target", ())
    return record, replace(work, x=x, y=y)


def add_up(z: Array, others: Sequence[Neighbours]) -> Floats:
    """Return what its neighbours add to each word of z (n, d)."""
    added = np.zeros(tuple(z.shape), dtype=np.float32)
    for one in others:
        added[one.rows] += NEIGHBOUR_WEIGHT * to_numpy(unit_rows(one.vectors[one.near]))
    return added


def apply_pooling(record: StepRecord, z: Array, side: Side, words: Sequence[str]) -> Array:
    """Add to every word of a vocabulary, (n, d), what its neighbours add."""
    return unit_rows(z) + as_like(record.arrays[f"{side}_added"], z)


def leave_new_words(
    record: StepRecord, z: Array, side: Side, words: Sequence[str] | None, known: Known, vocabularies: tuple[Vectors, Vectors]
) -> Array:  # fmt: skip
    """New words have no mutual neighbours yet: they only get unit length, as the others."""
    return unit_rows(z)


POOLING = Step(NAME, (), fit_pooling, apply_pooling, leave_new_words)
