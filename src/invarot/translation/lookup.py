"""Words looked up in two vocabularies of a common space: translations, words without one, and their score by a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..arrays import to_numpy
from ..errors import InputError
from ..retrieval.metrics import evaluate
from ..retrieval.neighbours import neighbours
from ..words.dictionaries import Gold
from ..words.vectors import Vectors

SHORTLIST = 200  # nearest by cosine among which translations of a few words are searched

Floats = np.ndarray[Any, Any]


def find_rows(words: Sequence[str], vectors: Vectors) -> Floats:
    """Return the rows of ``words`` in a vocabulary; a word that is not there is an error."""
    rows = vectors.index()
    unknown = [word for word in words if word not in rows]
    if unknown:
        raise InputError(
            f"words: expected words of the vocabulary, got {', '.join(map(str, unknown[:5]))}"
            f"{' …' if len(unknown) > 5 else ''}, which {'are' if len(unknown) > 1 else 'is'} not among its "
            f"{len(vectors)} words; leave {'them' if len(unknown) > 1 else 'it'} out"
        )
    return np.asarray([rows[word] for word in words], dtype=np.int64)


def find_translations(
    x: Floats, y: Floats, rows: Floats, words: Sequence[str], targets: Sequence[str], *, k: int, method: str, lacking: set[str]
) -> dict[str, list[tuple[str, float]]]:  # fmt: skip
    """Return the ``k`` best of ``targets`` for each of ``words``, which are ``rows`` of x; none for those that are ``lacking``."""
    found, scores = neighbours(x, y, method=method, k=min(k, len(targets)), queries=rows, shortlist=SHORTLIST)
    found, scores = to_numpy(found), to_numpy(scores)
    return {
        word: []
        if word in lacking
        else [(targets[j], float(score)) for j, score in zip(found[i], scores[i], strict=True)]
        for i, word in enumerate(words)
    }


def find_lacking(x: Floats, y: Floats, overlap: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which rows of x (n,) have no counterpart: the share 1 − ``overlap`` whose best score in y, by CSLS, is lowest."""
    lacking = np.zeros(len(x), dtype=bool)
    if overlap < 1:
        best = to_numpy(neighbours(x, y, method="csls", k=1)[1])[:, 0]
        lacking[np.argsort(best, kind="stable")[: round(len(x) * (1 - overlap))]] = True
    return lacking


def find_gold(pairs: Iterable[tuple[str, str]], source: Vectors, target: Vectors) -> Gold:
    """Return the pairs of a dictionary whose words both vocabularies have; none at all is an error."""
    gold = Gold.from_pairs(pairs, source.words, target.words)
    if not gold.queries:
        raise InputError(
            "dictionary: expected words of the vocabularies with their translations, got none among its "
            f"{gold.listed} source words; check its direction"
        )
    return gold


def score_translations(x: Floats, y: Floats, gold: Gold, *, method: str) -> dict[str, Any]:
    """Return how many of the words of ``gold`` are translated right: precision, mean reciprocal rank and coverage."""
    found = evaluate(x, y, gold.targets, method=method)
    return {
        **{f"precision@{k}": value for k, value in found.precision.items()},
        "mrr": found.mrr,
        "coverage": gold.coverage,
        "queries": found.queries,
        "retrieval": found.method,
    }
