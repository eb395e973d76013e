"""Evidence for a map without labels: points held out of the fit, a null without correspondence, and reflected maps.

With few points per dimension a map can fit anything, so the points it was fitted on say little: a part of them is held out,
and compared with a null treated in the same way: the target with each principal coordinate shifted along a random order of
its points, which keeps the covariance and removes all correspondence.

Two clouds of one kind fit better than such a null even where they do not correspond. So the map is also compared with
reflections of itself, in some principal axes of x, refitted for a few rounds. They keep every distance within a cloud and the
covariances that the map has matched. A reflection that fits as well is another answer; where it sends the points says how
finely the map is known.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..arrays import Array, as_like, device, entries_at_once, is_torch, namespace, svd, to_numpy, transpose
from ..geometry.frames import mean_square, weighted_second_moment
from ..geometry.orthogonal import RotationGroup
from ..geometry.schatten import SchattenBall, extreme_spectrum
from ..retrieval.nearest import BLOCK, find_mutual_nearest, nearest
from ..threads import map_blocks, own_threads
from .problem import Problem
from .tuning import ELSEWHERE, NULL_ROUNDS, QUERIES, REFLECTED_POINTS, REFLECTION_ROUNDS, REFLECTIONS
from .verdict import Evidence

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
FOLDS = 4  # a point is tested with a map fitted on the other three quarters
TINY = 1e-12  # relative to the variance of y: a squared distance that counts as none


@dataclass(frozen=True)
class HeldOut:
    """Measurements of points under maps fitted without them."""

    split: float  # how often such a map sends a point to the same target as the full map
    gap: float  # summed squared distances to the nearest targets
    spacing: float  # the same between neighbours of one cloud, the geometric mean of both clouds
    smooth: float  # correlation of the residuals of neighbouring points

    @property
    def twins(self) -> float:
        """How much nearer points lie to their targets than neighbours of one cloud to each other: 1 − gap/spacing."""
        return 1 - self.gap / self.spacing if self.spacing > 0 else 0.0


@dataclass(frozen=True)
class Reflections:
    """Reflected and refitted maps beside the map that is judged, refitted too; the arrays have an entry per reflection."""

    lead: Floats  # log of the mean squared distance to the nearest targets over that of the map
    errors: Floats  # the difference of the two, point by point, in standard errors
    apart: Floats  # share of targets nearer to an image than the target of the reflection
    drift: float  # the same share for the targets of the refitted map itself

    def summarise(self, values: Floats) -> tuple[float, float]:
        """Return the smallest and the mean of ``values`` over the reflections that send points elsewhere; 0 if none does."""
        there = values[self.apart > ELSEWHERE]
        return (float(there.min()), float(there.mean())) if len(there) else (0.0, 0.0)

    @property
    def blur(self) -> float:
        """Share of targets nearer than the true one, if a reflection is as plausible as its fit: e⁻¹ at a lead of 0.2."""
        weight = np.exp(-5 * np.maximum(self.lead, -0.3))
        return float(weight @ self.apart / (1 + weight.sum())) if len(weight) else 1.0


def gather_evidence(
    problem: Problem,
    w: Array,
    rng: np.random.Generator,
    *,
    weights_x: Array | None = None,
    weights_y: Array | None = None,
) -> Evidence:
    """Measure the evidence for a map w (dx, dy); rivals and better answers are counted elsewhere.

    ``weights_x`` (n,) and ``weights_y`` (m,) in [0, 1] say which points have a counterpart; the others are left out.
    """
    problem = keep_matched(problem, weights_x, weights_y)
    n, d = problem.x.shape
    some = as_like(rng.permutation(n)[:QUERIES], problem.x, dtype=namespace(problem.x).int64)
    draws = min(max(QUERIES // (2 * n), 1), 4)  # with few points, one null says little
    # the nulls one after the other, the map in parallel: while one runs an SVD on one core, the other has both
    with own_threads(), ThreadPoolExecutor(1) as pool:
        measured = partial(hold_out, problem, w, some)
        coming = measured if is_torch(w) else pool.submit(measured).result  # torch has its own threads
        nulls = [hold_out(*_make_null(problem, w, some, rng), some, null=True) for _ in range(draws)]
        found = coming()
    mirrored = fit_reflections(problem, w, some[: max(REFLECTED_POINTS, 3 * d)], rng)
    (lead, _), (least_errors, errors) = mirrored.summarise(mirrored.lead), mirrored.summarise(mirrored.errors)
    gap = float(np.mean([one.gap for one in nulls]))
    variance = mean_square(problem.y - problem.b @ problem.y, problem.b)
    return Evidence(
        gain=1 - found.gap / gap if gap > 0 else 0.0,
        split=found.split,
        surplus=found.split - float(np.mean([one.split for one in nulls])),
        twins=found.twins,
        smooth=found.smooth,
        points=int(some.shape[0]),
        lead=lead,
        errors=errors,
        least_errors=least_errors,
        drift=mirrored.drift,
        blur=mirrored.blur,
        residual=found.gap / some.shape[0] / variance if variance > 0 else 1.0,
        dimensions=min(effective_dimensions(problem.x, problem.a), effective_dimensions(problem.y, problem.b)),
    )


def keep_matched(problem: Problem, weights_x: Array | None, weights_y: Array | None) -> Problem:
    """Return the problem of the points with a counterpart, those of weight one half and more."""
    if weights_x is not None:
        x, a = _keep(problem.x, problem.a, weights_x)
        problem = replace(problem, x=x, a=a, second_moment=weighted_second_moment(x, a))
    if weights_y is not None:
        y, b = _keep(problem.y, problem.b, weights_y)
        problem = replace(problem, y=y, b=b)
    return problem


def _keep(points: Array, weights: Array, matched: Array) -> tuple[Array, Array]:
    """Return the points that are matched, and their weights; all of them if fewer than two are."""
    xp = namespace(points)
    rows = xp.nonzero(matched >= 0.5)[0]
    if rows.shape[0] < 2:
        return points, weights
    return points[rows], weights[rows] / xp.sum(weights[rows])


def effective_dimensions(points: Array, weights: Array) -> float:
    """Return (tr C)²/tr C² of the covariance C: the number of dimensions over which points are spread evenly."""
    xp = namespace(points)
    inside = points - weights @ points
    covariance = transpose(inside * weights[:, None]) @ inside
    total = float(xp.linalg.trace(covariance))
    return 1 / max(float(xp.sum((covariance / total) ** 2)), 1e-30) if total > 0 else 0.0


# -- the null and the reflections --------------------------------------------------------------------------------------


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
        w = problem.maps.best_map(transpose(x) @ shuffled[nearest(x @ w, shuffled)])
    return replace(problem, y=shuffled), w


def reflect(problem: Problem, w: Array, rng: np.random.Generator) -> Array:
    """Return w (dx, dy) after reflections of x in its principal axes (s, dx, dy): the strongest two, then random sets."""
    xp = namespace(w)
    _, axes = xp.linalg.eigh(problem.second_moment)
    d = axes.shape[0]
    signs = rng.choice([-1.0, 1.0], size=(REFLECTIONS, d))
    for k in range(min(2, d)):
        signs[k] = 1.0
        signs[k, d - 1 - k] = -1.0
    signs = np.unique(signs, axis=0)
    mirror = as_like(signs[np.any(signs < 0, axis=1)], w)
    return (axes[None, :, :] * mirror[:, None, :]) @ (transpose(axes) @ w)


def fit_reflections(problem: Problem, w: Array, some: Array, rng: np.random.Generator) -> Reflections:
    """Refit w and its reflections to the nearest targets of the points ``some`` for a few rounds, and compare them."""
    xp = namespace(w)
    x, y = problem.x[some], problem.y
    maps = xp.concat([w[None], reflect(problem, w, rng)])
    for left in range(REFLECTION_ROUNDS, -1, -1):
        images = x @ maps
        there = xp.reshape(nearest(xp.reshape(images, (-1, y.shape[1])), y), images.shape[:2])
        if left:
            maps = problem.maps.best_map(transpose(x) @ y[there])
    gaps = xp.sum((images - y[there]) ** 2, axis=-1)
    floor = TINY * float(xp.mean(xp.sum(y**2, axis=1))) + 1e-300
    mean = to_numpy(xp.mean(gaps, axis=1)).astype(np.float64) + floor
    spread = to_numpy(xp.std(gaps - gaps[0], axis=1)).astype(np.float64) + floor
    apart = share_nearer(x @ w, y, there)
    return Reflections(
        lead=np.log(mean[1:] / mean[0]),
        errors=(mean[1:] - mean[0]) / spread[1:] * x.shape[0] ** 0.5,
        apart=apart[1:],
        drift=float(apart[0]),
    )


def share_nearer(z: Array, y: Array, there: Array) -> Floats:
    """Return for each row of ``there`` (s, n) the mean share of y nearer to z (n, d) than the targets it names, in blocks."""
    xp = namespace(z)
    half = xp.sum(y**2, axis=1) / 2
    step = max(1, entries_at_once(z, BLOCK) // y.shape[0])
    total = np.zeros(there.shape[0])
    for begin in range(0, z.shape[0], step):
        rows = slice(begin, begin + step)
        scores = z[rows] @ transpose(y) - half
        for k in range(there.shape[0]):
            own = xp.sum(z[rows] * y[there[k, rows]], axis=1) - half[there[k, rows]]
            own = own + 1e-6 * xp.abs(own)
            total[k] += float(xp.sum(xp.astype(scores > own[:, None], z.dtype)))
    return total / (z.shape[0] * y.shape[0])


# -- points held out of the fit ----------------------------------------------------------------------------------------


def hold_out(problem: Problem, w: Array, some: Array, *, null: bool = False) -> HeldOut:
    """Test the points ``some`` of x, each quarter with a map fitted on mutual neighbours of the other quarters.

    A map fitted on few points determines few directions: points are compared only in those. For a ``null`` only the split
    and the gap are computed; its spacing and smoothness are 0.
    """
    xp = namespace(w)
    x, y = problem.x, problem.y
    z = x @ w
    there, mutual = find_mutual_nearest(z, y, some)
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
    """Return the summed squared distances of the points ``rows`` to their nearest other points."""
    if points.shape[0] < 2:
        return 0.0
    return float(
        namespace(points).sum((points[rows] - points[nearest(points[rows], points, rows, threads=False)]) ** 2)
    )


def _smoothness(x: Array, left: Array) -> float:
    """Return ⟨residual of a point, residual of its nearest neighbour⟩, relative to the larger of its square and the spacing.

    Only for points with different matches: those that share a match have similar residuals in any case.
    """
    xp = namespace(x)
    if x.shape[0] < 3:
        return 0.0
    near = nearest(x, x, xp.arange(x.shape[0], device=device(x)))
    size = max(float(xp.sum(left**2)), float(xp.sum((x - x[near]) ** 2)))
    return float(xp.sum(left * left[near])) / size if size > 0 else 0.0


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
