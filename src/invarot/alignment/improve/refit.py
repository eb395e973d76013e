"""A last fit of the map to the points that choose each other.

Words without a translation and cells of a kind that the other assay lacks must go somewhere in a plan with given weights,
and that bends the map a little. Once the right optimum is found, nearest neighbours tell who has a counterpart: pairs that
choose each other, with hubs held back (CSLS), the nearer the more they count.
"""

from __future__ import annotations

import math

from ...arrays import Array, namespace, transpose
from ...geometry.frames import mean_square
from ...retrieval.neighbours import matches_by_distance
from ...retrieval.refine import rank_weights
from ..candidate import Candidate, continue_from
from ..problem import Problem
from ..tuning import PER_DIMENSION, ROUGH_STEPS


def refit(problem: Problem, candidate: Candidate) -> Candidate | None:
    """The candidate with its map fitted to mutual neighbours, and the plan of that map; None where they are too few."""
    w = fit_to_neighbours(problem, candidate.map)
    if w is None:
        return None
    budget = problem.budgets.solve.at_epsilon(candidate.epsilon)
    return continue_from(problem, candidate, w, budget, stage="refit", hold_map=True)


def fit_to_neighbours(problem: Problem, w: Array) -> Array | None:
    """The map (dx, dy) that mutual neighbours under it lead back to; None where too few are found.

    No plan depends on the size of a map, so neighbours must not either: mapped points are brought to the size of y first,
    by all points and then by the pairs.
    """
    xp = namespace(w)
    size = _size(problem.x @ w, problem.y, problem.a, problem.b)
    still = max(problem.budgets.solve.tol, problem.budgets.solve.plan_tol)
    for _ in range(ROUGH_STEPS):
        i, j, score = matches_by_distance(size * (problem.x @ w), problem.y)
        if i.shape[0] < PER_DIMENSION * max(w.shape):
            return None
        weight = rank_weights(score) * xp.sqrt(xp.take(problem.a, i, axis=0) * xp.take(problem.b, j, axis=0))
        weight = weight / xp.sum(weight)
        left, right = xp.take(problem.x, i, axis=0), xp.take(problem.y, j, axis=0)
        moment = transpose(left) @ (right * weight[:, None])
        before, w = w, problem.maps.best_map(moment if problem.seeds is None else moment + problem.seeds)
        if float(xp.sum((w - before) ** 2)) <= still**2 * float(xp.sum(w**2)):
            break
        size = _size(left @ w, right, weight, weight)
    return w


def _size(z: Array, y: Array, a: Array, b: Array) -> float:
    """What brings points z of weights a to the root mean square of points y of weights b; 1 where they have none."""
    square = mean_square(z, a)
    return math.sqrt(mean_square(y, b) / square) if square else 1.0
