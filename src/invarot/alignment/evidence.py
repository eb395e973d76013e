"""Evidence for a map without labels: points held out of the fit, a null without correspondence, and a contest with reflected maps.

With few points per dimension a map can fit anything, so the points it was fitted on say little: a part of them is held out,
and compared with a null treated in the same way: the target with each principal coordinate shifted along a random order of
its points, which keeps the covariance and removes all correspondence.

Two clouds of one kind fit better than such a null even where they do not correspond. So the map is also compared with
reflections of itself, by what surrounds points and their targets (`contest`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..arrays import Array, as_like, device, is_torch, namespace, svd, transpose
from ..geometry.orthogonal import RotationGroup
from ..geometry.schatten import SchattenBall, extreme_spectrum
from ..retrieval.nearest import nearest
from ..threads import map_blocks, own_threads
from .problem import Problem
from .tuning import FOLDS, NULL_ROUNDS, QUERIES, REPEATS, SURE_ERRORS, SURE_TWINS
from .verdict import Evidence


@dataclass(frozen=True)
class HeldOut:
    """Measurements of points under maps fitted without them."""

    split: float  # how often such a map sends a point to the same target as the full map
    gap: float  # summed squared distances to the nearest targets
    spacing: float  # the same between neighbours of one cloud, the geometric mean of both clouds

    @property
    def twins(self) -> float:
        """How much nearer points lie to their targets than neighbours of one cloud to each other: 1 − gap/spacing."""
        return 1 - self.gap / self.spacing if self.spacing > 0 else 0.0


@dataclass(frozen=True)
class Unseen:
    """What points held out of the fit say of a map, beside a null."""

    held: HeldOut
    gain: float  # 1 − gap / that of the null
    surplus: float  # split minus that of the null
    points: int  # of x that were used

    @property
    def sure(self) -> bool:
        """Whether the points show without doubt that the map is right, so that a search may end."""
        return self.held.twins >= SURE_TWINS or self.surplus * self.points**0.5 >= SURE_ERRORS


def try_unseen(problem: Problem, w: Array, rng: np.random.Generator) -> Unseen:
    """Compare a map w (dx, dy) with a null, by points held out of the fit of both."""
    n = problem.x.shape[0]
    some = as_like(rng.permutation(n)[:QUERIES], problem.x, dtype=namespace(problem.x).int64)
    draws = min(max(QUERIES // (2 * n), 1), REPEATS)  # with few points, one null says little
    # the nulls one after the other, the map in parallel: while one runs an SVD on one core, the other has both. Not over ranks,
    # which have to share work in the same order, nor for torch, which has its own threads
    with own_threads(), ThreadPoolExecutor(1) as pool:
        measured = partial(hold_out, problem, w, some)
        alone = is_torch(w) or problem.rows.alike
        coming = measured if alone else pool.submit(measured).result
        nulls = [hold_out(*_make_null(problem, w, some, rng), some, null=True) for _ in range(draws)]
        found = coming()
    gap = float(np.mean([one.gap for one in nulls]))
    return Unseen(
        held=found,
        gain=1 - found.gap / gap if gap > 0 else 0.0,
        surplus=found.split - float(np.mean([one.split for one in nulls])),
        points=int(some.shape[0]),
    )


def gather_evidence(problem: Problem, w: Array, rng: np.random.Generator) -> Evidence:
    """Measure the evidence for a map w (dx, dy); the contest, rivals and better answers are added elsewhere."""
    unseen = try_unseen(problem, w, rng)
    return Evidence(
        gain=unseen.gain,
        split=unseen.held.split,
        surplus=unseen.surplus,
        twins=unseen.held.twins,
        points=unseen.points,
        dimensions=min(effective_dimensions(problem.x, problem.a), effective_dimensions(problem.y, problem.b)),
    )


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
        gap = float(xp.sum((mine - targets[hit]) ** 2))
        if null:
            return same, gap, 0.0, 0.0
        return same, gap, _spacing(x @ into, some[held]), _spacing(targets, hit)

    quarters = range(min(FOLDS, some.shape[0]))
    spread = map if is_torch(w) else map_blocks
    measured = problem.rows.deal(lambda own: list(spread(judge, own)), quarters)
    same, gap, *spacing = (sum(column) for column in zip(*measured, strict=True))
    return HeldOut(split=same / some.shape[0], gap=gap, spacing=(spacing[0] * spacing[1]) ** 0.5)


def _spacing(points: Array, rows: Array) -> float:
    """Return the summed squared distances of the points ``rows`` to their nearest other points."""
    if points.shape[0] < 2:
        return 0.0
    return float(
        namespace(points).sum((points[rows] - points[nearest(points[rows], points, rows, threads=False)]) ** 2)
    )


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
