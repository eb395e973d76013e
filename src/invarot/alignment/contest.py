"""A contest: the map against reflections of itself, each improved for a few steps and scored with its own balanced plan.

The nearest target of a point says little where clouds correspond loosely. A balanced plan uses all points on both sides, and
the reflections keep every distance within a cloud: they are what a wrong answer looks like.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy, transpose
from ..geometry.frames import weighted_second_moment
from ..transport.schedule import Schedule
from .loop.alternate import Run, alternate
from .loop.batches import make_batches
from .loop.stages import subproblem
from .options import Sinkhorn
from .problem import Problem, same_answers
from .reflections import reflect
from .tuning import BRIEF_STEPS, COARSE_EPSILON, CONTEST_AXES, FEW_POINTS, LOOSER, ROUGH_STEPS


def run_contest(problem: Problem, w: Array, rng: np.random.Generator) -> float:
    """Return by how much w (dx, dy) scores higher than the best of its reflections that ends at another answer.

    In standard errors over the points; negative where a reflection scores higher, 0 where none is another answer.
    """
    xp = namespace(w)
    problem, w = keep_leading_axes(problem, w)
    small = subproblem(problem, FEW_POINTS, rng)
    if min(small.x.shape[0], small.y.shape[0]) < 2:
        return 0.0
    budget = replace(
        problem.budgets.solve, schedule=Schedule.fixed(COARSE_EPSILON), max_iter=BRIEF_STEPS, plan_max_iter=ROUGH_STEPS,
        plan_tol=LOOSER * Sinkhorn.plan_tol, memory=None,  # batches are cut to the bound; one kernel of so few points is small
    )  # fmt: skip
    maps = xp.concat([w[None], reflect(small, w, rng)])
    runs = [alternate(small, maps[part], budget) for part in make_batches(small, maps.shape[0])[0]]
    ends = [(run, index) for run in runs for index in range(len(run.values))]
    found = xp.concat([run.maps for run in runs])
    other = np.flatnonzero(~same_answers(small, found[0], found[1:])) + 1
    if len(other) == 0:
        return 0.0
    best = max(other, key=lambda k: float(ends[k][0].values[ends[k][1]]))
    ahead = _scores(small, *ends[0]) - _scores(small, *ends[best])
    error = float(ahead.std()) * len(ahead) ** 0.5
    return float(ahead.sum()) / error if error > 0 else 0.0


def _scores(problem: Problem, run: Run, index: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return what each point of x adds to the score of one of the maps (n,)."""
    images = run.plan(index).apply(problem.y)
    return to_numpy(namespace(images).sum((problem.x @ run.maps[index]) * images, axis=1)).astype(np.float64)


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
