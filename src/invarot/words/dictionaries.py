"""Bilingual dictionaries: read them, and look up their words in two vocabularies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ..errors import InputError
from ..files import local_file, name_path, reading
from .decimals import is_number
from .text import read_blocks
from .vectors import Findings


class DictionaryWarning(UserWarning):
    """Lines of a dictionary were skipped; the message says which."""


def read_dictionary(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Read the pairs of a dictionary, one ``source target`` per line, in the order of the file.

    Fields are separated by blanks, or by tabs only if the line has a tab (so that phrases may contain spaces). Empty
    lines are ignored; any other line that is not a pair is skipped and reported in a `DictionaryWarning`.
    """
    source = name_path(path)
    findings = Findings(source)
    pairs: list[tuple[str, str]] = []
    with reading(source), local_file(path) as file, file.open("rb") as stream:
        for place, raw in enumerate(chain.from_iterable(read_blocks(stream, source)), 1):
            try:
                line = raw.removeprefix(b"\xef\xbb\xbf" if place == 1 else b"").decode("utf-8").strip()
            except UnicodeDecodeError:
                findings.add("line that is not valid UTF-8 (skipped)", place)
                continue
            fields = [field.strip() for field in line.split("\t")] if "\t" in line else line.split()
            if len(fields) == 3 and "\t" in line and is_number(fields[2]):  # as invarot export writes it
                fields = fields[:2]
            if len(fields) == 2 and all(fields):
                pairs.append((fields[0], fields[1]))
            elif line:
                findings.add("line that is not a pair (skipped)", place, repr(line[:40]))
    if not pairs:
        trouble = "; ".join(findings.sentences()) or "the file is empty"
        raise InputError(
            f"{source}: expected one 'source target' per line, got no pair ({trouble}); check that it is a dictionary"
        )
    findings.warn(DictionaryWarning)
    return pairs


def list_pairs(dictionary: Any) -> list[tuple[str, str]]:
    """Return the pairs of a sequence of pairs, or of a dict from words to a translation or several."""
    if isinstance(dictionary, Mapping):
        return [
            (word, one)
            for word, found in dictionary.items()
            for one in ([found] if isinstance(found, str) else list(found))
        ]
    pairs = list(dictionary)
    for place, pair in enumerate(pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not all(isinstance(one, str) for one in pair):
            raise InputError(
                f"dictionary: expected pairs (word, translation), got {pair!r} at {place}; pass a file, a list of pairs or a dict"
            )
    return [(left, right) for left, right in pairs]


@dataclass(frozen=True)
class Gold:
    """The pairs of a dictionary that are in two vocabularies.

    Attributes
    ----------
    targets : source row → the target rows that count as correct
        A source word is a query if it and at least one of its translations are in the vocabularies.
    listed : number of distinct source words in the dictionary
    """

    targets: dict[int, frozenset[int]]
    listed: int

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[tuple[str, str]], source_words: Sequence[str], target_words: Sequence[str]
    ) -> Gold:
        """Look up the pairs; if a vocabulary repeats a word, its first row counts."""
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
        """Number of source words that can be tested."""
        return len(self.targets)

    @property
    def coverage(self) -> float:
        """Queries as a share of the dictionary's distinct source words."""
        return self.queries / self.listed if self.listed else 0.0

    def pairs(self) -> list[tuple[int, int]]:
        """Return all correct pairs of rows, sorted."""
        return [(row, right) for row, rights in self.targets.items() for right in sorted(rights)]

    def reversed(self) -> Gold:
        """Return the same pairs from target to source; ``listed`` counts the words that can be tested."""
        found: dict[int, set[int]] = {}
        for row, right in self.pairs():
            found.setdefault(right, set()).add(row)
        return Gold({row: frozenset(found[row]) for row in sorted(found)}, len(found))
