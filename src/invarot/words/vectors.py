"""Words and their vectors, and the problems found while reading them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError

FIRST_BYTES = 1 << 26  # of a table whose size the file does not tell; it grows from there
PLACES_LISTED = 5  # places listed in a warning, words in a repr; the rest are counted
LONGEST_IN_REPR = 30  # letters of a word in a repr


class VectorsWarning(UserWarning):
    """Rows of a file of vectors were dropped or changed; the message says what and where."""


@dataclass(frozen=True, eq=False, repr=False)
class Vectors:
    """Words and their vectors, in the order of the source (usually most frequent first).

    Attributes
    ----------
    words : tuple of str, n of them, all different
    vectors : float32 array, (n, d), finite
    source : where they came from
    warnings : what was dropped or changed while reading, one sentence each
    """

    words: tuple[str, ...]
    vectors: np.ndarray[Any, Any]
    source: str = "memory"
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if getattr(self.vectors, "ndim", None) != 2 or len(self.words) != len(self.vectors):
            shape = getattr(self.vectors, "shape", type(self.vectors).__name__)
            raise InputError(
                f"vectors: expected one row per word, ({len(self.words)}, d), got {shape}; pass a two-dimensional array"
            )

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        shown = ", ".join(f"{word[:LONGEST_IN_REPR]!r}" for word in self.words[:PLACES_LISTED]) + (
            ", …" if len(self) > PLACES_LISTED else ""
        )
        return f"Vectors of {len(self):,} words in {self.dimension} dimensions, from {self.source}: {shown}"

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def index(self) -> dict[str, int]:
        """Return the row of every word."""
        return {word: row for row, word in enumerate(self.words)}

    def take(self, rows: Iterable[int]) -> Vectors:
        """Return the given rows, in the given order."""
        chosen = np.fromiter(rows, dtype=np.int64)
        return Vectors(tuple(self.words[i] for i in chosen), self.vectors[chosen], self.source, self.warnings)

    def first(self, count: int) -> Vectors:
        """Return the first ``count`` rows (all if there are fewer)."""
        return Vectors(self.words[:count], self.vectors[:count], self.source, self.warnings)


@dataclass
class Findings:
    """Problems found in one source, by kind, with the first few places of each."""

    source: str
    unit: str = "line"
    kinds: dict[str, tuple[int, list[str]]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def add(self, kind: str, place: int, what: str = "") -> None:
        """Record a problem of ``kind`` at ``place`` (counted from 1); ``what`` is shown with it."""
        count, places = self.kinds.setdefault(kind, (0, []))
        if len(places) < PLACES_LISTED:
            places.append(f"{place} ({what})" if what else str(place))
        self.kinds[kind] = (count + 1, places)

    def remark(self, sentence: str) -> None:
        self.remarks.append(f"{self.source}: {sentence}")

    def count(self, *kinds: str) -> int:
        return sum(self.kinds[kind][0] for kind in kinds if kind in self.kinds)

    def sentences(self) -> tuple[str, ...]:
        """Return one sentence per kind of problem: how often, what, and the first places."""
        found = list(self.remarks)
        for kind, (count, places) in self.kinds.items():
            more = f" and {count - len(places)} more" if count > len(places) else ""
            found.append(f"{self.source}: {count} × {kind}: {self.unit} {', '.join(places)}{more}")
        return tuple(found)

    def warn(self, category: type[Warning] = VectorsWarning, stacklevel: int = 3) -> tuple[str, ...]:
        """Warn once per sentence and return the sentences."""
        sentences = self.sentences()
        for sentence in sentences:
            warnings.warn(sentence, category, stacklevel=stacklevel)
        return sentences


class WordTable:
    """A growing (n, d) float32 table of distinct words, with at most ``limit`` of them.

    The table grows in place and is trimmed at the end, so that peak memory is about the size of the result.
    """

    DUPLICATE = "duplicate word (the first was kept)"
    NOT_FINITE = "row with NaN, infinite or too large values (dropped)"
    BAD_UTF8 = "word that is not valid UTF-8"

    def __init__(self, dimension: int, *, expected: int, limit: int | None, errors: str, findings: Findings) -> None:
        self.limit = limit
        self.errors = errors
        self.findings = findings
        capacity = max(expected, 1) if limit is None else max(min(expected, limit), 1)
        self.table = np.empty((capacity, dimension), np.float32)  # untouched pages cost nothing
        self.places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.places)

    @property
    def full(self) -> bool:
        return self.limit is not None and len(self) >= self.limit

    def decode(self, word: bytes, place: int) -> str:
        try:
            return word.decode("utf-8")
        except UnicodeDecodeError as error:
            if self.errors == "strict":
                raise InputError(
                    f"{self.findings.source}: expected UTF-8, got {self.findings.unit} {place} ({error.reason} at byte "
                    f"{error.start} of {word[:40]!r}); convert the file, or pass encoding_errors='replace'"
                ) from None
            text = word.decode("utf-8", self.errors)
            self.findings.add(f"{self.BAD_UTF8} (read with {self.errors!r})", place, repr(text))
            return text

    def extend(self, words: list[str], values: np.ndarray[Any, Any], places: list[int]) -> None:
        """Add rows; those that repeat a word or are not finite are reported and skipped."""
        finite = np.isfinite(values).all(axis=1)
        keep: list[int] = []
        for row, (word, place) in enumerate(zip(words, places, strict=True)):
            if self.full:
                break
            if not finite[row]:
                self.findings.add(self.NOT_FINITE, place, repr(word))
            elif word in self.places:
                self.findings.add(self.DUPLICATE, place, repr(word))
            else:
                self.places[word] = place
                keep.append(row)
        stop, start = len(self.places), len(self.places) - len(keep)
        if stop > len(self.table):
            self.table.resize((max(stop, len(self.table) * 5 // 4), self.table.shape[1]), refcheck=False)
        self.table[start:stop] = values if len(keep) == len(values) else values[keep]

    def finish(self) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
        self.table.resize((len(self), self.table.shape[1]), refcheck=False)
        return tuple(self.places), self.table
