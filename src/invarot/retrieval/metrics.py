"""Retrieval accuracy: precision@k, mean reciprocal rank, coverage."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy, transpose
from ..errors import InputError
from .neighbours import check_clouds
from .scores import each_block, penalty, slice_rows

Gold = Mapping[int, Collection[int]]


@dataclass(frozen=True)
class Accuracy:
    """Retrieval accuracy against gold pairs; shares between 0 and 1."""

    precision: dict[int, float]  # k -> share of queries with a correct answer among the first k
    mrr: float
    queries: int
    method: str


def precision_at(ranks: Array, k: int) -> float:
    """Return the share of queries with a correct answer among the first ``k``."""
    return float(np.mean(to_numpy(ranks) <= k))


def mean_reciprocal_rank(ranks: Array) -> float:
    return float(np.mean(1.0 / to_numpy(ranks)))


def coverage(asked: Iterable[str], known: Collection[str]) -> float:
    """Return the share of distinct words in ``asked`` that are in ``known``; 0 if ``asked`` is empty."""
    words = set(asked)
    return sum(word in known for word in words) / len(words) if words else 0.0


def gold_ranks(
    x: Array,
    y: Array,
    gold: Gold,
    *,
    method: str = "csls",
    csls_k: int = 10,
    temperature: float = 0.05,
    block: int | None = None,
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the rank (from 1) of the first correct answer to each query, queries sorted.

    Parameters
    ----------
    x, y : array (n, d), (m, d)
        Both clouds in one space; all rows of ``x`` count in the hub penalties.
    gold : dict
        Source row -> correct target rows. A wrong target with the same score as a correct one ranks first.
    """
    queries, answers = _check_gold(gold, x.shape[0], y.shape[0])
    x, y = check_clouds(x, y, method, csls_k, temperature)
    xp = namespace(x, y)
    lowered = penalty(x, y, method=method, csls_k=csls_k, temperature=temperature, block=block)
    asked = xp.take(x, as_like(queries, x, dtype=xp.int64), axis=0)

    right, counts = _as_table(answers)

    def work(rows: slice) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        scores = asked[rows] @ transpose(y) - lowered
        own = xp.take_along_axis(scores, as_like(right[rows], x, dtype=xp.int64), axis=1)
        best = xp.max(own, axis=1)[:, None]
        correct = to_numpy(own >= best) & (np.arange(right.shape[1]) < counts[rows, None])
        return 1 + to_numpy(xp.count_nonzero(scores >= best, axis=1)) - correct.sum(axis=1)

    return np.concatenate(list(each_block(work, slice_rows(asked, y, block), x)))


def _as_table(answers: list[list[int]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the answers as rows of one table, the first repeated where there are no more, and how many each row has."""
    counts = np.asarray([len(right) for right in answers])
    return np.asarray([right + right[:1] * (counts.max() - len(right)) for right in answers]), counts


def evaluate(
    x: Array,
    y: Array,
    gold: Gold,
    *,
    at: Sequence[int] = (1, 5, 10),
    method: str = "csls",
    csls_k: int = 10,
    temperature: float = 0.05,
    block: int | None = None,
) -> Accuracy:
    """Compute precision@k and MRR of retrieval from ``x`` into ``y`` against ``gold`` (source row -> correct target rows)."""
    ranks = gold_ranks(x, y, gold, method=method, csls_k=csls_k, temperature=temperature, block=block)
    return Accuracy({k: precision_at(ranks, k) for k in at}, mean_reciprocal_rank(ranks), len(ranks), method)


def _check_gold(gold: Gold, n: int, m: int) -> tuple[list[int], list[list[int]]]:
    queries = sorted(gold)
    answers = [sorted(set(gold[query])) for query in queries]
    if not queries or not all(answers):
        raise InputError(
            f"gold: expected source rows, each with at least one target row, got {len(queries)} queries, "
            f"{sum(not right for right in answers)} of them without; drop these"
        )
    low, high = min(right[0] for right in answers), max(right[-1] for right in answers)
    if queries[0] < 0 or queries[-1] >= n or low < 0 or high >= m:
        raise InputError(
            f"gold: expected rows of x below {n} and of y below {m}, got source rows {queries[0]} to "
            f"{queries[-1]} and target rows {low} to {high}"
        )
    return queries, answers
