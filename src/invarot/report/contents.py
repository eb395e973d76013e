"""What a page shows, gathered from a learned translation before any of it is drawn."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..alignment.verdict import Verdict
from ..words.dictionaries import read_dictionary
from ..words.preprocessing import Preprocessing
from ..words.vectors import Vectors
from .spaces import Spaces, project

ROWS = 2000  # source words in the table
BEST = 3  # translations of each

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
    def translate(self, words: Iterable[str], *, k: int = ...) -> dict[str, list[tuple[str, float]]]: ...
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


def gather(model: Learned, dictionary: Dictionary | None = None) -> Contents:
    """Translations of the frequent words, the picture's points, and the scores against a dictionary."""
    pairs = None
    if dictionary is not None:
        pairs = read_dictionary(dictionary) if isinstance(dictionary, (str, os.PathLike)) else list(dictionary)
    scores = None if pairs is None else model.evaluate(pairs)
    listed: dict[str, set[str]] = {}
    for left, right in pairs or ():
        listed.setdefault(left, set()).add(right)
    found = model.translate(model.source.words[:ROWS], k=BEST)
    rows = tuple(
        Row(rank, word, tuple(best), frozenset(listed.get(word, ())) & {one for one, _ in best})
        for rank, (word, best) in enumerate(found.items(), 1)
    )
    targets = model.target.index()
    matched = np.asarray([targets[row.best[0][0]] for row in rows], dtype=np.int64)
    return Contents(model, rows, _project(model, matched), scores)


def _project(model: Learned, matched: Floats) -> Spaces:
    x = model.prepare_source.apply(model.source.vectors)
    y = model.prepare_target.apply(model.target.vectors)
    return project((x, y), model.common(), (model.source.words, model.target.words), matched)
