"""The evidence for an alignment, gathered without labels: what a map that did not see a point makes of it.

A map can be made to fit anything where points are few beside its dimensions, so the points it was fitted on say little.
Everything weighed here is measured on points held out of the fit, and beside a null treated in the same way: the target
with each principal coordinate shuffled by itself, which keeps the covariance and leaves no correspondence.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..arrays import Array, as_like, device, is_torch, log, namespace, svd, to_numpy, transpose
from ..geometry.schatten import SchattenBall, extreme_spectrum
from ..retrieval.nearest import mutually_nearest, nearest
from ..threads import map_blocks, own_threads
from ..transport.plan import EntropicPlan, SparsePlan
from .problem import Problem
from .settings import Settings

QUERIES = 2000  # source points that the evidence is gathered on, at most
CYCLES = 1000  # of those, that are sent there and back by the plan
FOLDS = 4  # a point is judged by a map fitted on the other three quarters
REFITS = 6  # rounds of nearest neighbours and best map that the null is given to fit itself
NULL_POINTS = 1000  # nulls are drawn until they hold this many points together, four at most


@dataclass(frozen=True)
class Evidence:
    """What the verdict rests on. More of each is better, but for ``rivals``, ``marginal_error``, ``smooth`` and ``better``.

    Attributes
    ----------
    gain : the part of the null's distance to the nearest target that held-out points save; negative where they lie farther.
    split : how often a map fitted without a point sends it to the same target as the whole map.
    mutual : share of source points that are the nearest neighbour of their own nearest neighbour, mapped.
    cycle : share of the mass of (some of) those points that the plan's best match sends back to where it came from.
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
    draws = min(max(NULL_POINTS // problem.x.shape[0], 1), 4)
    # one null after the other, and the map beside them: while an SVD of one keeps a core, the other has both
    with own_threads(), ThreadPoolExecutor(1) as beside:
        judged = partial(held_out, problem.x, problem.y, w, some, settings)
        coming = judged if is_torch(w) else beside.submit(judged).result  # torch has threads of its own
        nulls = [
            held_out(problem.x, *_null(problem, w, some, settings, rng), some, settings, null=True)
            for _ in range(draws)
        ]
        found = coming()
    gap = float(np.mean([one.gap for one in nulls]))
    return Evidence(
        gain=1 - found.gap / gap if gap > 0 else 0.0,
        split=found.split,
        mutual=found.mutual,
        cycle=cycle_share(plan, some[:CYCLES]) if plan is not None else 0.0,
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

    def judge(quarter: int) -> tuple[int, float, float, float]:
        """Points that come out at the same target, their squared distances to it, and the spacing of both clouds there."""
        held = xp.nonzero(fold == quarter)[0]
        rest = xp.nonzero((fold != quarter) & mutual)[0]
        if rest.shape[0] == 0:  # nothing to fit on: no evidence
            return 0, float(xp.sum(z[some[held]] ** 2)), 0.0, 0.0
        into, out = _known_directions(transpose(x[some[rest]]) @ y[there[rest]], settings)
        mine, targets = x[some[held]] @ into, y if out is None else y @ out
        hit = nearest(mine, targets, threads=False)
        same = int(xp.sum(xp.astype(hit == there[held], xp.int64)))
        gap = float(xp.sum((mine - targets[hit]) ** 2))
        if null:
            return same, gap, 0.0, 0.0
        return same, gap, _spacing(x @ into, some[held]), _spacing(targets, hit)

    quarters = range(min(FOLDS, some.shape[0]))
    same, gap, *spacing = (
        sum(column) for column in zip(*(map if is_torch(w) else map_blocks)(judge, quarters), strict=True)
    )
    pairs = xp.nonzero(mutual)[0]
    return HeldOut(
        split=same / some.shape[0],
        gap=gap,
        spacing=(spacing[0] * spacing[1]) ** 0.5,
        mutual=float(xp.mean(xp.astype(mutual, x.dtype))),
        smooth=0.0 if null else _smoothness(x[some[pairs]], z[some[pairs]] - y[there[pairs]]),
    )


def _spacing(points: Array, rows: Array) -> float:
    """Summed squared distances of the points ``rows`` to their nearest other points."""
    if points.shape[0] < 2:
        return 0.0
    return float(
        namespace(points).sum((points[rows] - points[nearest(points[rows], points, rows, threads=False)]) ** 2)
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


def _known_directions(moment: Array, settings: Settings) -> tuple[Array, Array | None]:
    """The best map for a moment in two factors: x @ first and y @ second lie in the directions the moment knows.

    Where it knows all of y's, the second would only turn both: the first is the map itself, and the second None.
    """
    xp = namespace(moment)
    invariance = settings.invariance
    u, s, vt = svd(moment)
    least = 10 * float(xp.finfo(moment.dtype).eps) * max(moment.shape) * s[0]
    rank = max(1, int(xp.sum(xp.astype(s > least, xp.int64))))
    known, v = u[:, :rank], transpose(vt[:rank, :])
    if isinstance(invariance, SchattenBall):
        into = known * extreme_spectrum(s, invariance.p, invariance.size(*moment.shape))[:rank]
    else:
        into = known @ (transpose(known) @ invariance.best_map(moment) @ v)
    return (into @ transpose(v), None) if rank == moment.shape[1] else (into, v)


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
