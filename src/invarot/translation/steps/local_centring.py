"""Step 4, local centring: a share of the mean of its neighbours is subtracted from each word.

Related words form dense clusters, and the common part of a cluster does not distinguish its members. Subtracting part of
the local mean emphasises the differences, and makes hubs rarer (localised centring, Hara et al. 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...arrays import Array, as_like, device, namespace, to_numpy, unit_rows
from ...retrieval.neighbours import neighbours
from ...words.vectors import Vectors
from .shape import SIDES, Known, Side, Step, StepRecord, Work, find_obstacle

NAME = "local centring"
LOCAL_WORDS = 50  # per word, or a hundredth of a small vocabulary
FEWEST_CENTRED = 500  # words per side: a hundredth of fewer is too small a neighbourhood


def fit_local_centring(work: Work) -> tuple[StepRecord, Work]:
    """Find the neighbours of each word in its own language."""
    obstacle = find_obstacle(work, ("local_centring",), FEWEST_CENTRED)
    if obstacle is not None:
        return StepRecord(NAME, False, obstacle), work
    share = work.recipe.local_centring
    found = [to_numpy(find_neighbours(z)).astype(np.int32) for z in (work.x, work.y)]
    counts = " and ".join(dict.fromkeys(str(near.shape[1]) for near in found))
    record = StepRecord(
        NAME, True, f"{share:g} of the mean of {counts} neighbours subtracted", values={"share": share},
        arrays={f"{side}_neighbours": near for side, near in zip(SIDES, found, strict=True)},
    )  # fmt: skip
    x, y = (subtract_local_mean(z, near, share) for z, near in zip((work.x, work.y), found, strict=True))
    return record, replace(work, x=x, y=y)


def apply_local_centring(record: StepRecord, z: Array, side: Side, words: Sequence[str]) -> Array:
    """Subtract the local mean from every word of a vocabulary, (n, d)."""
    return subtract_local_mean(z, record.arrays[f"{side}_neighbours"], record.values["share"])


def center_new_words(
    record: StepRecord, z: Array, side: Side, words: Sequence[str] | None, known: Known, vocabularies: tuple[Vectors, Vectors]
) -> Array:  # fmt: skip
    """Subtract from new words the local mean of their nearest known words."""
    pool = known[side]
    return subtract_local_mean(z, find_neighbours(z, pool), record.values["share"], pool)


def find_neighbours(z: Array, pool: Array | None = None) -> Array:
    """Return the rows of ``pool`` (m, d) nearest to each row of ``z`` (n, d), by cosine: (n, k).

    Without a ``pool`` it is ``z`` itself, and a row is not its own neighbour.
    """
    own = pool is None
    pool = z if pool is None else pool
    count = max(1, min(LOCAL_WORDS, pool.shape[0] // 100))
    found, _ = neighbours(z, pool, method="cosine", k=count + own)
    if not own:
        return found
    xp = namespace(found)
    itself = xp.astype(found == xp.arange(found.shape[0], device=device(found))[:, None], xp.int64)
    order = xp.argsort(itself, axis=1, stable=True)  # itself last: with ties it is not always found first, or at all
    return xp.take_along_axis(found, order, axis=1)[:, :count]


def subtract_local_mean(z: Array, near: Array, share: float, pool: Array | None = None) -> Array:
    """Return rows of unit length less ``share`` times the mean of the rows ``near`` (n, k) of the ``pool`` (by default ``z``).

    Examples
    --------
    >>> subtract_local_mean(np.eye(3), np.array([[1, 2], [0, 2], [0, 1]]), 0.5)[0]
    array([ 1.  , -0.25, -0.25])
    """
    xp = namespace(z)
    z = unit_rows(z)
    pool = z if pool is None else unit_rows(pool)
    rows = as_like(near, z, dtype=xp.int64)
    total = xp.zeros_like(z)
    for column in range(rows.shape[1]):  # one neighbour at a time: (n, k, d) at once would be large
        total = total + xp.take(pool, rows[:, column], axis=0)
    return z - total * (share / rows.shape[1])


LOCAL_CENTRING = Step(NAME, ("local_centring",), fit_local_centring, apply_local_centring, center_new_words)
