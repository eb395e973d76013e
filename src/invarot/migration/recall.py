"""How much of the new model's own search a migrated store returns: measured on pairs, or estimated without any."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import check_count
from ..errors import InputError

AT = 10
LEAST_PAIRS = 50  # pairs that a measurement needs
ASKED = 4000  # queries of a measurement, at most
SPAN = 2  # a reach is fitted to the ranks from half of it to twice
WIDER = 4  # times as many nearest documents: what recall gains with them, it loses in a store so many times as large
QUERIES_AT_ONCE = 1000  # queries at a time
ESTIMATE_QUERIES, ESTIMATE_DOCUMENTS = 1000, 8000  # of an estimate, at most
# python benchmarks/migrate.py --calibrate: fitted on MiniLM–wordllama and on word vectors, never on mpnet
FIT = (2.487, 0.755, -0.175)  # log(1 − recall) = FIT · (1, log(1.02 − r), log documents)
DOUBLING = 0.04  # of what is missed, so much more is missed in a store of twice as many rows
MARGIN = 0.09  # of the estimate: its largest error, of maps fitted on 4,000 texts (results/migrate.md)
MARGIN_DOUBLING = 0.015  # of each doubling from what was measured to the store


@dataclass(frozen=True)
class Recall:
    """The share of the new model's own ``at`` nearest documents that a search in the migrated store returns.

    ``value`` is for all rows of the store, ``measured`` (on pairs) or estimated; ``margin`` is how far it may be off;
    ``raw`` is the value among the ``documents`` it was found on.
    """

    value: float
    margin: float
    measured: bool
    raw: float
    documents: int
    at: int = AT

    @property
    def is_chance(self) -> bool:
        """Whether recall was measured and is not above nothing by its error: the pairs are no pairs, or the map is wrong."""
        return self.measured and self.raw <= _error(self.raw, self.documents)

    def __str__(self) -> str:
        how = f"measured on {self.documents} pairs" if self.measured else "estimated without pairs"
        return f"recall@{self.at} {self.value:.2f} ± {self.margin:.2f}, {how}"

    @property
    def meaning(self) -> tuple[str, ...]:
        """Return sentences that say what the number means."""
        said = [
            f"of the {self.at} documents that the new model itself would return for a query, about {self.value * self.at:.0f} "
            "are among those that the migrated store returns",
            "two models never agree on all neighbours, however they are mapped: half is a good figure",
        ]
        if self.is_chance:
            said = ["no more than chance finds: the pairs do not name the same texts, or the map is wrong"]
        if not self.measured:
            said.append(
                "estimated from how near vectors of the two models lie to each other, compared with how near vectors of one "
                "model lie to each other; pass check_pairs= to measure it"
            )
        return tuple(said)


def _error(raw: float, count: int) -> float:
    """Return two standard errors of a recall measured on so many pairs."""
    return 2 * math.sqrt(raw * (1 - raw) / count)


def measure_recall(mapped: Any, new: Any, *, store: int, others: tuple[Any, Any] | None = None, at: int = AT) -> Recall:
    """Measure recall on pairs: row i of ``mapped`` (k, d) and of ``new`` (k, d) are the same text, all of unit length.

    ``others`` are mapped old vectors and new vectors of any other texts: they fill both spaces up to the density of a larger
    store, and the new ones are queries too. Of the pairs that are among the ``at`` nearest of a query in the new space, how many
    are so in the mapped one? How near that is, is read off a line through the cosines of the ranks around it: the tenth nearest
    alone lies nearer by chance in one space than in the other, if each is filled by texts of its own. The value is carried over
    to ``store`` rows by what recall loses from ``WIDER`` times as many nearest documents to ``at``.
    """
    check_count(at, "at")
    count = len(new)
    if count < max(LEAST_PAIRS, at + 2):
        raise InputError(
            f"check_pairs: expected at least {max(LEAST_PAIRS, at + 2)} pairs to measure recall on, got {count}; embed more texts"
        )
    fill_old, fill_new = (mapped[:0], new[:0]) if others is None else others
    size = min(len(fill_old), len(fill_new), max(store - count, 0))
    asked = np.concatenate([new, fill_new])[:ASKED]
    spaces = np.concatenate([new, fill_new[:size]]), np.concatenate([mapped, fill_old[:size]])
    ranks = at, min(WIDER * at, (count + size) // WIDER)
    hits, right = np.zeros(2), np.zeros(2)
    for first in range(0, len(asked), QUERIES_AT_ONCE):
        rows = slice(first, first + QUERIES_AT_ONCE)
        near, found = (
            _among_nearest(asked[rows], one, own, first, count, ranks)
            for one, own in zip(spaces, (count + size, count), strict=True)
        )
        hits += (near & found).sum(axis=(1, 2))
        right += near.sum(axis=(1, 2))
    raw, wide = (float(one) for one in hits / np.maximum(right, 1))
    steps = math.log2(max(store, at + 1) / (count + size))
    margin = _error(raw, count) + MARGIN_DOUBLING * abs(steps)
    fall = min(raw / wide, 1.0) ** (1 / math.log2(ranks[1] / at)) if wide > 0 and ranks[1] > at else 1.0
    return Recall(_clip(raw * fall**steps), margin, True, raw, count, at)


def estimate_recall(turn: Any, held: Any, old: Any, held_new: Any, new: Any, *, store: int) -> Recall:
    """Estimate recall@10 from old vectors (n, dx), the orthogonal map ``turn`` (dx, dy) and new vectors (m, dy) of other texts.

    ``held`` (q, dx) and ``held_new`` (p, dy) are vectors that the map was not fitted on: those it was fitted on lie too near to
    the other model's. In units of the spread of all cosines, how far do the ten nearest stand out across the two clouds, beside
    inside each? That ratio r is 1 for one model and falls with what two models disagree on.
    """
    r, documents = compare_clouds(*join_spaces(turn, (held, old), (held_new, new)))
    one, slope, size = FIT
    raw = _clip(1 - math.exp(one + slope * math.log(max(1.02 - r, 0.01)) + size * math.log(documents)))
    steps = math.log2(max(store, AT + 1) / documents)
    fall = max(1 - DOUBLING * (1 - raw) / raw, 0.0) if raw > 0 else 1.0
    return Recall(_clip(raw * fall**steps), MARGIN + MARGIN_DOUBLING * abs(steps), False, raw, documents)


def join_spaces(turn: Any, old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return old vectors, then new ones, in the space of more dimensions, at unit length.

    In the other one, the larger model would have lost what the smaller one has no room for, and look more alike than it is.
    """
    if turn.shape[0] > turn.shape[1]:
        return *old, *(_unit(rows @ turn.T) for rows in new)
    return *(_unit(rows @ turn) for rows in old), *new


