"""The signs of the leading principal axes, all of them raced; the winner's plan carries them to all dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, as_like, namespace, on_cuda, to_numpy, transpose
from ..checks.points import in_range
from ..errors import InputError
from ..geometry.frames import mean_square
from ..retrieval.kmeans import kmeans
from ..transport.choice import make_cost
from ..transport.plan import EntropicPlan
from ..transport.sinkhorn import Potentials, sinkhorn
from .axes import top_axes
from .matching import moment_map
from .profiles import subsample

RACE_EPSILON = 1.0  # where the race begins
DROPPING_EPSILON = 0.2  # from where it drops maps
END_EPSILON = 0.03  # where it ends
LIFT_EPSILON = 0.02  # of the lift
RACE_DECAY = 0.9  # of epsilon per step: slow, so that a map follows its own optimum
KEPT_SHARE, KEPT_MAPS = 0.75, 32  # share of the maps that go on after a step, and how many go on to the end
SAME_MAP = 0.9  # cosine between two maps, from which they are one at the end of the race
MERGED = 0.99  # the same during the race: from here on two maps climb to one optimum
RACE_SWEEPS, RACE_TOLERANCE = 10, 1e-2  # of Sinkhorn per step
BATCH = 1 << 20  # entries of the plans of a batch on the CPU: they stay in cache
MOST_AXES = 16  # 2^16 patterns of signs are ranked at once


def leading(
    x: Array,
    y: Array,
    a: Array,
    b: Array,
    *,
    rng: np.random.Generator,
    axes: Sequence[int] = (6, 8, 10, 12),
    n_starts: int = 512,
    n_centroids: int = 200,
    n_points: int = 2000,
    finalists: int = 4,
    ordered: bool = False,
) -> Array:
    """Return up to ``finalists`` candidates for each number of leading axes; for spaces of unlike models.

    Unlike spaces agree in their leading directions more than in the others. At a high epsilon the alternation has one
    optimum for every pattern of signs of the principal axes, so in few dimensions all of them can be tried. Centroids of both
    clouds in their k leading axes are matched from each pattern while epsilon falls slowly, and the worse maps are dropped.
    The plan of a winner, solved on more points in k dimensions, gives the moment in all dimensions (docs/method.md).

    Parameters
    ----------
    x, y, a, b, rng
        As of every start (:mod:`invarot.starts`).
    axes : ints
        Numbers of leading axes, each raced by itself (at most 16, and at most the smaller dimension).
    n_starts : int
        Patterns of signs per race: those whose third moments agree best.
    n_centroids : int
        Centroids of each cloud in the race.
    n_points : int
        Points of each cloud in the solve that follows.
    finalists : int
        Different maps of a race, at most, that are carried to all dimensions.
    ordered : bool
        Rows are sorted by importance: the points of that solve are then the first rows.

    Returns
    -------
    maps : array (s, dx, dy)
    """
    if min(n_starts, n_centroids, n_points, finalists, *axes) < 1 or max(axes) > MOST_AXES:
        raise InputError(
            f"axes, n_starts, n_centroids, n_points, finalists: expected numbers ≥ 1, axes ≤ {MOST_AXES}, got "
            f"{tuple(axes)}, {n_starts}, {n_centroids}, {n_points} and {finalists}"
        )
    (some_x, a_s, _), (some_y, b_s, _) = (subsample(p, w, n_points, ordered=ordered) for p, w in ((x, a), (y, b)))
    moments = []
    for k in sorted({min(k, x.shape[1], y.shape[1]) for k in axes}):
        vx, vy = top_axes(x, a, k), top_axes(y, b, k)
        sides = [
            kmeans(points @ v, weights, n_centroids, rng=rng, rounds=5, spread=False)
            for points, v, weights in ((x, vx, a), (y, vy, b))
        ]
        (cx, mass_x), (cy, mass_y) = _to_single(sides)
        signs = as_like(rank_signs(third_moment(cx, mass_x) * third_moment(cy, mass_y))[:n_starts], cx)
        turns = signs[:, :, None] * as_like(np.eye(k), cx)
        race = anneal(cx, cy, mass_x, mass_y, turns, RACE_EPSILON, END_EPSILON, least=max(KEPT_MAPS, finalists))
        low = some_x @ vx, some_y @ vy
        chosen = as_like(race.maps[as_like(_distinct(race.maps, SAME_MAP, finalists), x, dtype=namespace(x).int64)], x)
        lifted = anneal(*low, a_s, b_s, chosen, END_EPSILON, LIFT_EPSILON, least=finalists)
        for number in range(lifted.maps.shape[0]):
            plan = lifted.plan(*low, a_s, b_s, number)
            moments.append(transpose(some_x) @ plan.apply(some_y))
    return moment_map(namespace(x).stack(moments))


def _to_single(sides: list[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
    """Return centroids and masses in single precision if its range is enough for both sides: a race only ranks maps."""
    xp = namespace(sides[0][0])
    least = float(xp.finfo(xp.float32).eps)
    if not all(in_range(points, xp.float32) and float(xp.min(mass)) > least / len(mass) for points, mass in sides):
        return sides
    return [(xp.astype(points, xp.float32), xp.astype(mass, xp.float32)) for points, mass in sides]


def third_moment(points: Array, weights: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return Σ wₙ xₙᵢ xₙⱼ xₙₖ (d, d, d)."""
    x, w = (to_numpy(one).astype(np.float64) for one in (points, weights))
    pairs = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    return np.asarray((pairs.T @ (w[:, None] * x)).reshape(x.shape[1], x.shape[1], x.shape[1]))


