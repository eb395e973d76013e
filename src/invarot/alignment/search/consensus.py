"""The mean of finalists that are right in part: what they have in common is what is right."""

from __future__ import annotations

import numpy as np

from ...arrays import Array, namespace, to_numpy
from ..candidate import Candidate
from ..loop.alternate import make_candidate
from ..loop.stages import solve_in_stages
from ..problem import Problem, divide_rows, same_answer

RELATED = 0.5  # correlation between the images of two maps, from which they are right or wrong together


def join_finalists(problem: Problem, finals: list[Candidate], rng: np.random.Generator) -> list[Candidate]:
    """Return the finalists with those that resemble the best replaced by a better one, solved from their mean.

    Loosely corresponding clouds have many optima near the right one. Each is right in the directions with much spread and wrong in
    some of the others, each in its own way: in the mean of their maps the errors cancel. The mean is solved on, and kept if it scores higher than all.
    """
    best = max(finals, key=lambda one: one.value)
    if not (problem.large and problem.orthogonal):
        return finals
    alike = [one for one in finals if correlate_images(problem, one.map, best.map) >= RELATED]
    if all(same_answer(problem, best.map, one.map) for one in alike):
        return finals
    xp = namespace(best.map)
    start = problem.maps.best_map(xp.mean(xp.stack([one.map for one in alike]), axis=0))
    run = solve_in_stages(divide_rows(problem), start[None], problem.budgets.rough_finals, rng=rng)
    joined = make_candidate(problem, run, 0, best.name)
    if joined.value <= best.value:
        return finals
    return [joined, *(one for one in finals if not any(one is other for other in alike))]


def correlate_images(problem: Problem, w: Array, other: Array) -> float:
    """Return the correlation between the images of the points of x under two maps (dx, dy)."""
    xp = namespace(w)
    centre = problem.a @ problem.x
    covariance = problem.second_moment - centre[:, None] * centre
    inner = [float(to_numpy(xp.sum((covariance @ one) * two))) for one, two in ((w, other), (w, w), (other, other))]
    return inner[0] / (inner[1] * inner[2]) ** 0.5 if inner[1] * inner[2] > 0 else 0.0
