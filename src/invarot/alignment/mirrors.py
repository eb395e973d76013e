"""Beside an answer: the same map with one principal direction turned round.

Clusters that lie right as a whole can be mirrored in themselves, and a sheet can lie on its back: such an optimum is a
little below the best, and differs from it by the sign of one direction of the moment, mostly a weak one. No start knows
those signs, for the weak directions hardly show before epsilon is small. They are tried one by one from where the solve
ended: not at all where the plan leaves no doubt about a direction, and in full only where a bound says that it may pay.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..arrays import Array, as_like, device, namespace, svd, to_numpy, transpose
from ..transport.plan import EntropicPlan
from .alternate import Observer, Run, alternate
from .halves import EntropicCoupler
from .multiscale import MANY
from .problem import Problem
from .settings import Settings

SURE = 0.95  # correlation of matched coordinates from which a direction's sign is not doubted
FAINT = 1e-4  # of the score: directions with less do not matter
MOST = 12  # directions doubted at a time, the strongest of them
SOME = 150  # source points that the bound is taken on
GAIN = 5e-5  # of the score: what is worth a solve, and more than marginals within tolerance move it by
ROUNDS = 3  # of one direction each
STEPS = 12  # that the mirror images are given before the best of them is solved to its end


def applies(problem: Problem, settings: Settings) -> bool:
    """Whether mirror images are maps of the kind asked for, and points few enough for a sign to be missed."""
    kind = math.isinf(settings.p) and not settings.proper and settings.larger_is_better and settings.plan == "sinkhorn"
    return kind and problem.seeds is None and max(problem.x.shape[0], problem.y.shape[0]) <= MANY


def improve(
    problem: Problem, settings: Settings, plan: EntropicPlan, value: float, on_step: Observer | None
) -> Run | None:
    """A solve that ends above ``value``, set out from a mirror image of the map of ``plan``; None where none does."""
    found: Run | None = None
    last = replace(settings, schedule=replace(settings.schedule, epsilon=settings.schedule.floor))
    brief = replace(last, max_iter=min(STEPS, last.max_iter))
    for _ in range(ROUNDS):
        maps = mirror_images(problem, settings, plan)
        if maps.shape[0] == 1:
            break
        if found is None:  # the plan may be sharper than the solve's, which the bound must be taken at
            once = replace(last, max_iter=min(2, last.max_iter))
            plan = _plan(_solve(problem, maps[:1], once, plan, None))
        maps = _promising(problem, settings, maps, plan)
        if maps.shape[0] == 0:
            break
        run = _solve(problem, maps, brief, plan, on_step)
        run = alternate(
            problem, run.maps[run.best][None], last, stage="mirror", on_step=on_step, warm=run.coupler.only(run.best)
        )
        if not run.settled[0] or run.values[0] <= value + GAIN * problem.score_scale:
            break
        found, value = run, float(run.values[0])
        plan = _plan(run)
    return found


def mirror_images(problem: Problem, settings: Settings, plan: EntropicPlan) -> Array:
    """The best map for ``plan`` (first), and the same with each doubtful direction turned round; (s, dx, dy)."""
    xp = namespace(problem.x)
    u, s, vt = svd(transpose(problem.x) @ plan.apply(problem.y))
    spread = [
        xp.sqrt(weights @ (points @ axes) ** 2)
        for points, axes, weights in ((problem.x, u, problem.a), (problem.y, transpose(vt), problem.b))
    ]
    most, strength = to_numpy(spread[0] * spread[1]), to_numpy(s)  # what a direction scores at most, and does score
    doubtful = np.flatnonzero((strength < SURE * most) & (most > FAINT * np.sum(most)))[:MOST]
    signs = np.ones((len(doubtful) + 1, len(strength)))
    signs[np.arange(len(doubtful)) + 1, doubtful] = -1
    reach = settings.invariance.size(problem.x.shape[1], problem.y.shape[1])
    return reach * (u * as_like(signs, u)[:, None, :]) @ vt


def _promising(problem: Problem, settings: Settings, maps: Array, plan: EntropicPlan) -> Array:
    """Those of ``maps`` that may get beyond the first: the one with the highest bound, and the two weakest directions.

    With the column potentials held at those of ``plan``, where they are the best for the first map, the dual objective
    is no less than what any other map can come to; two map steps show how much better than where it begins that is.
    """
    xp = namespace(maps)
    count = problem.x.shape[0]
    rows = as_like(np.linspace(0, count - 1, min(SOME, count)).astype(np.int64), problem.x, dtype=xp.int64)
    x, y, a = problem.x[rows], problem.y, problem.a[rows] / xp.sum(problem.a[rows])
    w, bound = maps, np.zeros(maps.shape[0])
    for step in range(3):
        scores = (2 / plan.epsilon) * (x @ w) @ transpose(y) + plan.v
        top = xp.max(scores, axis=-1, keepdims=True)
        mass = xp.exp(scores - top)
        total = xp.sum(mass, axis=-1, keepdims=True)
        bound = to_numpy(plan.epsilon / 2 * ((top + xp.log(total))[..., 0] @ a))
        if step < 2:
            w = settings.invariance.best_map(transpose(x) @ ((mass / total * a[:, None]) @ y))
    ahead = np.flatnonzero(bound > bound[0] + GAIN * problem.score_scale)
    chosen = {int(k) for k in (*ahead[np.argsort(-bound[ahead])][:1], *ahead[-2:])}
    return maps[as_like(np.asarray(sorted(chosen), dtype=np.int64), maps, dtype=xp.int64)]


def _solve(problem: Problem, maps: Array, settings: Settings, plan: EntropicPlan, on_step: Observer | None) -> Run:
    """All the maps together, from the column potentials of ``plan``: mirror images share out mass alike."""
    coupler = EntropicCoupler(problem, maps, settings)
    ones = namespace(maps).ones((maps.shape[0], 1), dtype=maps.dtype, device=device(maps))
    coupler.potentials = replace(coupler.potentials, v=ones * plan.v)
    coupler.epsilon = plan.epsilon
    return alternate(problem, maps, settings, stage="mirror", on_step=on_step, warm=coupler)


def _plan(run: Run) -> EntropicPlan:
    plan = run.plan(0)
    assert isinstance(plan, EntropicPlan)
    return plan
