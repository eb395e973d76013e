"""Rotation-invariant descriptors of the neighbourhood of each point, and thinner clouds of even density."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

Floats = np.ndarray[Any, Any]

COUNTS = 8, 16, 32, 64  # neighbours
RADII = 5.0, 10.0, 15.0  # of balls, over the median distance to the nearest neighbour
MOST = 160  # neighbours in a ball that are used
AXES = 6  # leading spreads of a neighbourhood
FEW = 3  # dimensions up to which balls are described too: in more, all points are about equally far


def describe_neighbourhoods(points: Floats) -> list[Floats]:
    """Return descriptors (n, f), one array per kind.

    First of a number of neighbours: their sorted distances, spreads along their principal axes, and the distance to their
    centre. In few dimensions also of balls: the same spreads and the mean distance, which do not depend on how densely a
    surface was sampled.
    """
    count = min(MOST if points.shape[1] <= FEW else max(COUNTS), len(points) - 1)
    distances, near = cKDTree(points).query(points, count + 1, workers=-1)
    distances, near = distances[:, 1:], near[:, 1:]
    kinds = [np.concatenate([_of_nearest(points, distances, near, min(k, count)) for k in COUNTS], axis=1)]
    if points.shape[1] <= FEW:
        unit = float(np.median(distances[:, 0])) or 1.0
        kinds.append(np.concatenate([_of_ball(points, distances, near, radius * unit) for radius in RADII], axis=1))
    return kinds


def _of_nearest(points: Floats, distances: Floats, near: Floats, count: int) -> Floats:
    centre, spreads = _spreads(points, near[:, :count], np.ones((len(points), count)))
    off = np.linalg.norm(centre - points, axis=1)
    return np.concatenate([distances[:, : count : max(1, count // 8)], spreads, off[:, None]], axis=1)


def _of_ball(points: Floats, distances: Floats, near: Floats, radius: float) -> Floats:
    inside = (distances <= radius) * 1.0
    centre, spreads = _spreads(points, near, inside)
    number = np.maximum(inside.sum(axis=1), 1.0)
    mean = (distances * inside).sum(axis=1) / number
    off = np.linalg.norm(centre - points, axis=1) * (inside.sum(axis=1) > 0)
    return np.column_stack([spreads, off, mean]) / radius


def _spreads(points: Floats, near: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return centres (n, d) of neighbourhoods and their standard deviations along their leading principal axes (n, ≤ `AXES`)."""
    total = np.maximum(weights.sum(axis=1), 1.0)
    around = points[near]
    centre = np.einsum("nk,nkd->nd", weights, around) / total[:, None]
    around = (around - centre[:, None]) * np.sqrt(weights / total[:, None])[..., None]
    if around.shape[1] < around.shape[2]:
        gram = around @ around.swapaxes(1, 2)
    else:
        gram = around.swapaxes(1, 2) @ around
    return centre, np.sqrt(np.maximum(np.linalg.eigvalsh(gram), 0.0))[:, ::-1][:, :AXES]


def thin(points: Floats, count: int) -> Floats:
    """Return about ``count`` points of even density: the means of the cells of a grid; all points if there are no more.

    In more than `FEW` dimensions cells would hold one point each: there, every k-th point.
    """
    if len(points) <= count:
        return points
    if points.shape[1] > FEW:
        return points[:: -(-len(points) // count)]
    low, extent = points.min(axis=0), float(np.ptp(points, axis=0).max())
    small, large = extent / 1024, extent
    for _ in range(12):
        middle = (small * large) ** 0.5
        cells = len(np.unique(np.floor((points - low) / middle), axis=0))
        small, large = (middle, large) if cells > count else (small, middle)
    _, cell = np.unique(np.floor((points - low) / large), axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    number = np.bincount(cell)
    return np.stack([np.bincount(cell, column) / number for column in points.T], axis=1)
