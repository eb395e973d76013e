"""A last fit of the map to mutual nearest neighbours.

Points without a counterpart, such as words without a translation, must be matched in a plan with given weights, which
biases the map. Once the right optimum is found, mutual nearest neighbours by CSLS show which points have a counterpart;
nearer pairs get more weight.
"""

from __future__ import annotations

import math

from ...arrays import Array, namespace, transpose
from ...geometry.frames import mean_square
from ...retrieval.pairs import matches_by_distance
from ...retrieval.refine import rank_weights
from ..candidate import Candidate
from ..loop.alternate import continue_from
from ..problem import Problem
from ..tuning import PER_DIMENSION, ROUGH_STEPS


def refit(problem: Problem, candidate: Candidate) -> Candidate | None:
    """Return the candidate with its map fitted to mutual neighbours, and its plan; None if there are too few."""
    w = fit_to_neighbours(problem, candidate.map)
    if w is None:
        return None
    budget = problem.budgets.solve.at_epsilon(candidate.epsilon)
    return continue_from(problem, candidate, w, budget, stage="refit", hold_map=True)


def fit_to_neighbours(problem: Problem, w: Array) -> Array | None:
    """Return the map (dx, dy) that is the fit to its own mutual neighbours; None if there are too few.

    Plans do not depend on the scale of a map, so neighbours must not either: mapped points are first scaled to the size of
    y, by all points and then by the pairs.
    """
    xp = namespace(w)
    size = _rms_ratio(problem.x @ w, problem.y, problem.a, problem.b)
    still = max(problem.budgets.solve.tol, problem.budgets.solve.plan_tol)
    for _ in range(ROUGH_STEPS):
        i, j, score = matches_by_distance(size * (problem.x @ w), problem.y)
        if i.shape[0] < PER_DIMENSION * max(w.shape):
            return None
        weight = rank_weights(score) * xp.sqrt(xp.take(problem.a, i, axis=0) * xp.take(problem.b, j, axis=0))
        weight = weight / xp.sum(weight)
        left, right = xp.take(problem.x, i, axis=0), xp.take(problem.y, j, axis=0)
        moment = transpose(left) @ (right * weight[:, None])
        before, w = w, problem.maps.best_map(moment if problem.seed_moment is None else moment + problem.seed_moment)
        if float(xp.sum((w - before) ** 2)) <= still**2 * float(xp.sum(w**2)):
            break
        size = _rms_ratio(left @ w, right, weight, weight)
    return w


def _rms_ratio(z: Array, y: Array, a: Array, b: Array) -> float:
    """Return the factor that scales z (weights a) to the rms of y (weights b); 1 if z is 0."""
    square = mean_square(z, a)
    return math.sqrt(mean_square(y, b) / square) if square else 1.0
