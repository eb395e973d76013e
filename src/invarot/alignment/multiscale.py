"""Large problems in stages: the paper's bootstrap over any number of growing subsamples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Array, as_like, namespace
from .alternate import Observer, Run, alternate
from .problem import Problem
from .settings import Settings

FEW = 1500  # points of the first stage
MANY = 3000  # problems with fewer are solved at once
COARSE = 0.04  # epsilon at which a plan blurs more than a subsample loses


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
    of them would, at a fraction of the price.
    """
    schedule = settings.schedule
    size = max(problem.x.shape[0], problem.y.shape[0])
    if settings.sharpest is None or size <= MANY or schedule.epsilon <= COARSE:
        return alternate(problem, maps, settings, on_step=on_step)
    coarse = replace(settings, schedule=replace(schedule, floor=max(COARSE, schedule.floor)), max_iter=15, tol=1e-3)
    few = subproblem(problem, FEW, rng, ordered)
    maps = alternate(few, maps, coarse, stage=f"first {FEW}" if ordered else f"{FEW} points", on_step=on_step).maps
    fine = replace(settings, schedule=replace(schedule, epsilon=max(COARSE, schedule.floor)))
    return alternate(problem, maps, fine, on_step=on_step)


def subproblem(problem: Problem, size: int, rng: np.random.Generator, ordered: bool) -> Problem:
    """At most ``size`` points of each cloud: the first where rows are ordered, else drawn at random."""
    parts = []
    for points, weights in ((problem.x, problem.a), (problem.y, problem.b)):
        n = points.shape[0]
        if n > size:
            rows = np.arange(size) if ordered else np.sort(rng.choice(n, size, replace=False))
            index = as_like(rows, points, dtype=namespace(points).int64)
            points, weights = points[index], weights[index] / namespace(points).sum(weights[index])
        parts.append((points, weights))
    (x, a), (y, b) = parts
    return replace(problem, x=x, a=a, y=y, b=b)
