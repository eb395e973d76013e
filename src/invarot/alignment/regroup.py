"""Few points in many dimensions: groups of matches drawn afresh under the map of all the others, and every pair swapped.

With fewer points than dimensions a map can carry almost any point to almost any other, so a few swapped matches hold
each other in place: the map that they helped to fit likes them best. A map fitted without them does not. What the best
map scores once two points have exchanged their matches has a closed form, so that all pairs can be asked.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..arrays import Array, as_like, to_numpy
from ..transport.exact import are_uniform
from .problem import Problem
from .settings import Settings

CROWDED = 2  # points a dimension above which swapped matches do not hold
MOST_POINTS = 100
PASSES = 3
LOCAL = 0.7  # share of the groups that are neighbours; the others are drawn at random
NODES = 32  # of the integral that tells what a swap gains
Floats = np.ndarray[Any, Any]


def applies(problem: Problem, settings: Settings) -> bool:
    """Whether the problem is of the kind: orthogonal maps, one-to-one matches, few points a dimension."""
    count, d = problem.x.shape[0], min(problem.x.shape[1], problem.y.shape[1])
    plain = math.isinf(settings.p) and not settings.proper and settings.larger_is_better and problem.seeds is None
    few = 4 <= count == problem.y.shape[0] <= min(CROWDED * d, MOST_POINTS)
    return plain and few and are_uniform(problem.a, problem.b)


def regroup(problem: Problem, w: Array, rng: np.random.Generator) -> Array | None:
    """A map (dx, dy) with a better one-to-one score than ``w`` comes to, or None where none was found.

    A group is a point with its neighbours, or points drawn at random, of several sizes; or a point with the one that has
    the match it would rather have. Its matches are permuted to the best under the map fitted without it; the alternation
    goes on from there, and what scores higher is kept. So is the best of all swaps of two matches.
    """
    whole_x, whole_y = (to_numpy(points).astype(np.float64) for points in (problem.x, problem.y))
    count = len(whole_x)
    match = _assign(whole_x @ to_numpy(w).astype(np.float64) @ whole_y.T)
    x, y = _compact(whole_x), _compact(whole_y)  # the score does not know the coordinates
    first = match = _settle(x, y, match)
    best = _score(x, y, match)
    if best >= (1 - 1e-9) * float(np.sum(np.linalg.norm(x, axis=1) * np.linalg.norm(y[match], axis=1))):
        return None  # nothing left to gain
    near = np.argsort(np.sum(x**2, axis=1) / 2 - x @ x.T, axis=1)  # each row: the points, nearest first
    for _ in range(PASSES):
        before = best
        groups = [
            near[centre, :size] if rng.random() < LOCAL else rng.permutation(count)[:size]
            for size in sorted({max(2, count // part) for part in (16, 8, 4, 2)})
            for centre in rng.permutation(count)[: 2 * count // size]
        ]
        for group in [*groups, *range(count)]:
            if isinstance(group, int):
                group = _exchange(x, y, match, group)
            scores = x[group] @ _without(x, y, match, group) @ y[match[group]].T
            trial = match.copy()
            trial[group] = match[group][_assign(scores)]
            if np.array_equal(trial, match):
                continue
            trial = _settle(x, y, trial)
            value = _score(x, y, trial)
            if value > best * (1 + 1e-9):
                best, match = value, trial
        best, match = _swapped(x, y, match, best)
        if best == before:
            break
    return None if match is first else as_like(_polar(whole_x.T @ whole_y[match], full=True), w)


def _swapped(x: Floats, y: Floats, match: Floats, best: float) -> tuple[float, Floats]:
    """The score and the matching after the best swap of two matches, again and again while there is one that gains."""
    rows, columns = np.triu_indices(len(x), 1)
    for _ in range(len(x)):
        pair = int(np.argmax(swap_gains(x, y[match], rows, columns)))
        trial = match.copy()
        trial[[rows[pair], columns[pair]]] = match[[columns[pair], rows[pair]]]
        trial = _settle(x, y, trial)
        value = _score(x, y, trial)
        if value <= best * (1 + 1e-9):
            break
        best, match = value, trial
    return best, match


def swap_gains(x: Floats, y: Floats, rows: Floats, columns: Floats) -> Floats:
    """What ‖xᵀy‖_* gains for each pair (i, j) of rows and columns whose two rows of y are exchanged.

    A swap takes abᵀ from the moment, a = xᵢ − xⱼ and b = yᵢ − yⱼ; along its singular directions, of strengths σ, that adds

        (1/π) ∫₀^∞ log((1 − Σ σab/(t² + σ²))² + t² Σ a²/(t² + σ²) Σ b²/(t² + σ²)) dt.
    """
    u, s, vt = np.linalg.svd(x.T @ y)
    unit = float(np.mean(s))
    if unit == 0:
        return np.zeros(len(rows))
    s, left, right = s / unit, x @ u / unit**0.5, y @ vt.T / unit**0.5
    a, b = left[rows] - left[columns], right[rows] - right[columns]
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    angle = (nodes + 1) * (np.pi / 4)
    t, weights = np.tan(angle), unit * weights / (4 * np.cos(angle) ** 2)
    share = [1 / (t**2 + np.pad(s, (0, side - len(s)))[:, None] ** 2) for side in (a.shape[1], b.shape[1])]
    kept = 1 - (a[:, : len(s)] * b[:, : len(s)] * s) @ share[0][: len(s)]
    ratio = kept**2 + t**2 * (a**2 @ share[0]) * (b**2 @ share[1])
    return np.asarray(np.log(np.maximum(ratio, np.finfo(float).tiny)) @ weights)


def _without(x: Floats, y: Floats, match: Floats, group: Floats) -> Floats:
    """The map fitted to the matches of all points outside the group."""
    rest = np.setdiff1d(np.arange(len(x)), group)
    return _polar(x[rest].T @ y[match[rest]])


def _exchange(x: Floats, y: Floats, match: Floats, point: int) -> Floats:
    """The point, and the holder of the target that the others' map would give it, its own aside."""
    scores = x[point] @ _without(x, y, match, np.asarray([point])) @ y[match].T
    scores[point] = -np.inf
    return np.asarray([point, int(np.argmax(scores))])


def _assign(scores: Floats) -> Floats:
    return np.asarray(linear_sum_assignment(scores, maximize=True)[1])


def _compact(points: Floats) -> Floats:
    """The same points in as few coordinates as they need."""
    u, s, _ = np.linalg.svd(points, full_matrices=False)
    return np.asarray(u * s)


def _score(x: Floats, y: Floats, match: Floats) -> float:
    """max over orthogonal maps W of Σ ⟨xᵢW, y_match(i)⟩: a nuclear norm."""
    return float(np.linalg.svd(x.T @ y[match], compute_uv=False).sum())


def _polar(moment: Floats, *, full: bool = False) -> Floats:
    """The polar factor, on the directions that the moment knows unless ``full``."""
    u, s, vt = np.linalg.svd(moment, full_matrices=False)
    rank = len(s) if full else int(np.sum(s > 1e-6 * s[0]))
    return np.asarray(u[:, :rank] @ vt[:rank])


def _settle(x: Floats, y: Floats, match: Floats, steps: int = 20) -> Floats:
    """The exact alternation from a matching until it repeats."""
    for _ in range(steps):
        found = _assign(x @ _polar(x.T @ y[match]) @ y.T)
        if np.array_equal(found, match):
            break
        match = found
    return match
