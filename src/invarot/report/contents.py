"""The contents of a report, collected from a learned translation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import to_numpy, unit_rows
from ..retrieval.neighbours import neighbours
from ..translation.model import Translation
from ..translation.pipeline import map_known
from ..words.dictionaries import read_dictionary
from .explorer import EXPLORED_POINTS, Explorer
from .spaces import Spaces, principal_plane, project, sample_rows
from .views import choose_targets

TABLE_ROWS = 2000  # source words in the table
TRANSLATIONS_SHOWN = 3  # translations per word
SEARCHED = 50_000  # words per side to search for translations, so that a page does not take minutes

Floats = np.ndarray[Any, Any]
Dictionary = str | os.PathLike[str] | Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Row:
    """A source word with its best translations, none for a word without one; ``right``: those in the dictionary."""

    rank: int
    word: str
    best: tuple[tuple[str, float], ...]
    right: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Contents:
    """The contents of a page; ``scores`` is None without a dictionary."""

    model: Translation
    rows: tuple[Row, ...]
    spaces: Spaces
    explorer: Explorer
    scores: dict[str, Any] | None

    @property
    def steps(self) -> list[dict[str, Any]]:
        """Return the solver steps of the history, in order."""
        return [row for row in self.model.history if "objective" in row]

    @property
    def rounds(self) -> list[dict[str, Any]]:
        """Return the refinement rounds of the history."""
        return [row for row in self.model.history if "pairs" in row]

    @property
    def accuracies(self) -> list[dict[str, Any]]:
        """Return the accuracies of the history, measured while learning if a dictionary was given."""
        return [row for row in self.model.history if row.get("precision@1") is not None]


def gather_contents(model: Translation, dictionary: Dictionary | None = None) -> Contents:
    """Collect translations of the frequent words, the points of the picture, and the scores against a dictionary."""
    pairs = None
    if dictionary is not None:
        pairs = read_dictionary(dictionary) if isinstance(dictionary, (str, os.PathLike)) else list(dictionary)
    scores = None if pairs is None else model.evaluate(pairs)
    listed: dict[str, set[str]] = {}
    for left, right in pairs or ():
        listed.setdefault(left, set()).add(right)
    x, y = model.clouds
    asked = np.arange(min(EXPLORED_POINTS, SEARCHED, len(x)))
    found, values = neighbours(x[:SEARCHED], y[:SEARCHED], k=min(TRANSLATIONS_SHOWN, len(y)), queries=asked)
    found, values = to_numpy(found), to_numpy(values)
    lacking = set(model.find_untranslated())
    rows = []
    for i, word in enumerate(model.source.words[: min(TABLE_ROWS, len(asked))]):
        named = ((model.target.words[j], float(value)) for j, value in zip(found[i], values[i], strict=True))
        best = () if word in lacking else tuple(named)
        rows.append(Row(i + 1, word, best, frozenset(listed.get(word, ())) & {one for one, _ in best}))
    paired = np.asarray([row.rank - 1 for row in rows if row.best] or range(len(rows)))
    drawn = paired[sample_rows([model.source.words[i] for i in paired])]
    spaces = _project(model, drawn, found[drawn, 0], (x, y))
    return Contents(model, tuple(rows), spaces, explore(model, found, values, (x, y)), scores)


def explore(model: Translation, found: Floats, values: Floats, common: tuple[Floats, Floats]) -> Explorer:
    """Return what the explorer shows: the first words of both sides, with the targets that they are translated to."""
    count = len(found)
    targets = choose_targets(
        np.unique(found), min(len(model.target), SEARCHED), min(EXPLORED_POINTS, len(model.target))
    )
    place = np.full(len(model.target), -1)
    place[targets] = np.arange(len(targets))
    both = tuple(to_numpy(unit_rows(rows, safe=True)) for rows in (common[0][:count], common[1][targets]))
    plane = principal_plane(np.concatenate(both))
    prepared = (
        to_numpy(map_known(model.steps[:1], model.source.first(count), "source")),
        to_numpy(map_known(model.steps[:1], model.target.take(targets), "target")),
    )
    return Explorer(
        names=(model.source.words[:count], [model.target.words[j] for j in targets]),
        before=(prepared[0] @ principal_plane(prepared[0]), prepared[1] @ principal_plane(prepared[1])),
        after=(both[0] @ plane, both[1] @ plane),
        matches=place[found],
        scores=values,
        loose=(find_loose(model, np.arange(count), reverse=False), find_loose(model, targets, reverse=True)),
        score_name="score",
        totals=(len(model.source), len(model.target)),
    )


def find_loose(model: Translation, rows: Floats, *, reverse: bool) -> Floats:
    """Return which of the given rows of the source (the target if ``reverse``) are words without a translation."""
    words, lacking = (model.target if reverse else model.source).words, set(model.find_untranslated(reverse=reverse))
    return np.flatnonzero(np.asarray([words[i] in lacking for i in rows], dtype=bool))


def _project(model: Translation, left: Floats, right: Floats, common: tuple[Floats, Floats]) -> Spaces:
    """Project the pairs (left, right) of rows to the plane, before the maps and after all steps."""
    words = ((model.source.words[i], model.target.words[j]) for i, j in zip(left.tolist(), right.tolist(), strict=True))
    prepared = (
        to_numpy(map_known(model.steps[:1], model.source.take(left), "source")),
        to_numpy(map_known(model.steps[:1], model.target.take(right), "target")),
    )
    return project(words, prepared, (common[0][left], common[1][right]))
