"""The motion that lays one sample of a surface on another, where the samples share no points, and how well it does.

The nearest target of a point is off by about the distance between neighbours along the surface and hardly across it; noise is alike
in all directions. A fit that counts all directions alike is as inexact as the samples are coarse. Here the residuals r are seen in
the local axes U of both clouds, the thinnest first, and weighed by the inverse of their own variance D along these:

    min Σ w r'U D⁻¹ U'r  over rotations and translations, by Gauss–Newton steps with new nearest points, U and D each.

Where residuals are alike in all directions (noise, clouds that fill space) it is the plain least-squares fit.

Motions are compared by `measure_misfit`: residuals over the scatter of both neighbourhoods. It is bounded on either side, so that
neither points without a counterpart nor points that coincide by chance (meshes repeat themselves) decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ..threads import map_blocks
from .axes import find_axes
from .motions import extrapolate, find_step, flatten, leave_out_motion, make_moves, make_turns, measure_size, move_back

Floats = np.ndarray[Any, Any]

SURFACE_NEIGHBOURS = 6  # of a point, whose covariance is its scatter
OUTLIER = 6.0  # squared residual over its variance, per dimension, from which a pair does not count
FLAT = 2.0  # variance of residuals along a surface over that across it, at least
BORDER = 0.35  # squared distance from a point to the mean of its neighbours, over their scatter: 1/7 inside, 0.56 on a straight border
THIN = 0.01  # least thickness of a neighbourhood, as a share of its squared size: a tenth of the spacing
SURFACE_ROUNDS = 20  # at most
EXTRAPOLATED = 3  # earlier steps from which the next place is extrapolated
SMALL = 1e-4  # turn, in radians, that ends the rounds


@dataclass(frozen=True, eq=False)
class SurfaceSample:
    """Points (n, d) of a surface, their kd-tree, each point with its nearest neighbours (n, k), and their covariance (n, d, d)."""

    points: Floats
    tree: cKDTree
    near: Floats
    scatter: Floats

    def __len__(self) -> int:
        return len(self.points)


def sample_surface(points: Floats) -> SurfaceSample:
    """Return the sample of a surface that ``points`` (n, d) are."""
    tree = cKDTree(points)
    near = tree.query(points, min(SURFACE_NEIGHBOURS + 1, len(points)))[1].reshape(len(points), -1)
    around = points[near] - points[near].mean(axis=1, keepdims=True)
    return SurfaceSample(points, tree, near, np.asarray(np.swapaxes(around, 1, 2) @ around / near.shape[1]))


def sample_surfaces(x: Floats, y: Floats) -> tuple[SurfaceSample, SurfaceSample]:
    """Return the samples of two surfaces, side by side if there are cores."""
    left, right = map_blocks(sample_surface, (x, y))
    return left, right


def count_directions(sample: SurfaceSample) -> float:
    """Return in how many directions the neighbours of a point lie, in the median: 1 on a curve, about 2 where they fill a plane."""
    total = np.trace(sample.scatter, axis1=1, axis2=2)
    return float(np.median(total**2 / (np.sum(sample.scatter**2, axis=(1, 2)) + 1e-300)))


def slide_on_surfaces(
    x: SurfaceSample, y: SurfaceSample, w: Floats, cut: float, *, every: int = 1, rounds: int = SURFACE_ROUNDS,
    held: tuple[Floats, Floats] | None = None, scale: bool = False,
) -> Floats:  # fmt: skip
    """Return the map w (d + 1, d), its offset as the last row, turned and shifted such that x lies on y.

    Pairs farther apart than ``cut`` do not count. Whether the map mirrors does not change, nor a scale, unless ``scale``. ``every`` k-th
    point of either side takes part. ``held`` is a motion of `find_slip` that the fit leaves as it is.
    """
    tried: list[tuple[Floats, Floats]] = []  # where a step began, and the step
    middle = x.points.mean(axis=0)
    corners = middle + np.sqrt(np.mean((x.points - middle) ** 2)) * np.eye(len(w))[:, :-1]
    frame = np.column_stack([corners, np.ones(len(w))])  # points by whose images motions are compared
    for _ in range(rounds):
        found = _weigh_pairs(x, y, w, cut, every)
        if found is None:
            break
        z, there, factor = found
        centre = z.mean(axis=0)
        free = None if held is None else leave_out_motion(held[0], held[1] + centre @ held[0])
        turn, shift = find_step(z - centre, there - centre, factor, free, scale=scale)
        after = np.concatenate([w[:-1] @ turn, ((w[-1] - centre) @ turn + centre + shift)[None]])
        if tried and np.linalg.norm(frame @ (after - w)) > np.linalg.norm(frame @ tried[-1][1]):
            tried = []  # other pairs make another problem
        tried = [*tried[-EXTRAPOLATED:], (w, after - w)]
        w = after if held is not None else extrapolate(tried, frame, scale=scale)
        if np.linalg.norm(turn - np.eye(len(turn))) < SMALL:
            return after
    return w


def measure_misfit(x: SurfaceSample, y: SurfaceSample, w: Floats, some: tuple[Floats, Floats] | None = None) -> Floats:
    """Return how far points of x, then of y, lie from the other surface: q/(q + d), from 0 (on a point) to 1 (far away).

    q = r'S⁻¹r, with the scatter S of both neighbourhoods: about 1 per dimension for two samples of one surface. ``some`` are the
    rows of x and of y to measure; all by default.
    """
    d = y.points.shape[1]
    i, j = _find_nearest(x, y, w, some)
    residuals = x.points[i] @ w[:-1] + w[-1] - y.points[j]
    scatter = _add_scatter(x, y, w, i, j)
    size = np.trace(scatter, axis1=1, axis2=2) + 1e-300
    scatter = scatter / size[:, None, None] + THIN * np.eye(d)
    solved = np.linalg.solve(scatter, residuals[..., None])[..., 0]
    square = np.einsum("kd,kd->k", residuals, solved)
    return np.asarray(square / (square + d * size))


def find_unseen(x: SurfaceSample, y: SurfaceSample, w: Floats, misfit: Floats) -> Floats:
    """Return which points of x, then of y, the other sample cannot speak of: without a counterpart, beyond its border.

    Where the other surface goes on elsewhere, it would have been seen here as well: there a missing counterpart speaks against the map.
    """
    i, j = _find_nearest(x, y, w)
    border = np.r_[_find_border(y)[j[: len(x)]], _find_border(x)[i[len(x) :]]]
    return np.asarray((misfit > 0.5) & border)


def _find_border(sample: SurfaceSample) -> Floats:
    """Return which points (n,) have their neighbours on one side."""
    aside = np.sum((sample.points - sample.points[sample.near].mean(axis=1)) ** 2, axis=1)
    return np.asarray(aside > BORDER * np.trace(sample.scatter, axis1=1, axis2=2))


def _find_nearest(
    x: SurfaceSample, y: SurfaceSample, w: Floats, some: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats]:
    """Return rows of x and of y: each point of x (or ``some``) with its nearest target, then each of y."""
    here, back = (np.arange(len(x)), np.arange(len(y))) if some is None else some
    j = y.tree.query(x.points[here] @ w[:-1] + w[-1])[1]
    i = x.tree.query(move_back(y.points[back], w))[1]
    return np.r_[here, i], np.r_[j, back]


def measure_gaps(x: SurfaceSample, y: SurfaceSample, w: Floats, every: int = 1) -> tuple[Floats, Floats]:
    """Return the distances of every k-th point of x, and of y, to the nearest point of the other cloud under the map w."""
    back = x.tree.query(move_back(y.points[::every], w))[0]
    return y.tree.query(x.points[::every] @ w[:-1] + w[-1])[0], back * measure_size(w)


def measure_relative_gaps(x: SurfaceSample, y: SurfaceSample, w: Floats) -> tuple[Floats, Floats]:
    """Return how far points (n,), (m,) lie from the other cloud, as a squared length over the size of both neighbourhoods.

    It is the distance to the nearest point times that to the mean of the nearest few: these lie around a point of the surface, and
    to one side of a point beyond its border.
    """
    size_x, size_y = (np.trace(one.scatter, axis1=1, axis2=2) for one in (x, y))
    square = measure_size(w) ** 2
    sides = (x.points @ w[:-1] + w[-1], y), (move_back(y.points, w), x)
    (there, j), (back, i) = map_blocks(lambda side: _measure_around(*side), sides)
    sizes = square * size_x + size_y[j], square * size_x[i] + size_y
    there, back = (gap / (size + 1e-300 * (1 + gap)) for gap, size in zip((there, square * back), sizes, strict=True))
    return there, back  # at most 1e300, also where neighbourhoods have no extent


def _measure_around(points: Floats, there: SurfaceSample) -> tuple[Floats, Floats]:
    """Return the distance of points (n, d) to the nearest of ``there`` times that to the mean of the nearest few, and the nearest."""
    distance, near = there.tree.query(points, min(SURFACE_NEIGHBOURS + 1, len(there)))
    distance, near = distance.reshape(len(points), -1), near.reshape(len(points), -1)
    aside = np.linalg.norm(points - there.points[near].mean(axis=1), axis=1)
    return distance[:, 0] * aside, near[:, 0]


def show_surfaces(x: SurfaceSample, y: SurfaceSample, w: Floats, cut: float) -> bool:
    """Return whether residuals vary less across the clouds than along them: else there is nothing to weigh."""
    i, j = _pair_up(x, y, w, cut)
    if len(i) < 2 * y.points.shape[1] ** 2:
        return False
    variance = _measure_axes(x.points[i] @ w[:-1] + w[-1] - y.points[j], _add_scatter(x, y, w, i, j))[1]
    return bool(variance[0] * FLAT < variance.max())


def find_slip(x: SurfaceSample, y: SurfaceSample, w: Floats, cut: float) -> tuple[Floats, Floats] | None:
    """Return the motion of the mapped x that the pairs resist least: z ↦ z A + b, as A (d, d), antisymmetric, and b (d,).

    About the axis of a body of revolution, or along a wall. Its size is such that points move by 1 in the mean square. None: no pairs.
    """
    found = _weigh_pairs(x, y, w, cut)
    if found is None:
        return None
    z, _, factor = found
    centre = z.mean(axis=0)
    skew = make_turns(z.shape[1])
    radius = float(np.sqrt(np.mean(np.sum((z - centre) ** 2, axis=1)))) or 1.0
    resisted = flatten(factor @ make_moves((z - centre) / radius, skew))
    weakest = np.linalg.eigh(resisted.T @ resisted)[1][:, 0]
    turn = sum(angle * one for angle, one in zip(weakest, skew, strict=False)) / radius
    shift = weakest[len(skew) :] - centre @ turn
    size = float(np.sqrt(np.mean(np.sum((z @ turn + shift) ** 2, axis=1)))) or 1.0
    return turn / size, shift / size


def weigh_directions(residuals: Floats, scatter: Floats) -> Floats:
    """Return F (k, d, d) with F'F the precision of residuals (k, d): the inverse of their variance along each axis of the scatter (k, d, d)."""
    axes, variance = _measure_axes(residuals, scatter)
    size = float(np.median(np.trace(scatter, axis1=1, axis2=2)))
    variance = np.maximum(variance, max(1e-6 * float(variance.max()), 1e-15 * size, 1e-300))  # copies have none
    return np.asarray(np.swapaxes(axes, 1, 2) / np.sqrt(variance)[:, None])


