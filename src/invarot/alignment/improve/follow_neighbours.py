"""Leave an optimum that is wrong in a few directions: continue from the map that fits mutual neighbours.

In directions with little spread a wrong sign costs little, so that the alternation can settle with a few of them mirrored. Most points
still lie next to their right targets, and those that are each other's nearest are nearly all right: the map fitted to these has
no such error, and brings other points nearer to their targets than the map of the optimum does.
"""

from __future__ import annotations

from ...arrays import Array, device, namespace, transpose
from ...retrieval.nearest import find_mutual_nearest, nearest_distances
from ..candidate import Candidate
from ..loop.alternate import continue_from
from ..problem import Problem
from ..tuning import PER_DIMENSION, QUERIES, REPEATS


def follow_neighbours(problem: Problem, candidate: Candidate) -> Candidate | None:
    """Return a better candidate, solved from a map fitted to mutual neighbours; None if that map, or its solution, is no better.

    For orthogonal maps: others change distances, and so the neighbours. And where no schedule was asked for: the plan of a high
    last epsilon is blurred, and its map further from the neighbours than any fit to them.
    """
    if not (problem.orthogonal and problem.budgets.adaptive):
        return None
    best, budget = candidate, problem.budgets.solve.at_epsilon(candidate.epsilon)
    for _ in range(REPEATS):
        w = fit_to_mutual(problem, best.map)
        if w is None:
            break
        found = continue_from(problem, best, w, budget, stage="neighbours")
        if found.value <= best.value:
            break
        best = found
    return None if best is candidate else best


def fit_to_mutual(problem: Problem, w: Array) -> Array | None:
    """Return the best map (dx, dy) for mutual neighbours among some of the points; None if it is no better than w, or they are too few.

    Better: fitted on one half of these points, it brings the others nearer to their targets than w does, which all points fitted.
    """
    xp, n = namespace(w), problem.x.shape[0]
    some = xp.arange(0, n, max(1, n // QUERIES), device=device(w))
    z = problem.x @ w
    there, mutual = find_mutual_nearest(z, problem.y, some)

    def fit(chosen: Array) -> Array | None:
        left, right = problem.x[some[chosen]], problem.y[there[chosen]]
        if left.shape[0] < PER_DIMENSION * max(w.shape):
            return None
        moment = transpose(left) @ right / left.shape[0]
        return problem.maps.best_map(moment if problem.seed_moment is None else moment + problem.seed_moment)

    odd = xp.arange(some.shape[0], device=device(w)) % 2 == 1
    half, rest = fit(mutual & odd), some[~odd]
    if half is None:
        return None
    mine = float(xp.sum((z[rest] - problem.y[there[~odd]]) ** 2))
    other = float(xp.sum(nearest_distances(problem.x[rest] @ half, problem.y)))
    return fit(mutual) if other < mine else None
