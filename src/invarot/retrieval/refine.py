"""Refinement of a map by the pairs it finds: mutual neighbours → partly whitened correlation → map, repeated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy, transpose
from ..checks import check_choice, check_count, check_number
from ..errors import InputError
from .common_space import common_space
from .pairs import choices, matches

WEIGHTS = ("rank", "uniform")
KEPT = 0.9  # least share of the previous round's pairs
KEPT_FIRST = 0.75  # the first round goes from an orthogonal map to a re-weighted space, where fewer pairs are mutual


@dataclass(frozen=True)
class Round:
    """One round: the pairs found by the maps before it, and the correlations of the maps after it."""

    pairs: int  # mutual neighbours
    changed: float  # share of pairs that are new in this round
    score: float  # their mean retrieval score
    correlation: float  # mean canonical correlation over the dimensions
    watched: float | None = None  # result of ``watch`` for the maps after it


@dataclass(frozen=True)
class Refined:
    """Two linear maps into a common space, and the history of their refinement.

    ``status`` is "settled" (the pairs stopped changing), "rounds" (all rounds were used), "few pairs" (too few to fit a
    map: the last fit is undone) or "lost pairs" (a round found clearly fewer pairs and was
    undone).
    """

    x_map: Array  # (dx, d): x @ x_map
    y_map: Array  # (dy, d): y @ y_map
    pairs: tuple[Array, Array]  # rows of x and of y: the mutual neighbours the maps were fitted to
    correlations: Array  # (d,), decreasing
    history: tuple[Round, ...]
    status: str

    @property
    def map(self) -> Array:
        """One map (dx, dy) into y's space, with the norm of a rotation.

        ``(x @ map) · y`` is the inner product in the common space; the cosine with an unmapped y is a little less
        accurate than with both maps.
        """
        xp = namespace(self.x_map)
        both = self.x_map @ transpose(self.y_map)
        return both * (min(both.shape) / float(xp.sum(both * both))) ** 0.5


def refine(
    x: Array,
    y: Array,
    start: Array | tuple[Array, Array],
    *,
    rounds: int = 5,
    tol: float = 0.02,
    csls_k: int = 10,
    weight: str = "rank",
    trust: tuple[Array, Array] | None = None,
    power: float = 1.0,
    dewhiten: float = 0.5,
    ridge: float = 2.0,
    min_pairs: float = 0.5,
    loose: float = 0.0,
    block: int | None = None,
    progress: Callable[[Round], None] | None = None,
    watch: Callable[[Array, Array], float] | None = None,
) -> Refined:
    """Improve a map with the pairs it finds, without labels.

    Each round takes the mutual nearest neighbours under the current maps, weights them, and fits :func:`common_space`
    to them. It stops when fewer than ``tol`` of the pairs are new, or when a round loses pairs (and is undone).

    Parameters
    ----------
    x : array (n, dx)
        Source points, preprocessed as for the solve.
    y : array (m, dy)
        Target points.
    start : array (dx, dy), or two: (dx, d) and (dy, d)
        An approximate map, ``x @ start`` lies in y's space; or the two maps of an earlier refinement.
    rounds : int
        Maximal number of rounds; 0 returns the start.
    tol : float
        Share of new pairs below which the pairs have settled.
    csls_k, block
        As in :func:`~invarot.retrieval.pairs.matches`.
    weight : {"rank", "uniform"}
        "rank" weights a pair by the rank of its score among all pairs.
    trust : two arrays (n,) and (m,), or None
        Reliability of each point, such as the length of a word's vector, which grows with its evidence. The weight of a
        pair is then √rank (or 1) times the trust of both points.
    power, dewhiten, ridge
        As in :func:`common_space`.
    min_pairs : float
        With fewer pairs than this times the larger dimension no map is fitted: the maps are unchanged.
    loose : float
        Weight of non-mutual pairs relative to mutual ones in one last fit after the rounds, where all pairs are weighted
        by rank (not its root) times the trust of both points. 0 skips the last fit. If there are few pairs per
        dimension, more pairs help although fewer of them are right.
    progress : callable or None
        Called with each :class:`Round`.
    watch : callable or None
        Called with the maps ``(x_map, y_map)`` of each round; its result, such as an accuracy, is kept in the history.

    Returns
    -------
    Refined

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((200, 5))
    >>> turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    >>> found = refine(x, x @ turn, turn + 0.2 * rng.standard_normal((5, 5)))
    >>> found.status, len(found.pairs[0])
    ('settled', 200)
    """
    xp = namespace(x, y)
    x_map, y_map = _check_start(x, y, start)
    _check(rounds, tol, weight, power, dewhiten, ridge, min_pairs)
    check_number(loose, "loose", low=0)
    if trust is not None and [tuple(one.shape) for one in trust] != [(x.shape[0],), (y.shape[0],)]:
        raise InputError(
            f"trust: expected one number per point, {x.shape[0]} and {y.shape[0]}, got shapes "
            f"{' and '.join(str(tuple(one.shape)) for one in trust)}"
        )
    correlations = xp.ones_like(x_map[0, :])
    empty = as_like(np.empty(0, dtype=np.int64), x, dtype=xp.int64)
    pairs, status = (empty, empty), "rounds"
    history: list[Round] = []
    previous: tuple[Array, Array, Array, tuple[Array, Array]] | None = (
        None  # the maps before the last fit, and their pairs
    )

    def fit(i: Array, j: Array, score: Array, changed: float, worth: Array | None, count: int) -> None:
        nonlocal x_map, y_map, correlations
        space = common_space(
            xp.take(x, i, axis=0), xp.take(y, j, axis=0), worth, power=power, dewhiten=dewhiten, ridge=ridge
        )
        x_map, y_map, correlations = space.x_map, space.y_map, space.correlations
        watched = None if watch is None else watch(x_map, y_map)
        history.append(Round(count, changed, float(xp.mean(score)), float(xp.mean(correlations)), watched))
        if progress is not None:
            progress(history[-1])

    for _ in range(rounds):
        i, j, score = matches(x @ x_map, y @ y_map, csls_k=csls_k, block=block)
        if i.shape[0] < min_pairs * max(x.shape[1], y.shape[1]):
            status = "few pairs"
        elif history and i.shape[0] < (KEPT if len(history) > 1 else KEPT_FIRST) * history[-1].pairs:
            status = "lost pairs"
        if status != "rounds":
            if previous is not None:
                x_map, y_map, correlations, pairs = previous
            break
        changed = new_pairs((i, j), pairs, y.shape[0])
        previous, pairs = (x_map, y_map, correlations, pairs), (i, j)
        fit(i, j, score, changed, _weigh_pairs(i, j, score, weight, trust), i.shape[0])
        if changed < tol:
            status = "settled"
            break
    if loose and history and status in ("settled", "rounds"):
        i, j, score, both = choices(x @ x_map, y @ y_map, csls_k=csls_k, block=block)
        worth = xp.where(both, xp.ones_like(score), loose * xp.ones_like(score))
        for part in (_weigh_pairs(i, j, score, "uniform", trust), rank_weights(score) if weight == "rank" else None):
            worth = worth if part is None else worth * part
        kept = as_like(np.flatnonzero(to_numpy(both)), x, dtype=xp.int64)
        found = xp.take(i, kept, axis=0), xp.take(j, kept, axis=0)
        changed = new_pairs(found, pairs, y.shape[0])
        pairs = found
        fit(i, j, xp.take(score, kept, axis=0), changed, worth, kept.shape[0])
    return Refined(x_map, y_map, pairs, correlations, tuple(history), status)


def _weigh_pairs(i: Array, j: Array, score: Array, weight: str, trust: tuple[Array, Array] | None) -> Array | None:
    """Return the weight of each pair (i, j)."""
    ranks = rank_weights(score) if weight == "rank" else None
    if trust is None:
        return ranks
    xp = namespace(score)
    both = xp.take(trust[0], i, axis=0) * xp.take(trust[1], j, axis=0)
    return both if ranks is None else both * xp.sqrt(ranks)


def rank_weights(score: Array) -> Array:
    """Return weights 1/p … 1, increasing with the score."""
    values = to_numpy(score)
    order = np.empty(values.shape[0])
    order[np.argsort(values, kind="stable")] = np.arange(1, values.shape[0] + 1)
    return as_like(order / values.shape[0], score)


def new_pairs(now: tuple[Array, Array], before: tuple[Array, Array], m: int) -> float:
    """Return the share of pairs ``now`` that are not among those ``before``."""
    keys, old = (to_numpy(i) * m + to_numpy(j) for i, j in (now, before))
    return 1 - float(np.isin(keys, old).mean())


def _check_start(x: Array, y: Array, start: Array | tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the maps to start from: those given, or the one given and the identity."""
    if isinstance(start, tuple):
        if [one.shape[0] for one in start] != [x.shape[1], y.shape[1]] or start[0].shape[1] != start[1].shape[1]:
            raise InputError(
                f"start: expected maps of x and of y into one space, shapes ({x.shape[1]}, d) and ({y.shape[1]}, d), "
                f"got {' and '.join(str(tuple(one.shape)) for one in start)}; pass x_map and y_map of one refinement"
            )
        return start
    if tuple(start.shape) != (x.shape[1], y.shape[1]):
        raise InputError(
            f"start: expected a map of shape ({x.shape[1]}, {y.shape[1]}), x @ start in y's space, got "
            f"shape {tuple(start.shape)}; pass its transpose if it maps y to x"
        )
    return start, namespace(x, y).eye(y.shape[1], dtype=y.dtype, device=getattr(y, "device", None))


def _check(rounds: int, tol: float, weight: str, power: float, dewhiten: float, ridge: float, min_pairs: float) -> None:
    check_count(rounds, "rounds", low=0)
    check_number(tol, "tol", low=0, high=1)
    check_choice(weight, "weight", WEIGHTS)
    check_number(power, "power", low=0)
    check_number(dewhiten, "dewhiten", low=0, high=1)
    check_number(ridge, "ridge", low=0)
    check_number(min_pairs, "min_pairs", low=0)
