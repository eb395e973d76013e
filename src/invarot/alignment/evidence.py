"""Evidence for a map without labels: points held out of the fit.

With few points per dimension a map can fit anything, so the points it was fitted on say little: a part of them is held out. Where
they lie on their targets, to well below the distance between neighbours, the map is right. Else a search compares them with a
null treated in the same way: the target with each principal coordinate shifted along a random order of its points, which
keeps the covariance and removes all correspondence. Two clouds of one kind fit better than such a null even where they do not
correspond, so a verdict compares the map with reflections of itself instead (`contest`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..arrays import Array, as_like, device, is_torch, namespace, svd, to_numpy, transpose
from ..geometry.orthogonal import RotationGroup
from ..geometry.schatten import SchattenBall, extreme_spectrum
from ..retrieval.nearest import nearest
from ..threads import map_blocks
from .problem import Problem
from .tuning import FOLDS, LOOSER, NULL_ROUNDS, QUERIES, REPEATS, SLACK, SURE_ERRORS, SURE_TWINS
from .verdict import Evidence


@dataclass(frozen=True)
class HeldOut:
    """Measurements of points under maps fitted without them."""

    split: float  # how often such a map sends a point to the same target as the full map
    gap: float  # summed squared distances to the nearest targets, each at most a hundred times that of the others
    spacing: float  # the same between neighbours of one cloud, the geometric mean of both clouds

    @property
    def twins(self) -> float:
        """How much nearer points lie to their targets than neighbours of one cloud to each other: 1 − gap/spacing."""
        return 1 - self.gap / self.spacing if self.spacing > 0 else 0.0


def explains_unseen(problem: Problem, w: Array, rng: np.random.Generator) -> bool:
    """Return whether the map w (dx, dy) holds for points held out of the fit: the test that ends a search early.

    Either they lie on their targets, at less than half the (squared) distance between neighbours of one cloud: true for
    copies of one cloud, never for two samples of one shape. Or maps fitted without them send them to the same targets more
    often than such maps of a null by many standard errors: in many dimensions only a right map does.
    """
    some = choose_queries(problem, rng)
    held = hold_out(problem, w, some)
    if held.twins >= SURE_TWINS:
        return True
    draws = min(max(QUERIES // (2 * problem.x.shape[0]), 1), REPEATS)  # with few points, one null says little
    nulls = [hold_out(*_make_null(problem, w, some, rng), some, null=True).split for _ in range(draws)]
    return (held.split - float(np.mean(nulls))) * some.shape[0] ** 0.5 >= SURE_ERRORS


def gather_evidence(problem: Problem, w: Array, rng: np.random.Generator) -> Evidence:
    """Measure what held-out points say of a map w (dx, dy); the contest, rivals and better answers are added elsewhere."""
    some = choose_queries(problem, rng)
    held = hold_out(problem, w, some)
    return Evidence(
        split=held.split,
        twins=held.twins,
        points=int(some.shape[0]),
        dimensions=min(effective_dimensions(problem.x, problem.a), effective_dimensions(problem.y, problem.b)),
    )


def choose_queries(problem: Problem, rng: np.random.Generator) -> Array:
    """Return the rows of x that are held out in turn, in random order."""
    xp = namespace(problem.x)
    return as_like(rng.permutation(problem.x.shape[0])[:QUERIES], problem.x, dtype=xp.int64)


def effective_dimensions(points: Array, weights: Array) -> float:
    """Return (tr C)²/tr C² of the covariance C: the number of dimensions over which points are spread evenly."""
    xp = namespace(points)
    inside = points - weights @ points
    covariance = transpose(inside * weights[:, None]) @ inside
    total = float(xp.linalg.trace(covariance))
    return 1 / max(float(xp.sum((covariance / total) ** 2)), 1e-30) if total > 0 else 0.0


# -- the null -----------------------------------------------------------------------------------------------------------


def _make_null(problem: Problem, w: Array, some: Array, rng: np.random.Generator) -> tuple[Problem, Array]:
    """The problem with a target of the same covariance without correspondence, and a map fitted to it, starting from ``w``.

    Each principal coordinate is shifted by a number of its own along one random order of the points.
    """
    xp = namespace(w)
    x, y = problem.x[some], problem.y
    m = y.shape[0]
    _, axes = xp.linalg.eigh(transpose(y) @ y)
    order = as_like(np.tile(rng.permutation(m), 2), y, dtype=xp.int64)
    back = as_like(rng.permutation(m), y, dtype=xp.int64)  # which row gets them says nothing either
    coordinates = y @ axes
    shifts = rng.integers(m, size=y.shape[1])
    columns = [coordinates[:, k][order[int(shift) : int(shift) + m]] for k, shift in enumerate(shifts)]
    shuffled = xp.stack(columns, axis=1)[back] @ transpose(axes)
    for _ in range(NULL_ROUNDS):
        there = problem.rows.map(partial(nearest, y=shuffled), x @ w)
        w = problem.maps.best_map(transpose(x) @ shuffled[there])
    return replace(problem, y=shuffled), w


# -- points held out of the fit ----------------------------------------------------------------------------------------


def hold_out(problem: Problem, w: Array, some: Array, *, null: bool = False) -> HeldOut:
    """Test the points ``some`` of x, each quarter with a map fitted on mutual neighbours of the other quarters.

    A map fitted on few points determines few directions: points are compared only in those. For a ``null`` only the split
    and the gap are computed; its spacing is 0.
    """
    xp = namespace(w)
    x, y = problem.x, problem.y
    z = x @ w
    there = problem.rows.map(partial(nearest, y=y), z[some])
    mutual = problem.rows.map(partial(nearest, y=z), y[there]) == some
    fold = xp.arange(some.shape[0], device=device(w)) % FOLDS

    def judge(quarter: int) -> tuple[int, float, float, float]:
        """Return the number of points with the same target, their squared distances to it, and the spacing of both clouds."""
        held = xp.nonzero(fold == quarter)[0]
        rest = xp.nonzero((fold != quarter) & mutual)[0]
        if rest.shape[0] == 0:  # nothing to fit on: no evidence
            return 0, float(xp.sum(z[some[held]] ** 2)), 0.0, 0.0
        into, out = _known_directions(transpose(x[some[rest]]) @ y[there[rest]], problem.maps)
        mine, targets = x[some[held]] @ into, y if out is None else y @ out
        hit = nearest(mine, targets, threads=False)
        same = int(xp.sum(xp.astype(hit == there[held], xp.int64)))
        gap = xp.sum((mine - targets[hit]) ** 2, axis=1)
        if null:
            return same, float(xp.sum(gap)), 0.0, 0.0
        spacings = _square_spacing(x @ into, some[held]), _square_spacing(targets, hit)
        bound = min(_bound(one) for one in spacings)
        gap, left, right = (xp.minimum(one, xp.full_like(one, bound)) for one in (gap, *spacings))
        return same, float(xp.sum(gap)), float(xp.sum(left)), float(xp.sum(right))

    quarters = range(min(FOLDS, some.shape[0]))
    spread = map if is_torch(w) else map_blocks
    measured = problem.rows.deal(lambda own: list(spread(judge, own)), quarters)
    same, gap, *spacing = (sum(column) for column in zip(*measured, strict=True))
    return HeldOut(split=same / some.shape[0], gap=gap, spacing=(spacing[0] * spacing[1]) ** 0.5)


def _square_spacing(points: Array, rows: Array) -> Array:
    """Return the squared distances of the points ``rows`` to their nearest other points; 0 where there are none."""
    xp = namespace(points)
    if points.shape[0] < 2:
        return xp.zeros_like(points[rows, 0])
    apart = points[rows] - points[nearest(points[rows], points, rows, threads=False)]
    return xp.sum(apart**2, axis=1)


def _bound(square: Array) -> float:
    """Return the squared distance beyond which a point counts no more: ten times as far as the others, of which the farthest are left out.

    A point far off would outweigh all others.
    """
    ordered = np.sort(to_numpy(square))
    typical = float(np.mean(ordered[: math.ceil((1 - SLACK) * len(ordered))]))
    return LOOSER**2 * typical if typical > 0 else math.inf


def _known_directions(moment: Array, maps: SchattenBall | RotationGroup) -> tuple[Array, Array | None]:
    """Return the best map for a moment as two factors: x @ first and y @ second lie in the range of the moment.

    If that is all of y's space, the second would only rotate both: the first is then the map, and the second None.
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