def _weigh_pairs(
    x: SurfaceSample, y: SurfaceSample, w: Floats, cut: float, every: int = 1
) -> tuple[Floats, Floats, Floats] | None:
    """Return mapped points and their targets (k, d), and F (k, d, d) with F'F the precision of their difference; None for too few pairs."""
    i, j = _pair_up(x, y, w, cut, every)
    d = y.points.shape[1]
    if len(i) < 2 * d**2:
        return None
    z, there = x.points[i] @ w[:-1] + w[-1], y.points[j]
    residuals = z - there
    factor = weigh_directions(residuals, _add_scatter(x, y, w, i, j))
    square = np.sum((factor @ residuals[..., None]) ** 2, axis=(1, 2))
    weights = np.maximum(1 - square / (OUTLIER * d), 0.0)
    kept = weights > 0
    if kept.sum() < 2 * d**2:
        return None
    return z[kept], there[kept], factor[kept] * weights[kept, None, None]


def _add_scatter(x: SurfaceSample, y: SurfaceSample, w: Floats, i: Floats, j: Floats) -> Floats:
    """Return the scatter (k, d, d) of pairs of points: that of both neighbourhoods."""
    turn = np.kron(w[:-1], w[:-1])  # W'SW as one product of all S, as rows
    return np.asarray(y.scatter[j] + (x.scatter[i].reshape(len(i), -1) @ turn).reshape(len(j), *y.scatter.shape[1:]))


def _measure_axes(residuals: Floats, scatter: Floats) -> tuple[Floats, Floats]:
    """Return the axes (k, d, d) of the scatter, as columns and the thinnest first, and the variance (d,) of residuals along them."""
    axes = find_axes(scatter)
    square = np.einsum("kd,kdp->kp", residuals, axes) ** 2
    return axes, np.median(square, axis=0) / 0.455  # the median of a squared normal variable


def _pair_up(x: SurfaceSample, y: SurfaceSample, w: Floats, cut: float, every: int = 1) -> tuple[Floats, Floats]:
    """Return rows of x and of y that are nearest to each other, seen from either side, within ``cut`` under the map w."""
    there, j = y.tree.query(x.points[::every] @ w[:-1] + w[-1], distance_upper_bound=cut)
    back, i = x.tree.query(move_back(y.points[::every], w), distance_upper_bound=cut / measure_size(w))
    near, met = np.flatnonzero(np.isfinite(there)), np.flatnonzero(np.isfinite(back))
    return np.r_[every * near, i[met]], np.r_[j[near], every * met]
