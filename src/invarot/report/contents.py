"""What a page shows, gathered from a learned translation before any of it is drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..alignment.verdict import Verdict
from ..arrays import to_numpy
from ..retrieval.neighbours import neighbours
from ..words.dictionaries import read_dictionary
from ..words.preprocessing import Preprocessing
from ..words.vectors import Vectors
from .spaces import Spaces, project, sample_rows

ROWS = 2000  # source words in the table
BEST = 3  # translations of each
SEARCHED = 50_000  # words of each side that translations are looked up among: a page should not take minutes

Floats = np.ndarray[Any, Any]
Dictionary = str | os.PathLike[str] | Sequence[tuple[str, str]]


class Learned(Protocol):
    """The part of :class:`invarot.translation.Translation` that a page reads."""

    @property
    def source(self) -> Vectors: ...
    @property
    def target(self) -> Vectors: ...
    @property
    def prepare_source(self) -> Preprocessing: ...
    @property
    def prepare_target(self) -> Preprocessing: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def history(self) -> list[dict[str, Any]]: ...
    @property
    def settings(self) -> dict[str, Any]: ...

    def common(self) -> tuple[Floats, Floats]: ...
    def evaluate(self, dictionary: Sequence[tuple[str, str]]) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Row:
    """A source word with its best translations; ``right`` holds those that the dictionary lists."""

    rank: int
    word: str
    best: tuple[tuple[str, float], ...]
    right: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Contents:
    """``scores`` is None without a dictionary."""

    model: Learned
    rows: tuple[Row, ...]
    spaces: Spaces
    scores: dict[str, Any] | None

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The history's steps of the solver, in the order they were made."""
        return [row for row in self.model.history if "objective" in row]

    @property
    def rounds(self) -> list[dict[str, Any]]:
        """The history's rounds of refinement."""
        return [row for row in self.model.history if "pairs" in row]

    @property
    def accuracies(self) -> list[dict[str, Any]]:
        """The history's measurements against a dictionary that was at hand while learning."""
        return [row for row in self.model.history if row.get("precision@1") is not None]


def gather(model: Learned, dictionary: Dictionary | None = None) -> Contents:
    """Translations of the frequent words, the picture's points, and the scores against a dictionary."""
    pairs = None
    if dictionary is not None:
        pairs = read_dictionary(dictionary) if isinstance(dictionary, (str, os.PathLike)) else list(dictionary)
    scores = None if pairs is None else model.evaluate(pairs)
    listed: dict[str, set[str]] = {}
    for left, right in pairs or ():
        listed.setdefault(left, set()).add(right)
    x, y = model.common()
    asked = np.arange(min(ROWS, len(x)))
    found, values = neighbours(x[:SEARCHED], y[:SEARCHED], k=min(BEST, len(y)), queries=asked)
    found, values = to_numpy(found), to_numpy(values)
    rows = []
    for i, word in enumerate(model.source.words[: len(asked)]):
        best = tuple((model.target.words[j], float(value)) for j, value in zip(found[i], values[i], strict=True))
        rows.append(Row(i + 1, word, best, frozenset(listed.get(word, ())) & {one for one, _ in best}))
    drawn = sample_rows(model.source.words[: len(asked)])
    return Contents(model, tuple(rows), _project(model, drawn, found[drawn, 0], (x, y)), scores)


def _project(model: Learned, left: Floats, right: Floats, common: tuple[Floats, Floats]) -> Spaces:
    """The pairs (left, right) of rows, in the plane."""
    words = ((model.source.words[i], model.target.words[j]) for i, j in zip(left.tolist(), right.tolist(), strict=True))
    prepared = (
        model.prepare_source.apply(model.source.vectors[left]),
        model.prepare_target.apply(model.target.vectors[right]),
    )
    return project(words, prepared, (common[0][left], common[1][right]))
