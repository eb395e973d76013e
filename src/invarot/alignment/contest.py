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
from ..retrieval.nearest import nearest, nearest_distances
from .loop.alternate import alternate
from .loop.batches import make_batches
from .loop.stages import subproblem
from .neighbourhoods import TINY, describe_neighbourhoods
from .problem import Problem, same_answers
from .tuning import CONTEST_AXES, FEW_POINTS, REFLECTIONS

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Lead:
    """By how much a map is ahead of its reflections; 0 where none of them is another answer.

    ``nearer``, ``shape`` and ``crowding`` are in standard errors over the points.
    """

    nearer: float = 0.0  # how much nearer targets lie to an image than under the reflection that scores highest
    drift: float = 0.0  # correlation of the offsets to neighbours, minus its mean over the reflections
    shape: float = 0.0  # agreement of how neighbours spread, minus its mean
    crowding: float = 0.0  # agreement of how near they are, minus its mean
    density: float = 0.0  # that agreement itself, a correlation


def run_contest(problem: Problem, w: Array, rng: np.random.Generator) -> Lead:
    """Compare w (dx, dy) with its reflections that end at another answer.

    They are improved on few points; what decides is looked up among all points, where single points have their counterparts.
    """
    xp = namespace(w)
    problem, w = keep_leading_axes(problem, w)
    small = subproblem(problem, FEW_POINTS, rng)
    if min(small.x.shape[0], small.y.shape[0]) <= 2:
        return Lead()
    maps = xp.concat([w[None], reflect(small, w, rng)])
    runs = [alternate(small, maps[part], problem.budgets.contest) for part in make_batches(small, maps.shape[0])[0]]
    found, values = xp.concat([run.maps for run in runs]), np.concatenate([run.values for run in runs])
    others = np.flatnonzero(~same_answers(small, found[0], found[1:])) + 1
    if len(others) == 0:
        return Lead()
    some, targets = (
        as_like(rng.permutation(points.shape[0])[:FEW_POINTS], w, dtype=xp.int64) for points in (problem.x, problem.y)
    )
    left = [found[int(k)] for k in (0, *others)]
    best = left[1 + int(np.argmax(values[others]))]
    gap, rival_gap = (_measure_gaps(problem.y[targets], problem.x @ one) for one in (left[0], best))
    agreement = _compare_surroundings(problem, left, some)
    drift, shape, crowding = agreement[0] - np.mean(agreement[1:], axis=0)
    return Lead(
        nearer=_count_errors(rival_gap - gap),
        drift=float(drift.sum()),
        shape=_count_errors(shape),
        crowding=_count_errors(crowding),
        density=float(agreement[0, 2].sum()),
    )


def _measure_gaps(y: Array, z: Array) -> Floats:
    """Return the distance of each row of y to the nearest row of z."""
    return to_numpy(namespace(z).sqrt(nearest_distances(y, z))).astype(np.float64)


def _count_errors(values: Floats) -> float:
    """Return how many standard errors their mean lies above 0."""
    return float(values.mean() * len(values) ** 0.5 / max(values.std(), TINY))


def _compare_surroundings(problem: Problem, maps: list[Array], some: Array) -> Floats:
    """Return what each of k rows of x adds to the correlation of its surroundings with those of its nearest target: (s, 3, k)."""
    xp = namespace(some)
    targets = np.stack([to_numpy(nearest(problem.x[some] @ one, problem.y)) for one in maps])
    reached, inverse = np.unique(targets, return_inverse=True)  # each is described once
    place = as_like(inverse.reshape(targets.shape), some, dtype=xp.int64)
    drift, shape, crowding = describe_neighbourhoods(problem.x, some).standardise()
    there = describe_neighbourhoods(problem.y, as_like(reached, some, dtype=xp.int64))
    found = []
    for w, rows in zip(maps, place, strict=True):
        (dx, dy), (its_drift, its_shape, its_crowding) = w.shape, there.take(rows).standardise()
        moved = transpose(w) @ xp.reshape(shape, (-1, dx, dx)) @ w
        sums = (
            xp.sum((drift @ w) * its_drift, axis=1),
            xp.sum(xp.reshape(moved, (-1, dy * dy)) * its_shape, axis=1),
            xp.sum(crowding * its_crowding, axis=1),
        )
        found.append(to_numpy(xp.stack(sums)).astype(np.float64))
    return np.stack(found)


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
