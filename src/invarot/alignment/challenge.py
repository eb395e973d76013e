"""Few starts, few points: whether plain starts find a better answer than the one that was asked for.

Held-out points tell a right map from a wrong one where there are many. Of few, a sheet or some clusters can be laid on each
other wrongly and fit well; there a short race of other starts costs little and shows it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Array, to_numpy
from ..retrieval.nearest import nearest
from ..starts.portfolio import waves
from .alternate import alternate
from .heats import quick, run_race, slack
from .problem import Problem
from .settings import Settings

FEW = 500  # points up to which the verdict on chosen starts is put to the test
ENOUGH = 100  # starts that have been each other's test
SAME = 0.9  # two maps are one answer where they send this share of the points to the same targets


def better_answers(problem: Problem, settings: Settings, w: Array, rng: np.random.Generator) -> int:
    """How many of the first candidates of ``auto`` end elsewhere than ``w`` (dx, dy), and clearly higher."""
    if max(problem.x.shape[0], problem.y.shape[0]) > FEW or problem.seeds is not None:
        return 0
    wave = next(waves(problem.x, problem.y, problem.a, problem.b, rng=rng, options={}))
    wave = replace(wave, maps=settings.invariance.fit(wave.maps))
    maps, values = run_race(problem, wave, settings, rng, False, None)
    brief = quick(settings)
    brief = replace(
        brief, schedule=replace(brief.schedule, epsilon=brief.schedule.floor), max_iter=3, plan_tol=settings.plan_tol,
        plan_max_iter=settings.plan_max_iter,
    )  # fmt: skip
    here = float(alternate(problem, w[None], brief).values[0])
    there = to_numpy(nearest(problem.x @ w, problem.y))
    found = 0
    for one, value in zip(maps, values, strict=True):
        same = float(np.mean(to_numpy(nearest(problem.x @ one, problem.y)) == there))
        found += bool(same < SAME and value > here + slack(problem, settings, here))
    return found
