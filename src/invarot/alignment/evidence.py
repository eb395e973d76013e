"""The evidence for a map, without labels: what maps make of points that took no part in fitting them.

A map can be made to fit anything where points are few beside its dimensions, so the points it was fitted on say little.
Everything here is measured on points held out of the fit, and beside a null treated in the same way: the target with each
principal coordinate shuffled by itself, which keeps the covariance and leaves no correspondence.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..arrays import Array, as_like, device, is_torch, namespace, svd, to_numpy, transpose
from ..geometry.orthogonal import RotationGroup
from ..geometry.schatten import SchattenBall, extreme_spectrum
from ..retrieval.nearest import find_mutual_nearest, nearest
from ..threads import map_blocks, own_threads
from .problem import Problem
from .tuning import NULL_ROUNDS, QUERIES
from .verdict import Evidence

FOLDS = 4  # a point is judged by a map fitted on the other three quarters


@dataclass(frozen=True)
class HeldOut:
    """How points fare under maps fitted without them."""

    split: float  # how often such a map sends a point to the same target as the whole map
    gap: float  # summed squared distances to the nearest targets
    spacing: float  # the same between neighbours of one cloud, the geometric mean of both clouds
    smooth: float  # how alike what is left over is at neighbouring points

    @property
    def twins(self) -> float:
        """How much nearer points lie to their targets than neighbours of one cloud to each other: 1 − gap/spacing."""
        return 1 - self.gap / self.spacing if self.spacing > 0 else 0.0


def gather_evidence(problem: Problem, w: Array, rng: np.random.Generator) -> Evidence:
    """What unseen points say of a map w (dx, dy); rivals and better answers are for others to count."""
    some = as_like(rng.permutation(problem.x.shape[0])[:QUERIES], problem.x, dtype=namespace(problem.x).int64)
    draws = min(max(QUERIES // (2 * problem.x.shape[0]), 1), 4)  # of few points a null says little
    # one null after the other, and the map beside them: while an SVD of one keeps a core, the other has both
    with own_threads(), ThreadPoolExecutor(1) as beside:
        measured = partial(hold_out, problem, w, some)
        coming = measured if is_torch(w) else beside.submit(measured).result  # torch has threads of its own
        nulls = [hold_out(*_null(problem, w, some, rng), some, null=True) for _ in range(draws)]
        found = coming()
    gap = float(np.mean([one.gap for one in nulls]))
    return Evidence(
        gain=1 - found.gap / gap if gap > 0 else 0.0,
        split=found.split,
        surplus=found.split - float(np.mean([one.split for one in nulls])),
        twins=found.twins,
        smooth=found.smooth,
        points=some.shape[0],
    )


def _null(problem: Problem, w: Array, some: Array, rng: np.random.Generator) -> tuple[Problem, Array]:
    """The problem with a target of the same covariance without correspondence, and a map fitted to it, set out from ``w``."""
    x, y = problem.x[some], problem.y
    _, axes = namespace(y).linalg.eigh(transpose(y) @ y)
    coordinates = to_numpy(y @ axes)
    shuffled = as_like(np.stack([rng.permutation(column) for column in coordinates.T], axis=1), x) @ transpose(axes)
    for _ in range(NULL_ROUNDS):
        w = problem.maps.best_map(transpose(x) @ shuffled[nearest(x @ w, shuffled)])
    return replace(problem, y=shuffled), w


def hold_out(problem: Problem, w: Array, some: Array, *, null: bool = False) -> HeldOut:
    """The points ``some`` of x judged quarter by quarter by a map fitted on mutual neighbours of the other quarters.

    A map fitted on few points knows few directions: points are compared in those alone. Of a ``null`` only the split and
    the gap are asked; its spacing and smoothness are left at 0.
    """
    xp = namespace(w)
    x, y = problem.x, problem.y
    z = x @ w
    there, mutual = find_mutual_nearest(z, y, some)
    fold = xp.arange(some.shape[0], device=device(w)) % FOLDS

    def judge(quarter: int) -> tuple[int, float, float, float]:
        """Points that come out at the same target, their squared distances to it, and the spacing of both clouds there."""
        held = xp.nonzero(fold == quarter)[0]
        rest = xp.nonzero((fold != quarter) & mutual)[0]
        if rest.shape[0] == 0:  # nothing to fit on: no evidence
            return 0, float(xp.sum(z[some[held]] ** 2)), 0.0, 0.0
        into, out = _known_directions(transpose(x[some[rest]]) @ y[there[rest]], problem.maps)
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


def _known_directions(moment: Array, maps: SchattenBall | RotationGroup) -> tuple[Array, Array | None]:
    """The best map for a moment in two factors: x @ first and y @ second lie in the directions the moment knows.

    Where it knows all of y's, the second would only turn both: the first is the map itself, and the second None.
    """
    xp = namespace(moment)
    u, s, vt = svd(moment)
    least = 10 * float(xp.finfo(moment.dtype).eps) * max(moment.shape) * s[0]
    rank = max(1, int(xp.sum(xp.astype(s > least, xp.int64))))
    known, v = u[:, :rank], transpose(vt[:rank, :])
    if isinstance(maps, SchattenBall):
        into = known * extreme_spectrum(s, maps.p, maps.size(*moment.shape))[:rank]
    else:
        into = known @ (transpose(known) @ maps.best_map(moment) @ v)
    return (into @ transpose(v), None) if rank == moment.shape[1] else (into, v)
