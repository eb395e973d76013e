"""How words are spelled, as further coordinates: languages that share an alphabet spell many words alike.

Each word's runs of one to three letters get fixed coordinates of ±1, read off a hash of the letters, and are summed: the
cosine of two words' sums is close to the share of letters and runs they have in common (orthographic coordinates, Riley and
Gildea 2018). Nothing is learned and nothing is stored. Between different alphabets the sums would be noise and no more, so
that spelling is left out there.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array, as_like, namespace, to_numpy
from .preprocessing import unit_rows

SIZE = 512  # coordinates; they gained a quarter of a point over half as many
LONGEST = 3  # letters in a run
SPELLING = 0.6  # weight beside the vectors' 1, chosen on the train split of Europarl's pairs

SAME = 0.5  # letters in common from which two vocabularies share an alphabet; English and German have 0.84, English and Russian 0.01

Floats = np.ndarray[Any, Any]


def spelling(words: Sequence[str], *, longest: int = LONGEST, size: int = SIZE) -> Floats:
    """Return coordinates of the spelling of each word, (n, size), rows of length one; zero where there is nothing to read.

    Parameters
    ----------
    words : n words
    longest : letters of the longest runs
    size : coordinates, a multiple of 8, at most 512

    Examples
    --------
    >>> one = spelling(["nación", "Nation", "house"])
    >>> bool(one[0] @ one[1] > 0.3 > abs(one[0] @ one[2]))
    True
    """
    runs = [Counter(_runs(word, longest)) for word in words]
    places = {run: place for place, run in enumerate(dict.fromkeys(run for one in runs for run in one))}
    ends = np.cumsum([0, *map(len, runs)])
    columns = np.fromiter((places[run] for one in runs for run in one), dtype=np.int64, count=int(ends[-1]))
    times = np.fromiter((count for one in runs for count in one.values()), dtype=np.float32, count=int(ends[-1]))
    held = sparse.csr_matrix((times, columns, ends), shape=(len(runs), len(places)))
    bits = b"".join(_digest(run, size // 8) for run in places)
    signs = np.frombuffer(bits, dtype=np.uint8).reshape(len(places), size // 8)
    return to_numpy(unit_rows(np.asarray(held @ (2 * np.unpackbits(signs, axis=1).astype(np.float32) - 1))))


def add_spelling(z: Array, words: Sequence[str], weight: float, *, size: int = SIZE) -> Array:
    """Set ``weight`` times the spelling of each word beside its row of ``z`` (n, d), scaled to length one; ``z`` at weight 0."""
    if not weight:
        return z
    return namespace(z).concat([unit_rows(z), as_like(weight * spelling(words, size=size), z)], axis=1)


def usable_weight(weight: float, source: Sequence[str], target: Sequence[str]) -> float:
    """Return ``weight``, or 0 where the two vocabularies are not written with the same letters.

    The common part of the two distributions of letters decides, accents and capitals aside.

    Examples
    --------
    >>> usable_weight(0.6, ["house", "water"], ["Haus", "Wasser"]), usable_weight(0.6, ["house"], ["дом"])
    (0.6, 0.0)
    """
    if not weight:
        return 0.0
    counts = [
        Counter(letter for word in words for letter in _plain(word) if letter.isalpha()) for words in (source, target)
    ]
    totals = [max(1, sum(count.values())) for count in counts]
    common = sum(min(counts[0][letter] / totals[0], counts[1][letter] / totals[1]) for letter in counts[0])
    return weight if common >= SAME else 0.0


@lru_cache(maxsize=1 << 16)
def _digest(run: str, size: int) -> bytes:
    return hashlib.blake2b(run.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def _runs(word: str, longest: int) -> list[str]:
    """Runs of up to ``longest`` letters, without capitals and accents; the ends count as letters in runs of two and more."""
    plain = _plain(word)
    marked = f"\x02{plain}\x03"
    longer = (marked[at : at + size] for size in range(2, longest + 1) for at in range(len(marked) - size + 1))
    return [*plain, *longer] if plain else []


def _plain(word: str) -> str:
    letters = unicodedata.normalize("NFKD", word.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
