"""Spelling as additional coordinates: languages that share an alphabet spell many words similarly.

Each n-gram of one to three letters has a fixed vector of ±1, from a hash of the letters; those of a word are summed. The
cosine of two words' sums is close to the share of n-grams they have in common (orthographic coordinates, Riley and
Gildea 2018). Nothing is learned or stored. Between different alphabets the sums would be noise, and are not used.
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

from ..arrays import Array, as_like, namespace, to_numpy, unit_rows

SPELLING_COORDINATES = 512  # coordinates; a quarter of a point more accurate than 256
NGRAM_LETTERS = 3  # letters in an n-gram
SPELLING_WEIGHT = 0.6  # weight relative to the vectors, chosen on the train split of Europarl's pairs

SAME_ALPHABET = 0.5  # overlap of letters from which two vocabularies share an alphabet; English–German has 0.84, English–Russian 0.01

Floats = np.ndarray[Any, Any]


def spelling(words: Sequence[str], *, longest: int = NGRAM_LETTERS, size: int = SPELLING_COORDINATES) -> Floats:
    """Return the spelling vector of each word, (n, size), rows of length one; zero for words without letters.

    Parameters
    ----------
    words : n words
    longest : letters of the longest n-grams
    size : coordinates, a multiple of 8, at most 512

    Examples
    --------
    >>> one = spelling(["nación", "Nation", "house"])
    >>> bool(one[0] @ one[1] > 0.3 > abs(one[0] @ one[2]))
    True
    """
    runs = [Counter(_ngrams(word, longest)) for word in words]
    places = {run: place for place, run in enumerate(dict.fromkeys(run for one in runs for run in one))}
    ends = np.cumsum([0, *map(len, runs)])
    columns = np.fromiter((places[run] for one in runs for run in one), dtype=np.int64, count=int(ends[-1]))
    times = np.fromiter((count for one in runs for count in one.values()), dtype=np.float32, count=int(ends[-1]))
    held = sparse.csr_matrix((times, columns, ends), shape=(len(runs), len(places)))
    bits = b"".join(_hash_bytes(run, size // 8) for run in places)
    signs = np.frombuffer(bits, dtype=np.uint8).reshape(len(places), size // 8)
    return to_numpy(unit_rows(np.asarray(held @ (2 * np.unpackbits(signs, axis=1).astype(np.float32) - 1)), safe=True))


def add_spelling(z: Array, words: Sequence[str], weight: float, *, size: int = SPELLING_COORDINATES) -> Array:
    """Append ``weight`` times the spelling of each word to its row of ``z`` (n, d), scaled to length one; ``z`` at weight 0."""
    if not weight:
        return z
    return namespace(z).concat([unit_rows(z, safe=True), as_like(weight * spelling(words, size=size), z)], axis=1)


def usable_weight(weight: float, source: Sequence[str], target: Sequence[str]) -> float:
    """Return ``weight``, or 0 if the two vocabularies use different alphabets.

    Decided by the overlap of the two distributions of letters, without accents and capitals.

    Examples
    --------
    >>> usable_weight(0.6, ["house", "water"], ["Haus", "Wasser"]), usable_weight(0.6, ["house"], ["дом"])
    (0.6, 0.0)
    """
    if not weight:
        return 0.0
    counts = [
        Counter(letter for word in words for letter in _strip_accents(word) if letter.isalpha())
        for words in (source, target)
    ]
    totals = [max(1, sum(count.values())) for count in counts]
    common = sum(min(counts[0][letter] / totals[0], counts[1][letter] / totals[1]) for letter in counts[0])
    return weight if common >= SAME_ALPHABET else 0.0


@lru_cache(maxsize=1 << 16)
def _hash_bytes(run: str, size: int) -> bytes:
    return hashlib.blake2b(run.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def _ngrams(word: str, longest: int) -> list[str]:
    """Return n-grams of up to ``longest`` letters, without capitals and accents; word ends count as letters if n > 1."""
    plain = _strip_accents(word)
    marked = f"\x02{plain}\x03"
    longer = (marked[at : at + size] for size in range(2, longest + 1) for at in range(len(marked) - size + 1))
    return [*plain, *longer] if plain else []


def _strip_accents(word: str) -> str:
    letters = unicodedata.normalize("NFKD", word.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
