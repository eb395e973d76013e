"""Bilingual dictionaries: reading them, and looking their words up in two vocabularies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from .vectors import Findings


class DictionaryWarning(UserWarning):
    """Lines of a dictionary were left out; the message says which."""


def read_dictionary(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Read the pairs of a dictionary, one ``source target`` per line, in the order of the file.

    Fields are separated by blanks; where a line has a tab, by tabs alone (so that a phrase may hold spaces). Empty
    lines are skipped; any other line that is not a pair is left out and reported by a `DictionaryWarning`.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: expected a dictionary file, this is a directory: name the file inside it")
    if not path.exists():
        raise InputError(f"{path}: no such dictionary: check the path")
    findings = Findings(str(path))
    pairs: list[tuple[str, str]] = []
    with path.open("rb") as stream:
        for place, raw in enumerate(stream, 1):
            try:
                line = raw.removeprefix(b"\xef\xbb\xbf" if place == 1 else b"").decode("utf-8").strip()
            except UnicodeDecodeError:
                findings.add("line that is not valid UTF-8 (left out)", place)
                continue
            fields = [field.strip() for field in line.split("\t")] if "\t" in line else line.split()
            if len(fields) == 2 and all(fields):
                pairs.append((fields[0], fields[1]))
            elif line:
                findings.add("line that is not a pair (left out)", place, repr(line[:40]))
    if not pairs:
        trouble = "; ".join(findings.sentences()) or "the file is empty"
        raise InputError(f"{path}: expected one 'source target' per line, found no pair ({trouble})")
    findings.warn(DictionaryWarning)
    return pairs


@dataclass(frozen=True)
class Gold:
    """The part of a dictionary that two vocabularies can be tested on.

    Attributes
    ----------
    targets : source row → the target rows that count as right
        A source word is a query when it and at least one of its translations are in the vocabularies.
    listed : how many distinct source words the dictionary has
    """

    targets: dict[int, frozenset[int]]
    listed: int

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[tuple[str, str]], source_words: Sequence[str], target_words: Sequence[str]
    ) -> Gold:
        """Look the pairs up; where a vocabulary repeats a word its first row counts."""
        source = {word: row for row, word in reversed(list(enumerate(source_words)))}
        target = {word: row for row, word in reversed(list(enumerate(target_words)))}
        found: dict[int, set[int]] = {}
        listed: set[str] = set()
        for left, right in pairs:
            listed.add(left)
            if left in source and right in target:
                found.setdefault(source[left], set()).add(target[right])
        return cls({row: frozenset(found[row]) for row in sorted(found)}, len(listed))

    @property
    def queries(self) -> int:
        """How many source words can be tested."""
        return len(self.targets)

    @property
    def coverage(self) -> float:
        """Queries as a share of the dictionary's distinct source words."""
        return self.queries / self.listed if self.listed else 0.0

    def pairs(self) -> list[tuple[int, int]]:
        """All right pairs of rows, ordered."""
        return [(row, right) for row, rights in self.targets.items() for right in sorted(rights)]

    def reversed(self) -> Gold:
        """The same pairs read from target to source; ``listed`` counts the words that can be tested."""
        found: dict[int, set[int]] = {}
        for row, right in self.pairs():
            found.setdefault(right, set()).add(row)
        return Gold({row: frozenset(found[row]) for row in sorted(found)}, len(found))
