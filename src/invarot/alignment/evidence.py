"""The evidence for an alignment, gathered without labels: what a map that did not see a point makes of it.

A map can be made to fit anything where points are few beside its dimensions, so the points it was fitted on say little.
Everything weighed here is measured on points held out of the fit, and beside a null treated in the same way: the target
with each principal coordinate shuffled by itself, which keeps the covariance and leaves no correspondence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, as_like, device, is_torch, log, namespace, svd, to_numpy, transpose
from ..geometry.schatten import SchattenBall, extreme_spectrum
from ..retrieval.nearest import mutually_nearest, nearest
from ..threads import map_blocks
from ..transport.plan import EntropicPlan, SparsePlan
from .problem import Problem
from .settings import Settings

__all__ = ["Evidence", "HeldOut", "cycle_share", "gather", "held_out", "nearest"]

QUERIES = 2000  # source points that the evidence is gathered on, at most
FOLDS = 4  # a point is judged by a map fitted on the other three quarters
REFITS = 6  # rounds of nearest neighbours and best map that the null is given to fit itself
NULL_POINTS = 1000  # nulls are drawn until they hold this many points together, four at most


@dataclass(frozen=True)
class Evidence:
    """What the verdict rests on; every share is between 0 and 1 and larger is better.

    Attributes
    ----------
    gain : the part of the null's distance to the nearest target that held-out points save.
    split : how often a map fitted without a point sends it to the same target as the whole map.
    mutual : share of source points that are the nearest neighbour of their own nearest neighbour, mapped.
    cycle : share of the mass of those points that the plan's best match sends back to where it came from.
    agreement : share of the finished starts that ended at this map.
    rivals : other maps, as good by the objective, that send points elsewhere: a symmetry of the clouds.
    marginal_error : l_1 error of the plan's marginals.
    surplus : ``split`` less that of the null: in few dimensions any map is stable, in many only a right one.
    twins : how much nearer held-out points lie to their targets than neighbours of one cloud lie to each other; negative
        where they lie farther off.
    smooth : how alike what is left over is at neighbouring points that have matches of their own: noise is not, a wrong
        turn is; next to nothing where points lie nearer to their targets than to each other.
    points : source points that all this was gathered on.
    better : answers of plain starts that score clearly higher (looked for where points are few and one start was asked for).
    """

    gain: float
    split: float
    mutual: float
    cycle: float
    agreement: float
    rivals: int
    marginal_error: float
    surplus: float = 0.0
    twins: float = 0.0
    smooth: float = 0.0
    points: int = 0
    better: int = 0


@dataclass(frozen=True)
class HeldOut:
    """How points fare under maps fitted without them."""

    split: float
    gap: float  # summed squared distances to the nearest targets
    spacing: float  # the same between neighbours of one cloud, the geometric mean of both clouds
    mutual: float
    smooth: float


def gather(
    problem: Problem,
    settings: Settings,
    w: Array,
    plan: EntropicPlan | SparsePlan | None,
    *,
    agreement: float,
    rivals: int,
    rng: np.random.Generator,
) -> Evidence:
    """The evidence for a map w (dx, dy) with its plan, or for the map alone."""
    some = as_like(rng.permutation(problem.x.shape[0])[:QUERIES], problem.x, dtype=namespace(problem.x).int64)
    found = held_out(problem.x, problem.y, w, some, settings)
    draws = min(max(NULL_POINTS // problem.x.shape[0], 1), 4)
    nulls = [
        held_out(problem.x, *_null(problem, w, some, settings, rng), some, settings, null=True) for _ in range(draws)
    ]
    gap = float(np.mean([one.gap for one in nulls]))
    return Evidence(
        gain=1 - found.gap / gap if gap > 0 else 0.0,
        split=found.split,
        mutual=found.mutual,
        cycle=cycle_share(plan, some) if plan is not None else 0.0,
        agreement=agreement,
        rivals=rivals,
        marginal_error=float(plan.error) if plan is not None else 0.0,
        surplus=found.split - float(np.mean([one.split for one in nulls])),
        twins=1 - found.gap / found.spacing if found.spacing > 0 else 0.0,
        smooth=found.smooth,
        points=some.shape[0],
    )


def held_out(x: Array, y: Array, w: Array, some: Array, settings: Settings, *, null: bool = False) -> HeldOut:
    """The points ``some`` of x judged quarter by quarter by a map fitted on mutual neighbours of the other quarters.

    A map fitted on few points knows few directions: points are compared in those alone. Of a ``null`` only the split and
    the gap are asked; its spacing and smoothness are left at 0.
    """
    xp = namespace(w)
    z = x @ w
    there, mutual = mutually_nearest(z, y, some)
    fold = xp.arange(some.shape[0], device=device(w)) % FOLDS
    quarters = [(xp.nonzero(fold == k)[0], xp.nonzero((fold != k) & mutual)[0]) for k in range(FOLDS)]
    quarters = [(held, rest) for held, rest in quarters if held.shape[0] > 0]
    same, gap, spacing = 0, 0.0, [0.0, 0.0]
    moments = [transpose(x[some[rest]]) @ y[there[rest]] for _, rest in quarters]
    for (held, rest), (into, out) in zip(quarters, _known_directions(moments, settings), strict=True):
        if rest.shape[0] == 0:  # nothing to fit on: no evidence
            gap += float(xp.sum(z[some[held]] ** 2))
            continue
        mine, targets = x[some[held]] @ into, y @ out
        hit = nearest(mine, targets)
        same += int(xp.sum(xp.astype(hit == there[held], xp.int64)))
        gap += float(xp.sum((mine - targets[hit]) ** 2))
        for side, (points, rows) in enumerate(() if null else ((x @ into, some[held]), (targets, hit))):
            if points.shape[0] > 1:
                spacing[side] += float(xp.sum((points[rows] - points[nearest(points[rows], points, rows)]) ** 2))
    pairs = xp.nonzero(mutual)[0]
    return HeldOut(
        split=same / some.shape[0],
        gap=gap,
        spacing=(spacing[0] * spacing[1]) ** 0.5,
        mutual=float(xp.mean(xp.astype(mutual, x.dtype))),
        smooth=0.0 if null else _smoothness(x[some[pairs]], z[some[pairs]] - y[there[pairs]]),
    )


def _smoothness(x: Array, left: Array) -> float:
    """⟨left over at a point, left over at its nearest neighbour⟩, relative to the larger of its square and the spacing's.

    Of points with a match each: those that share one share what is left over, whether the map is right or wrong.
    """
    xp = namespace(x)
    if x.shape[0] < 3:
        return 0.0
    beside = nearest(x, x, xp.arange(x.shape[0], device=device(x)))
    size = max(float(xp.sum(left**2)), float(xp.sum((x - x[beside]) ** 2)))
    return float(xp.sum(left * left[beside])) / size if size > 0 else 0.0


def _known_directions(moments: list[Array], settings: Settings) -> list[tuple[Array, Array]]:
    """The best map for each moment in two factors: x @ first and y @ second lie in the directions the moment knows."""
    xp = namespace(moments[0])
    invariance = settings.invariance

    def work(part: slice) -> tuple[Array, Array]:
        moment = moments[part.start]
        u, s, vt = svd(moment)
        least = 10 * float(xp.finfo(moment.dtype).eps) * max(moment.shape) * s[0]
        rank = max(1, int(xp.sum(xp.astype(s > least, xp.int64))))
        known, v = u[:, :rank], transpose(vt[:rank, :])
        if isinstance(invariance, SchattenBall):
            return known * extreme_spectrum(s, invariance.p, invariance.size(*moment.shape))[:rank], v
        return known @ (transpose(known) @ invariance.best_map(moment) @ v), v

    each = [slice(k, k + 1) for k in range(len(moments))]
    return list(map(work, each) if is_torch(moments[0]) else map_blocks(work, each))


def _null(problem: Problem, w: Array, some: Array, settings: Settings, rng: np.random.Generator) -> tuple[Array, Array]:
    """A target of the same covariance without correspondence, and a map fitted to it, set out from ``w``."""
    x, y = problem.x[some], problem.y
    _, axes = namespace(y).linalg.eigh(transpose(y) @ y)
    coordinates = to_numpy(y @ axes)
    shuffled = as_like(np.stack([rng.permutation(column) for column in coordinates.T], axis=1), x) @ transpose(axes)
    for _ in range(REFITS):
        w = settings.invariance.best_map(transpose(x) @ shuffled[nearest(x @ w, shuffled)])
    return shuffled, w


def cycle_share(plan: EntropicPlan | SparsePlan, some: Array) -> float:
    """Mass of the points ``some`` whose best match, taken back by the plan's columns, is where it set out."""
    if isinstance(plan, SparsePlan):
        there, back, rows = (to_numpy(part) for part in (plan.matches(), plan.transposed().matches(), some))
        mass = to_numpy(plan.marginals()[0])[rows]
        return float(mass[back[there[rows]] == rows].sum() / mass.sum())
    there = nearest(plan.z[some], plan.y, lowered=-(plan.v + log(plan.b)) / plan.scale)
    back = nearest(plan.y[there], plan.z, lowered=-(plan.u + log(plan.a)) / plan.scale)
    mass = to_numpy(plan.a[some])
    return float(mass[to_numpy(back == some)].sum() / mass.sum())
