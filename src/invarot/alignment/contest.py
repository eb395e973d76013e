"""A contest: the map against reflections of itself, each improved for a few steps with its own balanced plan.

Two clouds of one kind fit each other even where they do not correspond, so that a good fit is not enough. Reflections of x in
its principal axes keep every distance within a cloud and the covariances that the map has matched: they are what a wrong
answer looks like. The contest is decided by what no map was fitted to: the surroundings of points and of their targets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy, transpose
from ..geometry.frames import weighted_second_moment
from ..retrieval.nearest import nearest_distances
from .loop.alternate import Run, alternate
from .loop.batches import make_batches
from .loop.stages import subproblem
from .neighbourhoods import TINY, Neighbourhoods, describe_neighbourhoods
from .problem import Problem, same_answers
from .tuning import CONTEST_AXES, FEW_POINTS, REFLECTIONS

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Lead:
    """By how much a map is ahead of its reflections; 0 where none of them is another answer.

    All but ``drift`` are in standard errors over the points.
    """

    nearer: float = 0.0  # how much nearer points lie to targets than under the reflection that scores highest
    drift: float = 0.0  # correlation of the offsets to neighbours, minus its mean over the reflections
    shape: float = 0.0  # agreement of how neighbours spread, minus its mean
    crowding: float = 0.0  # agreement of how near they are, minus its mean


def run_contest(problem: Problem, w: Array, rng: np.random.Generator) -> Lead:
    """Compare w (dx, dy) with its reflections that end at another answer."""
    xp = namespace(w)
    problem, w = keep_leading_axes(problem, w)
    small = subproblem(problem, FEW_POINTS, rng)
    if min(small.x.shape[0], small.y.shape[0]) <= 2:
        return Lead()
    maps = xp.concat([w[None], reflect(small, w, rng)])
    runs = [alternate(small, maps[part], problem.budgets.contest) for part in make_batches(small, maps.shape[0])[0]]
    found = xp.concat([run.maps for run in runs])
    others = np.flatnonzero(~same_answers(small, found[0], found[1:])) + 1
    if len(others) == 0:
        return Lead()
    ends = [(run, index) for run in runs for index in range(len(run.values))]
    best = max(others, key=lambda k: float(ends[k][0].values[ends[k][1]]))
    images = small.x @ found[np.asarray([0, best])]
    gap, rival_gap = (xp.sqrt(nearest_distances(one, small.y)) for one in images)
    here, there = describe_neighbourhoods(small.x), describe_neighbourhoods(small.y)
    agreement = [_compare_surroundings(here, there, *ends[k]) for k in (0, *others)]
    drift, shape, crowding = agreement[0] - np.mean(agreement[1:], axis=0)
    return Lead(
        nearer=_count_errors(to_numpy(rival_gap - gap).astype(np.float64)),
        drift=float(drift.sum()),
        shape=_count_errors(shape),
        crowding=_count_errors(crowding),
    )


def _count_errors(values: Floats) -> float:
    """Return how many standard errors their mean lies above 0."""
    return float(values.mean() * len(values) ** 0.5 / max(values.std(), TINY))


def _compare_surroundings(here: Neighbourhoods, there: Neighbourhoods, run: Run, index: int) -> Floats:
    """Return what each point adds to the correlation of its surroundings with those of its targets: (3, n)."""
    xp, w = namespace(run.maps), run.maps[index]
    (n, dx), (m, dy) = here.drift.shape, there.drift.shape
    targets = run.plan(index).apply(there.table) * (n * m) ** 0.5
    drift = xp.sum((here.drift @ w) * targets[:, :dy], axis=1)
    moved = transpose(w) @ xp.reshape(here.shape, (n, dx, dx)) @ w
    shape = xp.sum(xp.reshape(moved, (n, dy * dy)) * targets[:, dy : dy + dy * dy], axis=1)
    crowding = xp.sum(here.crowding * targets[:, dy + dy * dy :], axis=1)
    return to_numpy(xp.stack([drift, shape, crowding])).astype(np.float64)


def reflect(problem: Problem, w: Array, rng: np.random.Generator) -> Array:
    """Return w (dx, dy) after reflections of x in its principal axes (s, dx, dy).

    All of them in few dimensions; else in each of the strongest axes, in all axes, and in random sets.
    """
    xp = namespace(w)
    _, axes = xp.linalg.eigh(problem.second_moment)
    mirror = as_like(_choose_signs(axes.shape[0], rng), w)
    return (axes[None, :, :] * mirror[:, None, :]) @ (transpose(axes) @ w)


def _choose_signs(d: int, rng: np.random.Generator) -> Floats:
    if 2**d - 1 <= REFLECTIONS:
        return np.asarray(list(product([1.0, -1.0], repeat=d))[1:])
    signs = rng.choice([-1.0, 1.0], size=(REFLECTIONS, d))
    single = min(d, REFLECTIONS // 2 - 1)
    signs[:single] = 1.0
    signs[np.arange(single), d - 1 - np.arange(single)] = -1.0
    signs[single] = -1.0
    return signs[np.any(signs < 0, axis=1)]


def keep_leading_axes(problem: Problem, w: Array) -> tuple[Problem, Array]:
    """Return the problem in the leading principal axes of each cloud, where unlike clouds agree most, and the map for it."""
    xp = namespace(w)
    if max(w.shape) <= CONTEST_AXES:
        return replace(problem, objective="simplified", on_step=None), w
    into, out = (
        xp.flip(xp.linalg.eigh(weighted_second_moment(points, weights))[1], axis=1)[:, :CONTEST_AXES]
        for points, weights in ((problem.x, problem.a), (problem.y, problem.b))
    )
    x, y = problem.x @ into, problem.y @ out
    seeds = None if problem.seed_moment is None else transpose(into) @ problem.seed_moment @ out
    found = replace(
        problem, x=x, y=y, second_moment=weighted_second_moment(x, problem.a), seed_moment=seeds,
        objective="simplified", on_step=None,
    )  # fmt: skip
    return found, as_like(problem.maps.fit((transpose(into) @ w @ out)[None])[0], x)
