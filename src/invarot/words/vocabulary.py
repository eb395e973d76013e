"""Which tokens are words, and shuffled orders of a vocabulary."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError

INSIDE = frozenset("'’ʼ`´-‐‑·\u200c\u200d")  # apostrophes, hyphens, the Catalan dot, the joiners of Persian and Hindi


def looks_like_word(words: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return which tokens consist of letters (with marks, apostrophes and hyphens), not numbers or punctuation.

    Returns
    -------
    boolean array, (n,)

    Examples
    --------
    >>> looks_like_word(["house", "'s", "co-op", "año", "1997", "3rd", "...", "u.s."]).tolist()
    [True, True, True, True, False, False, False, False]
    """
    return np.fromiter((_is_word(word) for word in words), dtype=bool, count=len(words))


def _is_word(word: str) -> bool:
    if word.isalpha():
        return True
    return any(c.isalpha() for c in word) and all(
        c.isalpha() or c in INSIDE or unicodedata.category(c).startswith("M") for c in word
    )


def shuffled_order(count: int, *, first: int, rng: int | np.random.Generator) -> np.ndarray[Any, Any]:
    """Return row numbers 0 … count−1 with the first ``first`` shuffled and the others in place.

    Rows sorted by frequency leak correspondences; results on shuffled rows did not use them.
    """
    if isinstance(first, bool) or not 0 <= first <= count:
        raise InputError(f"first: expected a whole number from 0 to the {count} rows, got {first!r}")
    order = np.arange(count)
    order[:first] = np.random.default_rng(rng).permutation(first)
    return order