def rank_signs(
    agreement: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return all patterns of signs s (2^d, d), the largest Σ sᵢ sⱼ sₖ agreementᵢⱼₖ first.

    It is the first term of the objective, in powers of 1/ε, that depends on the signs.
    """
    d = agreement.shape[0]
    signs = 1.0 - 2.0 * ((np.arange(2**d)[:, None] >> np.arange(d)) & 1)
    scores = np.empty(len(signs))
    for i in range(0, len(signs), 4096):
        s = signs[i : i + 4096]
        pairs = (s[:, :, None] * s[:, None, :]).reshape(len(s), -1)
        scores[i : i + 4096] = np.sum((pairs @ agreement.reshape(d * d, d)) * s, axis=1)
    return np.asarray(signs[np.argsort(-scores, kind="stable")])


def _distinct(maps: Array, cosine: float, most: int) -> np.ndarray[Any, Any]:
    """Return the numbers of maps (s, k, k), at most ``most``, of which none is as near as ``cosine`` to one before it."""
    flat = to_numpy(maps).reshape(maps.shape[0], -1) / maps.shape[1] ** 0.5
    near = flat @ flat.T >= cosine
    merged = np.zeros(len(flat), dtype=bool)
    chosen: list[int] = []
    for number in range(len(flat)):
        if len(chosen) < most and not merged[number]:
            chosen.append(number)
            merged |= near[number]
    return np.asarray(chosen)


@dataclass(frozen=True)
class Race:
    """Maps (s, k, k), best first, and the potentials of their plans at an absolute epsilon."""

    maps: Array
    found: Potentials
    epsilon: float

    def plan(self, x: Array, y: Array, a: Array, b: Array, number: int) -> EntropicPlan:
        """Return the plan of one of the maps."""
        u, v, error = self.found.u[number], self.found.v[number], float(self.found.error[number])
        return EntropicPlan(x @ self.maps[number], y, a, b, u, v, self.epsilon, error, 0)


def anneal(x: Array, y: Array, a: Array, b: Array, w: Array, first: float, last: float, *, least: int) -> Race:
    """Alternate from maps w (s, k, k) while epsilon falls.

    Of maps that have become the same the best goes on; below ``DROPPING_EPSILON`` the worse ones are dropped step by step.
    """
    xp = namespace(x)
    unit = 2 * math.sqrt(mean_square(x, a) * mean_square(y, b)) or 1.0
    found, before, epsilon = Potentials.zero(a, b, starts=w.shape[0]), first, first
    while True:
        found = found.at(before / epsilon)
        steps = [_step(x, y, a, b, w[s], _take(found, s), epsilon * unit) for s in _batches(x, y, w.shape[0])]
        fitted, values, u, v, error = (xp.concat(parts, axis=0) for parts in zip(*steps, strict=True))
        best = np.argsort(-to_numpy(values), kind="stable")
        best = best[_distinct(to_numpy(fitted)[best], MERGED, len(best))]
        count = max(least, math.ceil(KEPT_SHARE * len(best))) if epsilon < DROPPING_EPSILON else len(best)
        rows = as_like(best[:count], x, dtype=xp.int64)
        found = Potentials(u[rows], v[rows], error[rows], 0)
        if epsilon <= last:
            return Race(w[rows], found, epsilon * unit)
        w, before, epsilon = fitted[rows], epsilon, max(RACE_DECAY * epsilon, last)


def _step(x: Array, y: Array, a: Array, b: Array, w: Array, warm: Potentials, epsilon: float) -> tuple[Array, ...]:
    """Return the next maps (s, k, k), their scores (s,), and the potentials and errors of the plans of w."""
    cost = make_cost(x @ w, y, 2 / epsilon, a, b, memory=None)
    found = sinkhorn(cost, a, b, warm=warm, tol=RACE_TOLERANCE, max_iter=RACE_SWEEPS, accelerate=False)
    moment = transpose(x) @ cost.images(found.u, found.v)[0]
    fitted = moment_map(moment)
    return fitted, namespace(x).sum(moment * fitted, axis=(-2, -1)), found.u, found.v, found.error


def _take(found: Potentials, rows: slice) -> Potentials:
    return Potentials(found.u[rows], found.v[rows], found.error[rows], 0)


def _batches(x: Array, y: Array, starts: int) -> list[slice]:
    """Return slices of the starts: all at once on CUDA, else as many as stay in cache."""
    size = starts if on_cuda(x) else max(1, BATCH // (x.shape[0] * y.shape[0]))
    return [slice(i, i + size) for i in range(0, starts, size)]
