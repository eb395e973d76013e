"""The race itself: candidates run together on a coarse problem, those behind dropped after a first heat."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array, as_like, namespace, on_cuda
from ..starts.portfolio import Wave
from ..transport.choice import SHARE_OF_FREE, free_memory, memory_needed
from .alternate import Observer, alternate
from .multiscale import COARSE, subproblem
from .problem import Problem
from .settings import Settings

RACE_ENTRIES = 2e7  # entries of all the plans of a race together: what decides how many points it is run on
RACE_FIRST = 2000  # and fewer where they are known to be the same ones: the first of ordered rows
FIRST_HEAT = 5  # steps after which only those at the head go on
RACE_FLOOR = 0.03  # and only down to this epsilon
SINGLE = 1e-12, 1e12  # cost scales between which squares of points are far from the ends of single precision
FINALISTS = 3  # of a race that may go on to the full problem
Floats = np.ndarray[Any, Any]


def run_race(
    problem: Problem, wave: Wave, settings: Settings, rng: np.random.Generator, ordered: bool, on_step: Observer | None
) -> tuple[Array, Any]:
    """Where each candidate gets on the coarse problem: maps (s, dx, dy) and values (s,).

    After a first heat only the best few go on, with those that are as good as they are, and those that could be the best
    once their plans have their marginals: off by a hundredth, these move the objective by about as much.
    """
    if len(wave.names) == 1:
        return wave.maps, np.zeros(1)
    points = int((RACE_ENTRIES / len(wave.names)) ** 0.5)
    coarse = subproblem(problem, min(points, RACE_FIRST) if ordered else points, rng, ordered)
    coarse = _in_single(coarse)
    brief = quick(settings)
    first = replace(brief, max_iter=min(FIRST_HEAT, brief.max_iter))
    maps, values, off, epsilon = _heat(coarse, as_like(wave.maps, coarse.x), first, on_step)
    near = slack(coarse, settings, float(np.max(values)))
    ahead = values >= np.sort(values)[-min(FINALISTS, len(values))] - near
    ahead |= values + np.minimum(off, first.plan_tol) * coarse.score_scale >= np.max(values) - near
    chosen = as_like(np.nonzero(ahead)[0], maps, dtype=namespace(maps).int64)
    going_on = not brief.schedule.absolute and epsilon > 0  # exact plans have no epsilon
    schedule = replace(brief.schedule, epsilon=epsilon) if going_on else brief.schedule
    last = replace(brief, schedule=schedule, plan_tol=settings.plan_tol, plan_max_iter=settings.plan_max_iter)
    maps[chosen], values[ahead], *_ = _heat(coarse, maps[chosen], last, on_step)
    return as_like(maps, problem.x), values.astype(np.float64)


def _in_single(problem: Problem) -> Problem:
    """The problem in single precision, where that is faster and its range is enough: a race only ranks, at a high epsilon."""
    xp = namespace(problem.x)
    small, large = SINGLE
    if on_cuda(problem.x) or problem.x.dtype != xp.float64 or not small < problem.cost_scale < large:
        return problem
    arrays: dict[str, Any] = {}
    for name in ("x", "y", "a", "b", "second_moment", "seeds"):
        came = getattr(problem, name)
        arrays[name] = None if came is None else xp.astype(came, xp.float32)
    return replace(problem, **arrays)


def _heat(
    problem: Problem, maps: Array, settings: Settings, on_step: Observer | None
) -> tuple[Array, Floats, Floats, float]:
    """Where the candidates get together: maps, values, how far marginals are off, and the highest epsilon of a batch's end."""
    parts, _ = batches(problem, maps.shape[0], settings)
    runs = [alternate(problem, maps[part], settings, stage="race", on_step=on_step, lenient=True) for part in parts]
    found = namespace(maps).concat([run.maps for run in runs], axis=0)
    off = np.concatenate([run.records[-1]["marginal_error"] for run in runs])
    return found, np.concatenate([run.values for run in runs]), off, max(run.epsilon for run in runs)


def quick(settings: Settings) -> Settings:
    """Looser tolerances and a higher last epsilon."""
    schedule = settings.schedule
    if not schedule.absolute:
        floor = max(RACE_FLOOR, schedule.floor)
        schedule = replace(schedule, floor=floor, epsilon=max(schedule.epsilon, floor), decay=min(schedule.decay, 0.8))
    return replace(
        settings,
        schedule=schedule,
        tol=max(10 * settings.tol, 1e-3),
        plan_tol=10 * settings.plan_tol,
        plan_max_iter=min(20, settings.plan_max_iter),
        max_iter=min(20, settings.max_iter),
    )


def after_race(settings: Settings) -> Settings:
    """A race has already come down to its floor: the default schedule goes on from about there."""
    if settings.sharpest is None:
        return settings
    return replace(settings, schedule=replace(settings.schedule, epsilon=max(COARSE, settings.schedule.floor)))


def batches(problem: Problem, count: int, settings: Settings, most: int | None = None) -> tuple[list[slice], int]:
    """Slices of the starts whose kernels fit memory together, whatever n_jobs; and how many slices fit at a time."""
    bound = settings.memory if settings.memory is not None else int(SHARE_OF_FREE * free_memory(problem.x))
    each = 2 * (problem.x.shape[0] * problem.y.shape[0] * problem.x.dtype.itemsize + 1)
    size = max(1, min(count, bound // each))
    if on_cuda(problem.x):
        jobs = 1
    else:
        size = min(size, most or size)
        while size > 1 and _streamed(problem, size) > bound:
            size -= 1
        size = math.ceil(count / math.ceil(count / size))  # of about one size, so that nobody waits
        jobs = max(1, min(settings.n_jobs, bound // (size * each)))
    return [slice(i, min(i + size, count)) for i in range(0, count, size)], jobs


def _streamed(problem: Problem, starts: int) -> int:
    """Bytes that a plan step of so many starts takes at least."""
    shape = starts, problem.x.shape[0], problem.y.shape[1]
    return memory_needed(namespace(problem.x).broadcast_to(problem.x[:1, :1], shape), problem.y, dense=False)


def slack(problem: Problem, settings: Settings, value: float) -> float:
    """How far below the best a value may lie and still be as good: 5 % of what is missing to a perfect one."""
    perfect = problem.score_scale if settings.larger_is_better else 0.0  # values are scores, or costs with a minus
    return 0.05 * abs(perfect - abs(value)) + 1e-3 * problem.variance_scale
