"""The motion that lays one sample of a surface on another, where the samples share no points.

The nearest target of a point is off by about the distance between neighbours along the surface and hardly across it; noise is alike
in all directions. A fit that counts all directions alike is as inexact as the samples are coarse. Here the residuals r are seen in
the local axes U of both clouds, the thinnest first, and weighed by the inverse of their own variance D along these:

    min Σ w r'U D⁻¹ U'r  over rotations and translations, by Gauss–Newton steps with new nearest points, U and D each.

Where residuals are alike in all directions (noise, clouds that fill space) it is the plain least-squares fit.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.linalg import expm
from scipy.spatial import cKDTree

Floats = np.ndarray[Any, Any]

NEIGHBOURS = 6  # of a point, whose covariance is its scatter
OUTLIER = 6.0  # squared residual over its variance, per dimension, from which a pair does not count
FLAT = 2.0  # variance of residuals along a surface over that across it, at least
ROUNDS = 20  # at most
SMALL = 1e-5  # turn, in radians, that ends the rounds


def slide_on_surfaces(x: Floats, y: Floats, w: Floats, cut: float) -> Floats:
    """Return the map w (d + 1, d), its offset as the last row, turned and shifted such that x (n, d) lies on y (m, d).

    Pairs farther apart than ``cut`` do not count. A scale, and whether the map mirrors, do not change.
    """
    scatter_x, scatter_y = measure_scatter(x), measure_scatter(y)
    tree = cKDTree(y)
    linear, offset = w[:-1], w[-1]
    for _ in range(ROUNDS):
        z = x @ linear + offset
        i, j = _pair_up(z, y, tree, cut)
        if len(i) < 2 * len(y[0]) ** 2:
            break
        precision = weigh_directions(z[i] - y[j], scatter_y[j] + linear.T @ scatter_x[i] @ linear)
        residuals = z[i] - y[j]
        square = np.einsum("kd,kde,ke->k", residuals, precision, residuals)
        weights = np.maximum(1 - square / (OUTLIER * len(offset)), 0.0) ** 2
        centre = weights @ z[i] / weights.sum()
        turn, shift = _step(z[i] - centre, y[j] - centre, precision * weights[:, None, None])
        linear, offset = linear @ turn, (offset - centre) @ turn + centre + shift
        if np.linalg.norm(turn - np.eye(len(turn))) < SMALL:
            break
    return np.concatenate([linear, offset[None]])


def measure_scatter(points: Floats) -> Floats:
    """Return the covariance (n, d, d) of each point and its nearest neighbours."""
    near = cKDTree(points).query(points, min(NEIGHBOURS + 1, len(points)))[1]
    around = points[near] - points[near].mean(axis=1, keepdims=True)
    return np.asarray(np.swapaxes(around, 1, 2) @ around / near.shape[1])


def show_surfaces(x: Floats, y: Floats, w: Floats, cut: float) -> bool:
    """Return whether residuals vary less across the clouds than along them: else there is nothing to weigh."""
    z = x @ w[:-1] + w[-1]
    i, j = _pair_up(z, y, cKDTree(y), cut)
    if len(i) < 2 * y.shape[1] ** 2:
        return False
    variance = _measure_axes(z[i] - y[j], measure_scatter(y)[j] + measure_scatter(z)[i])[1]
    return bool(variance[0] * FLAT < variance.max())


def weigh_directions(residuals: Floats, scatter: Floats) -> Floats:
    """Return the precision (k, d, d) of residuals (k, d): the inverse of their variance along each axis of the scatter (k, d, d)."""
    axes, variance = _measure_axes(residuals, scatter)
    variance = np.maximum(variance, 1e-6 * max(float(variance.max()), 1e-300))  # copies have none
    return np.asarray((axes / variance) @ np.swapaxes(axes, 1, 2))


def _measure_axes(residuals: Floats, scatter: Floats) -> tuple[Floats, Floats]:
    """Return the axes (k, d, d) of the scatter, as columns and the thinnest first, and the variance (d,) of residuals along them."""
    axes = np.linalg.eigh(scatter)[1]
    square = np.einsum("kd,kdp->kp", residuals, axes) ** 2
    return axes, np.median(square, axis=0) / 0.455  # the median of a squared normal variable


def _pair_up(z: Floats, y: Floats, tree: cKDTree, cut: float) -> tuple[Floats, Floats]:
    """Return rows of z and of y that are nearest to each other, seen from either side, within ``cut``."""
    there, j = tree.query(z, distance_upper_bound=cut)
    back, i = cKDTree(z).query(y, distance_upper_bound=cut)
    near, met = np.flatnonzero(np.isfinite(there)), np.flatnonzero(np.isfinite(back))
    return np.r_[near, i[met]], np.r_[j[near], met]


def _step(z: Floats, y: Floats, precision: Floats) -> tuple[Floats, Floats]:
    """Return the turn (d, d) and shift (d,) of one Gauss–Newton step for z @ turn + shift ≈ y (k, d)."""
    d = z.shape[1]
    skew = []
    for p, q in combinations(range(d), 2):
        one = np.zeros((d, d))
        one[p, q], one[q, p] = 1.0, -1.0
        skew.append(one)
    moves = np.concatenate(
        [np.stack([z @ one for one in skew], axis=2), np.broadcast_to(np.eye(d), (len(z), d, d))], axis=2
    )
    weighed = precision @ moves  # (k, d, parameters)
    normal = np.einsum("kdp,kdq->pq", moves, weighed)
    found = np.linalg.lstsq(normal, np.einsum("kdp,kd->p", weighed, y - z), rcond=1e-10)[0]
    turn = expm(sum(angle * one for angle, one in zip(found, skew, strict=False)))
    return turn, found[len(skew) :]
