"""Large problems in stages: the paper's bootstrap over any number of growing subsamples, or of centroids."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse

from ..arrays import Array, as_like, namespace, to_numpy, transpose
from .alternate import Observer, Run, alternate
from .problem import Problem
from .settings import Settings

FEW = 1500  # points of the first stage
MANY = 3000  # problems with fewer are solved at once
RATIO = 7  # of one stage's points to those of the one before
COARSE = 0.04  # epsilon at which a plan blurs more than a subsample loses
ROUNDS = 5  # of k-means: centroids that are only roughly right do as well
ROWS = 4096  # points assigned to their centroids at a time


def solve_in_stages(
    problem: Problem,
    maps: Array,
    settings: Settings,
    *,
    ordered: bool,
    rng: np.random.Generator,
    on_step: Observer | None,
) -> Run:
    """The default schedule for many points: the high epsilons on a subsample, the low ones on all.

    At a high epsilon a plan sees the shape of the clouds and not their points, so a subsample moves the map as well as all
    of them would, at a fraction of the price. Stages after the first go on at the last epsilon of the first: with more
    points to go by, the map is nearer to that of all of them.
    """
    schedule = settings.schedule
    sizes = stage_sizes(max(problem.x.shape[0], problem.y.shape[0]), settings)
    if not sizes or (settings.stages is None and schedule.epsilon <= COARSE):
        return alternate(problem, maps, settings, on_step=on_step)
    middle = min(max(COARSE, schedule.floor), schedule.epsilon)
    coarse = replace(settings, schedule=replace(schedule, floor=middle), max_iter=min(15, settings.max_iter), tol=1e-3)
    for size in sizes:
        few = subproblem(problem, size, rng, ordered, coarse=settings.coarse)
        name = f"{size} clusters" if settings.coarse == "clusters" else f"first {size}" if ordered else f"{size} points"
        maps = alternate(few, maps, coarse, stage=name, on_step=on_step).maps
        coarse = replace(
            coarse, schedule=replace(schedule, epsilon=middle, floor=middle), max_iter=min(5, settings.max_iter)
        )
    return alternate(problem, maps, replace(settings, schedule=replace(schedule, epsilon=middle)), on_step=on_step)


def stage_sizes(count: int, settings: Settings) -> list[int]:
    """Points of each stage before the last, which has all ``count``; none where the schedule is the caller's own."""
    if settings.stages is not None:
        return [size for size in settings.stages if size < count]
    if settings.sharpest is None or count <= MANY:
        return []
    sizes = [FEW]
    while sizes[-1] * RATIO * 3 < count:
        sizes.append(sizes[-1] * RATIO)
    return sizes


def subproblem(
    problem: Problem, size: int, rng: np.random.Generator, ordered: bool, *, coarse: str = "points"
) -> Problem:
    """At most ``size`` points of each cloud: the first where rows are ordered, else drawn at random, or centroids."""
    parts = []
    for points, weights in ((problem.x, problem.a), (problem.y, problem.b)):
        n = points.shape[0]
        if n > size and coarse == "clusters":
            points, weights = centroids(points, weights, size, rng)
        elif n > size:
            rows = np.arange(size) if ordered else np.sort(rng.choice(n, size, replace=False))
            index = as_like(rows, points, dtype=namespace(points).int64)
            points, weights = points[index], weights[index] / namespace(points).sum(weights[index])
        parts.append((points, weights))
    (x, a), (y, b) = parts
    return replace(problem, x=x, a=a, y=y, b=b)


def centroids(points: Array, weights: Array, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """At most ``count`` centres of weighted k-means and the weight of each one's points; no cluster is empty.

    The first centres are points drawn with their weights; the sums are made on the host, in float64.
    """
    xp = namespace(points)
    host, mass = to_numpy(points), to_numpy(weights).astype(np.float64)
    drawn = np.sort(rng.choice(len(mass), min(count, int(np.count_nonzero(mass))), replace=False, p=mass / mass.sum()))
    centres = points[as_like(drawn, points, dtype=xp.int64)]
    for _ in range(ROUNDS):
        square = xp.sum(centres**2, axis=1)
        nearest = np.concatenate(
            [
                to_numpy(xp.argmin(square - 2 * points[i : i + ROWS] @ transpose(centres), axis=1))
                for i in range(0, points.shape[0], ROWS)
            ]
        )
        used, label = np.unique(nearest, return_inverse=True)
        member = scipy.sparse.csr_array((mass, (label, np.arange(len(label)))), shape=(len(used), len(label)))
        total = member.sum(axis=1)
        kept = total > 0
        centres = as_like((member @ host)[kept] / total[kept, None], points)
    return centres, as_like(total[kept] / total.sum(), weights)
