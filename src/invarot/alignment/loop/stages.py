"""Large problems in stages: the paper's bootstrap over any number of growing subsamples, or of centroids."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...arrays import Array, is_torch, namespace, to_numpy
from ...retrieval.kmeans import kmeans
from ...retrieval.thinning import FEW_DIMENSIONS, thin
from ..budget import Budget
from ..problem import Problem
from ..tuning import BRIEF_STEPS, COARSE_EPSILON, LOOSER, STAGE_POINTS
from .alternate import Run, alternate


def solve_in_stages(problem: Problem, maps: Array, budget: Budget, *, rng: np.random.Generator) -> Run:
    """Solve at high epsilons on a subsample, at low ones on all points.

    At a high epsilon a plan depends on the shape of the clouds and not on single points, so a subsample gives nearly the same
    map as all points, at a fraction of the cost. Later stages continue at the last epsilon of the first: with more points,
    the map is nearer to that of all points.
    """
    sizes = stage_sizes(problem, budget)
    rough = budget.roughly()
    schedule = budget.schedule
    if sizes and schedule is not None:
        coarse = COARSE_EPSILON * (problem.cost_scale if schedule.absolute else 1.0)
        middle = min(max(coarse, schedule.floor), schedule.epsilon)
        rough = rough.along(schedule.ending_at(middle))
        budget = budget.from_epsilon(middle)
    steps = [(size, rough if k == 0 else rough.at_floor().at_most(BRIEF_STEPS)) for k, size in enumerate(sizes)]
    for size, spent in [*steps, (None, budget)]:
        part = problem if size is None else subproblem(problem, size, rng)
        run = alternate(part, maps, spent, stage="solve" if size is None else _name_stage(problem, size))
        maps = run.maps
    return run


def _name_stage(problem: Problem, size: int) -> str:
    if problem.budgets.stages is not None and problem.budgets.stages.of == "clusters":
        return f"{size} clusters"
    return f"first {size}" if problem.ordered else f"{size} points"


def stage_sizes(problem: Problem, budget: Budget) -> list[int]:
    """Return the number of points of each stage before the last; no stages if the caller gave a schedule."""
    count, budgets = problem.largest, problem.budgets
    if budgets.stages is not None:
        return [size for size in budgets.stages.as_tuple() if size < count]
    if not (budgets.adaptive and budget.schedule is not None and problem.large):
        return []
    sizes = [STAGE_POINTS]
    while 2 * LOOSER * sizes[-1] < count:
        sizes.append(LOOSER * sizes[-1])
    return sizes if budget.schedule.epsilon > COARSE_EPSILON else sizes[1:]  # a race was the first


def thinned(problem: Problem, size: int) -> Problem:
    """Return about ``size`` points per cloud, of even density: scans are dense near the scanner."""
    places = problem.x[:, :-1] if problem.affine else problem.x  # the column of ones is no coordinate
    x, y = (thin(to_numpy(points), size).astype(points.dtype) for points in (places, problem.y))
    if problem.affine:
        x = np.column_stack([x, np.ones(len(x), dtype=x.dtype)])
    a, b = (np.full(len(points), 1 / len(points), dtype=points.dtype) for points in (x, y))
    return replace(problem, x=x, a=a, y=y, b=b)


def subproblem(problem: Problem, size: int, rng: np.random.Generator) -> Problem:
    """Return at most ``size`` points per cloud: the first if rows are ordered, else random ones, or centroids."""
    stages = problem.budgets.stages
    if (
        problem.overlap is not None
        and stages is None
        and problem.y.shape[1] <= FEW_DIMENSIONS
        and not is_torch(problem.x)
    ):
        return thinned(problem, size)
    parts = []
    for points, weights, rows in ((problem.x, problem.a, problem.rows), (problem.y, problem.b, problem.columns)):
        n = rows.count(points)
        if n > size and stages is not None and stages.of == "clusters":
            points, weights = kmeans(points, weights, size, rng=rng, rounds=BRIEF_STEPS, spread=False)
        elif n > size:
            chosen = np.arange(size) if problem.ordered else np.sort(rng.choice(n, size, replace=False))
            points, weights, rows = rows.take(points, weights, chosen)
            weights = weights / rows.sum(namespace(points).sum(weights))
        parts.append((points, weights, rows))
    (x, a, rows), (y, b, columns) = parts
    return replace(problem, x=x, a=a, y=y, b=b, rows=rows, columns=columns)
