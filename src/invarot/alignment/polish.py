"""A last fit of the map to the points that choose each other.

Words without a translation and cells of a kind that the other assay lacks must go somewhere in a plan with given weights,
and that bends the map a little. Once the right optimum is found, nearest neighbours tell who has a counterpart: pairs that
choose each other, with hubs held back (CSLS), the nearer the more they count.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ..arrays import Array, namespace, transpose
from ..geometry.frames import mean_square
from ..retrieval.neighbours import matches_by_distance
from ..retrieval.refine import new_pairs, rank_weights
from ..transport.schedule import Schedule
from .alternate import Observer, alternate
from .outcome import Finish, finish
from .problem import Problem
from .settings import Settings

ROUNDS = 10  # of pairs and map, at most
NEW = 0.02  # share of pairs that are new, below which they have settled
FEWEST = 2  # pairs a dimension: fewer do not determine a map


def polished(problem: Problem, settings: Settings, winner: Finish, on_step: Observer | None = None) -> Finish:
    """The winner with its map fitted to mutual neighbours, and the plan of that map; as it is where they are too few."""
    w = refit(problem, settings, winner.map)
    if w is None:
        return winner
    last = winner.run.epsilon or settings.schedule.floor  # exact plans have none
    here = replace(settings, schedule=Schedule.fixed(last, absolute=settings.schedule.absolute))
    run = alternate(
        problem, w[None], here, stage="polish", on_step=on_step, warm=winner.run.coupler.only(winner.index), hold=True
    )
    found = finish(run, 0, winner.name, settings)
    return replace(found, objective=winner.objective, value=winner.value, earlier=winner.history)


def refit(problem: Problem, settings: Settings, w: Array) -> Array | None:
    """The map (dx, dy) that mutual neighbours under it lead back to; None where too few are found.

    No plan depends on the size of a map, so neighbours must not either: mapped points are brought to the size of y first, by
    all points and then by the pairs.
    """
    xp = namespace(w)
    before: tuple[Array, Array] | None = None
    size = _size(problem.x @ w, problem.y, problem.a, problem.b)
    for _ in range(ROUNDS):
        i, j, score = matches_by_distance(size * (problem.x @ w), problem.y)
        if i.shape[0] < FEWEST * max(w.shape):
            return None
        weight = rank_weights(score) * xp.sqrt(xp.take(problem.a, i, axis=0) * xp.take(problem.b, j, axis=0))
        weight = weight / xp.sum(weight)
        left, right = xp.take(problem.x, i, axis=0), xp.take(problem.y, j, axis=0)
        moment = transpose(left) @ (right * weight[:, None])
        w = settings.invariance.best_map(moment if problem.seeds is None else moment + problem.seeds)
        if before is not None and new_pairs((i, j), before, problem.y.shape[0]) < NEW:
            break
        before, size = (i, j), _size(left @ w, right, weight, weight)
    return w


def _size(z: Array, y: Array, a: Array, b: Array) -> float:
    """What brings points z of weights a to the root mean square of points y of weights b; 1 where they have none."""
    square = mean_square(z, a)
    return math.sqrt(mean_square(y, b) / square) if square else 1.0
