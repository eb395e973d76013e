"""A wave of starts raced on a coarse problem: a first heat for all, a second for the best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...arrays import Array, as_like, namespace, on_cuda, to_numpy
from ...checks import in_range
from ...starts.portfolio import Wave
from ..budget import Budget
from ..loop.alternate import alternate
from ..loop.batches import STARTS_PER_BATCH, make_batches, prepare_batches
from ..loop.stages import subproblem
from ..problem import Problem, distinct, slack
from ..tuning import FINALISTS, RACE_ENTRIES

SINGLE = 1e-12, 1e12  # cost scales between which squares of costs are well inside the range of single precision
Floats = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Lap:
    """What a heat needs of a solved batch: small NumPy arrays, since another process may have solved it."""

    maps: Floats  # (s, dx, dy)
    values: Floats  # (s,)
    errors: Floats  # (s,)
    epsilon: float


def choose_finalists(problem: Problem, maps: Array, values: Floats) -> list[int]:
    """Return the best of a race, and the few other answers that are equally good."""
    order = np.argsort(-values, kind="stable")
    near = [k for k in order if values[order[0]] - values[k] <= slack(problem, float(values[order[0]]))]
    return distinct(problem, maps, near, FINALISTS)


def race_points(starts: int) -> int:
    """Return the maximal number of points in a race of ``starts`` starts."""
    return int((RACE_ENTRIES / starts) ** 0.5)


def run_heats(problem: Problem, wave: Wave, rng: np.random.Generator, *, n_jobs: int = 1) -> tuple[Array, Floats]:
    """Solve each start of a wave on the coarse problem: return maps (s, dx, dy) and values (s,).

    After a first heat only the best few continue, with those that are equally good, and those that could be the best once
    their marginals converge: a marginal error of 0.01 changes the objective by about as much.
    """
    if len(wave.names) == 1:
        return wave.maps, np.zeros(1)
    coarse = to_single(subproblem(problem, race_points(len(wave.names)), rng))
    budgets = problem.budgets.first_heat, problem.budgets.race
    first, last = (budget.within_rounding(coarse.x, coarse.cost_scale) for budget in budgets)
    maps, values, off, epsilon = run_heat(coarse, as_like(wave.maps, coarse.x), first, rng, n_jobs)
    near = slack(coarse, float(np.max(values)))
    ahead = values >= np.sort(values)[-min(FINALISTS, len(values))] - near
    ahead |= values + np.minimum(off, first.plan_tol) * coarse.score_scale >= np.max(values) - near
    chosen = as_like(np.nonzero(ahead)[0], maps, dtype=namespace(maps).int64)
    last = last.from_epsilon(epsilon) if epsilon else last
    maps[chosen], values[ahead], *_ = run_heat(coarse, maps[chosen], last, rng, n_jobs)
    return as_like(maps, problem.x), values.astype(np.float64)


def run_heat(
    problem: Problem, maps: Array, budget: Budget, rng: np.random.Generator, n_jobs: int
) -> tuple[Array, Floats, Floats, float]:
    """Return maps, values, marginal errors, and the highest epsilon at which a batch ended."""
    most = 1 if problem.rows.alike else STARTS_PER_BATCH  # one by one they can be shared by any number of ranks
    parts, jobs = make_batches(problem, maps.shape[0], most=most, n_jobs=n_jobs)
    solves = [partial(_race, maps=maps[part], budget=budget) for part in parts]
    laps = [batch() for batch in prepare_batches(problem, solves, rng=rng, n_jobs=jobs)]
    found, values, off = (np.concatenate([getattr(lap, name) for lap in laps]) for name in ("maps", "values", "errors"))
    return as_like(found, maps), values, off, max(lap.epsilon for lap in laps)


def _race(problem: Problem, *, maps: Array, budget: Budget, rng: np.random.Generator) -> Lap:
    run = alternate(problem, maps, budget, stage="race")
    return Lap(to_numpy(run.maps), run.values, run.errors, run.epsilon)


def to_single(problem: Problem) -> Problem:
    """Return the problem in single precision if that is faster and its range is enough: a race only ranks starts."""
    xp = namespace(problem.x)
    small, large = SINGLE
    schedule = problem.budgets.solve.schedule
    fits = small < problem.cost_scale < large and all(in_range(z, xp.float32) for z in (problem.x, problem.y))
    least = min(float(xp.min(weights)) for weights in (problem.a, problem.b))
    fits = fits and least > float(xp.finfo(xp.float32).eps) / problem.largest
    absolute = schedule is not None and schedule.absolute  # such an epsilon may be any number
    if on_cuda(problem.x) or problem.x.dtype != xp.float64 or absolute or not fits:
        return problem
    arrays: dict[str, Any] = {}
    for name in ("x", "y", "a", "b", "second_moment", "seed_moment"):
        came = getattr(problem, name)
        arrays[name] = None if came is None else xp.astype(came, xp.float32)
    return replace(problem, **arrays)
