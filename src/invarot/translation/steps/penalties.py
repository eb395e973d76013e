"""Step 6, penalties: for words that are already matched, and for rare ones.

CSLS penalises words that are near to many. A word that is very near to one other is most likely its translation and so
not another's; and of two words that are equally near the more frequent one is more often right. The penalties do not
depend on the retrieval method, so they are stored in the vectors: two more coordinates lower any cosine between the
languages by the penalties of both words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import Array, as_like, namespace, to_numpy, unit_rows
from ...retrieval.neighbours import neighbours
from ...retrieval.scores import mean_similarities
from ...words.vectors import Vectors
from .shape import SIDES, Known, Side, Step, StepRecord, Work, find_obstacle

NAME = "penalties"
FIELDS = ("match_penalty", "rank_penalty")
FEWEST_PENALISED = 10_000  # words per side: among fewer they gained nothing
CONSTANT = (
    0.3  # the coordinate that multiplies the other side's penalty; small, so that it changes little inside a language
)
RANK_CONSTANT = 1.0  # with a rank penalty, which is large for the first words and would make their vectors long

Floats = np.ndarray[Any, Any]


def fit_penalties(work: Work) -> tuple[StepRecord, Work]:
    """Find the cosine of each word to its best match."""
    obstacle = find_obstacle(work, FIELDS, FEWEST_PENALISED)
    if obstacle is not None:
        return StepRecord(NAME, False, obstacle), work
    values = {name: float(getattr(work.recipe, name)) for name in FIELDS}
    arrays = {}
    if values["match_penalty"]:
        best = find_best_cosines(work.x, work.y)
        arrays = {f"{side}_best": to_numpy(one) for side, one in zip(SIDES, best, strict=True)}
    record = StepRecord(NAME, True, _describe(work), values=values, arrays=arrays)
    x = apply_penalties(record, work.x, "source", work.source.words)
    y = apply_penalties(record, work.y, "target", work.target.words)
    return record, replace(work, x=x, y=y)


def _describe(work: Work) -> str:
    recipe = work.recipe
    parts = [f"match penalty {recipe.match_penalty:g}" if recipe.match_penalty else "no match penalty: 0 in the recipe"]
    if recipe.rank_penalty:
        parts.append(f"rank penalty {recipe.rank_penalty:g}")
    else:
        parts.append(f"no rank penalty: {'0 in the recipe' if recipe.ordered else 'rows are not ordered by frequency'}")
    return "; ".join(parts)


def apply_penalties(record: StepRecord, z: Array, side: Side, words: Sequence[str]) -> Array:
    """Append the penalties of every word of a vocabulary, (n, d + 2)."""
    best = record.arrays.get(f"{side}_best")
    return append_penalties(z, _add_up(record, side, best, center_log_ranks(len(words))), side, _constant(record))


def penalise_new_words(
    record: StepRecord, z: Array, side: Side, words: Sequence[str] | None, known: Known, vocabularies: tuple[Vectors, Vectors]
) -> Array:  # fmt: skip
    """Append the penalties of new words: their best matches are looked up; without a known rank they count as the rarest."""
    best = None
    if f"{side}_best" in record.arrays:
        other: Side = "source" if side == "target" else "target"
        best = to_numpy(neighbours(z, unit_rows(known[other]), method="cosine", k=1)[1])[:, 0]
    vocabulary = vocabularies[SIDES.index(side)]
    rows = np.full(z.shape[0], len(vocabulary))
    if words is not None:
        ranks = vocabulary.index()
        rows = np.asarray([ranks.get(word, len(vocabulary)) for word in words], dtype=np.int64)
    penalties = _add_up(record, side, best, center_log_ranks(len(vocabulary), rows))
    return append_penalties(z, penalties, side, _constant(record))


def _add_up(record: StepRecord, side: Side, best: Floats | None, ranks: Floats) -> Floats:
    """Return the penalty of each word; those of a whole vocabulary have mean 0."""
    total: Floats = record.values["rank_penalty"] * ranks
    if best is not None:
        total = total + record.values["match_penalty"] * (best - record.arrays[f"{side}_best"].mean())
    return total


def _constant(record: StepRecord) -> float:
    return RANK_CONSTANT if record.values["rank_penalty"] else CONSTANT


def find_best_cosines(x: Array, y: Array, *, count: int = 1) -> tuple[Array, Array]:
    """Return the mean cosine of each row of ``x`` (n, d) and of ``y`` (m, d) to the ``count`` nearest of the other: (n,), (m,).

    One works best: the mean of more measures the density around a word, which CSLS corrects for.
    """
    return mean_similarities(unit_rows(x), unit_rows(y), count)


def center_log_ranks(count: int, rows: Floats | None = None) -> Floats:
    """Return the log of the rank of ``count`` words, most frequent first, less its mean: (count,).

    Of the ``rows`` (n,) only, if they are given; a row of ``count`` or more is a rarer word.

    Examples
    --------
    >>> center_log_ranks(3).round(2)
    array([-0.6,  0.1,  0.5])
    """
    logs = np.log(np.arange(1, count + 1))
    asked = logs if rows is None else np.log(rows + 1)
    return np.asarray(asked - logs.mean())


def append_penalties(z: Array, penalties: Array, side: Side, constant: float = CONSTANT) -> Array:
    """Return rows of unit length and two coordinates, (n, d + 2): the ``penalties`` (n,), and a constant that multiplies those of the other side.

    The product of a source and a target row is that of ``z`` less the penalties of both.

    Examples
    --------
    >>> x = append_penalties(np.eye(2), np.array([0.06, -0.06]), "source")
    >>> y = append_penalties(np.eye(2), np.array([0.0, 0.01]), "target")
    >>> (x @ y.T).round(2)
    array([[ 0.94, -0.07],
           [ 0.06,  1.05]])
    """
    xp = namespace(z)
    lower = as_like(penalties, z)[:, None] * (-1 / constant)
    met = constant * xp.ones_like(lower)
    return xp.concat([unit_rows(z), *((met, lower) if side == "target" else (lower, met))], axis=1)


PENALTIES = Step(NAME, FIELDS, fit_penalties, apply_penalties, penalise_new_words)