def _unit(rows: Any) -> Any:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def compare_clouds(held_x: Any, x: Any, held_y: Any, y: Any) -> tuple[float, int]:
    """Return how far the neighbours of held rows stand out in the other cloud, beside in their own, and the documents of each.

    All rows have unit length. The mean of both directions: a cloud that keeps to fewer directions stands out more in the other.
    """
    queries, documents = min(ESTIMATE_QUERIES, len(held_x), len(held_y)), min(len(x), len(y), ESTIMATE_DOCUMENTS)
    if queries < 1 or documents <= AT:
        raise InputError(
            f"sample: expected more than {AT} vectors of each model, and more vectors than dimensions, got {len(x)} and {len(y)}; "
            "embed more texts"
        )
    (held_x, held_y), (x, y) = ((one[:queries] for one in (held_x, held_y)), (one[:documents] for one in (x, y)))
    inside = math.sqrt(_stand_out(held_x, x) * _stand_out(held_y, y))
    return (_stand_out(held_x, y) + _stand_out(held_y, x)) / (2 * inside), documents


def _stand_out(queries: Any, documents: Any) -> float:
    """Return the mean of the ten largest cosines of each query, in standard deviations above its mean cosine."""
    cosines = queries @ documents.T
    best = np.partition(cosines, -AT, axis=1)[:, -AT:].mean(axis=1)
    return float(np.mean((best - cosines.mean(axis=1)) / np.maximum(cosines.std(axis=1), 1e-12)))


def _among_nearest(
    asked: Any, documents: Any, own: int, first: int, count: int, ranks: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """Return (ranks, queries, count) flags: does one of the first documents lie as near to a query as its ``rank`` nearest do?

    Query number k, counted from ``first``, is document k, if there are more than k of its ``own`` kind: that one is left out.
    """
    cosines = asked @ documents.T
    same = np.arange(first, min(first + len(asked), own))
    cosines[same - first, same] = -np.inf
    most = min(SPAN * max(ranks), len(documents) - 1)
    best = -np.sort(np.partition(-cosines, most - 1, axis=1)[:, :most], axis=1)
    return np.stack([cosines[:, :count] >= _reach(best, rank)[:, None] for rank in ranks])


def _reach(best: Any, rank: int) -> np.ndarray[Any, Any]:
    """Return the cosine above which ``rank`` documents lie, from the best ones of each query (q, most), in order."""
    first, last = max(rank // SPAN, 1), min(SPAN * rank, best.shape[1])
    line = np.polynomial.polynomial.polyfit(np.log(np.arange(first, last + 1) - 0.5), best[:, first - 1 : last].T, 1)
    return np.asarray(line[0] + line[1] * math.log(rank))


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)
