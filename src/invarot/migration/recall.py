"""How much of the new model's own search a migrated store returns: measured on pairs, or estimated without any."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import check_count
from ..errors import InputError

AT = 10
LEAST = 50  # pairs that a measurement needs
QUERIES, DOCUMENTS = 1000, 8000  # of a sample, at most
# python benchmarks/migrate.py --calibrate: fitted on MiniLM–mpnet and on word vectors, never on other pairs, in the new space
DOUBLING = 0.017  # what recall loses when a store doubles
FIT = (1.528, 0.619, -0.097)  # log(1 − recall) = FIT · (1, log(1.02 − r), log documents)
MARGIN = 0.12  # of the estimate: its largest error on pairs of models it was not fitted on
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
        if not self.measured:
            said.append(
                "estimated from how near vectors of the two models lie to each other, beside how near each lies to its own "
                "kind; pass --check-pairs to measure it"
            )
        return tuple(said)


def measure_recall(mapped: Any, new: Any, *, store: int, others: tuple[Any, Any] | None = None, at: int = AT) -> Recall:
    """Measure recall on pairs: row i of ``mapped`` (k, d) and of ``new`` (k, d) are the same text, all of unit length.

    ``others`` are mapped old vectors and new vectors of any other texts: they fill both spaces up to the density of a larger
    store, and some of the new ones are queries too. Of the pairs that are among the ``at`` nearest of a query in the new space,
    how many are so in the mapped one? The value is carried over to ``store`` rows where there are more than that.
    """
    check_count(at, "at")
    count = len(new)
    if count < max(LEAST, at + 2):
        raise InputError(
            f"check_pairs: expected at least {max(LEAST, at + 2)} pairs to measure recall on, got {count}; embed more texts"
        )
    fill_old, fill_new = (mapped[:0], new[:0]) if others is None else others
    asked = np.concatenate([new[:QUERIES], fill_new[: min(2 * QUERIES, len(fill_new) // 4)]])
    fill_new = fill_new[len(asked) - min(count, QUERIES) :]
    size = min(len(fill_old), len(fill_new), max(store - count, 0))
    right = _among_nearest(asked, new, fill_new[:size], at)
    hits = int((right & _among_nearest(asked, mapped, fill_old[:size], at)).sum())
    raw = hits / max(int(right.sum()), 1)
    steps = math.log2(max(store, at + 1) / (count + size))
    margin = 2 * math.sqrt(0.25 / max(int(right.sum()) / 3, 1)) + MARGIN_DOUBLING * abs(
        steps
    )  # hits come in threes or so
    return Recall(_clip(raw - DOUBLING * steps), margin, True, raw, count, at)


def estimate_recall(turn: Any, held: Any, old: Any, new: Any, *, store: int) -> Recall:
    """Estimate recall@10 from old vectors (n, dx), the orthogonal map ``turn`` (dx, dy) and new vectors (m, dy) of other texts.

    ``held`` (q, dx) are old vectors that the map was not fitted on: those it was fitted on lie too near to the new
    ones. In units of the spread of all cosines, how far do the ten nearest stand out across the two clouds, beside inside
    each? That ratio r is 1 for one model and falls with what two models disagree on.
    """
    held, old, new = join_spaces(turn, held, old, new)
    r, documents = compare_clouds(held, old, new)
    one, slope, size = FIT
    raw = 1 - math.exp(one + slope * math.log(max(1.02 - r, 0.01)) + size * math.log(documents))
    steps = math.log2(max(store, AT + 1) / documents)
    return Recall(_clip(raw - DOUBLING * steps), MARGIN + MARGIN_DOUBLING * abs(steps), False, raw, documents)


def join_spaces(turn: Any, held: Any, old: Any, new: Any) -> tuple[Any, Any, Any]:
    """Return the vectors in the space of more dimensions, at unit length.

    In the other one, the larger model would have lost what the smaller one has no room for, and look more alike than it is.
    """
    if turn.shape[0] > turn.shape[1]:
        return held, old, _unit(new @ turn.T)
    return _unit(held @ turn), _unit(old @ turn), new


def _unit(rows: Any) -> Any:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def compare_clouds(held: Any, x: Any, y: Any) -> tuple[float, int]:
    """Return how far the neighbours of ``held`` stand out in y, beside those inside x and inside y, and the documents of each.

    All rows have unit length; ``held`` (q, d) are of x's kind, and not in it.
    """
    queries = min(QUERIES, len(held), len(y) // 5)
    documents = min(len(x), len(y) - queries, DOCUMENTS)
    if queries < 1 or documents <= AT:
        raise InputError(
            f"sample: expected more than {AT} vectors of each model, got {len(x)} and {len(y)}; embed more texts"
        )
    asked, own, others = held[:queries], x[:documents], y[queries : queries + documents]
    inside = _stand_out(asked, own) * _stand_out(y[:queries], others)
    return _stand_out(asked, others) / math.sqrt(inside), documents


def _stand_out(queries: Any, documents: Any) -> float:
    """Return the mean of the ten largest cosines of each query, in standard deviations above its mean cosine."""
    cosines = queries @ documents.T
    best = np.partition(cosines, -AT, axis=1)[:, -AT:].mean(axis=1)
    return float(np.mean((best - cosines.mean(axis=1)) / np.maximum(cosines.std(axis=1), 1e-12)))


def _among_nearest(asked: Any, pairs: Any, others: Any, at: int) -> np.ndarray[Any, Any]:
    """Return (queries, pairs) flags: is a pair among the ``at`` nearest of all? The first queries are pairs: not their own."""
    own = asked @ pairs.T
    first = np.arange(min(len(asked), len(pairs), QUERIES))
    own[first, first] = -np.inf
    every = np.concatenate([own, asked @ others.T], axis=1)
    found: np.ndarray[Any, Any] = own >= np.partition(every, -at, axis=1)[:, -at][:, None]
    return found


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)
