"""Thinner clouds of even density."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

Floats = np.ndarray[Any, Any]

FEW_DIMENSIONS = 3  # dimensions up to which the cells of a grid hold several points
DENSITY_NEIGHBOURS = 6  # neighbours whose distance shows how densely a surface is sampled
NEARLY = 0.98  # of the points that were asked for are enough
COVERED = 0.9  # of a surface is sampled as densely as the thinner cloud, or more


def thin(points: Floats, count: int) -> Floats:
    """Return about ``count`` points of even density: the means of the cells of a grid; all points if there are no more.

    In more than `FEW_DIMENSIONS` dimensions cells would hold one point each: there, every k-th point.
    """
    if len(points) <= count:
        return points
    if points.shape[1] > FEW_DIMENSIONS:
        return points[:: -(-len(points) // count)]
    above = points - points.min(axis=0)
    side = _find_side(above, count)
    _, cell = np.unique(_find_cells(above, side), return_inverse=True)
    cell = cell.reshape(-1)
    number = np.bincount(cell)
    return np.stack([np.bincount(cell, column) / number for column in points.T], axis=1)


def _find_side(points: Floats, count: int) -> float:
    """Return the side of the cells of a grid of which about ``count``, and no more, hold one of the ``points``, which are not negative.

    The number of cells falls as a power of their side, between the first on a curve and the third in a solid: the last two sides tell.
    """
    extent = float(points.max()) or 1.0
    small, large = extent / 1024, extent
    side, power = max(extent / count**0.5, small), 2.0
    before = None
    for _ in range(12):
        cells = len(np.unique(_find_cells(points, side)))
        small, large = (side, large) if cells > count else (small, side)
        if NEARLY * count <= cells <= count:
            break
        if before is not None and before[1] != cells:
            power = min(max(math.log(cells / before[1]) / math.log(before[0] / side), 1.0), 3.0)
        before = side, cells
        side *= (2 * cells / (count + NEARLY * count)) ** (1 / power)
        side = side if small < side < large else (small * large) ** 0.5
    return large


def count_even(x: Floats, y: Floats) -> tuple[int, int]:
    """Return about how many points of x and of y are left where both are as sparse as the sparser of them is on a tenth of its surface.

    The area that a point stands for grows as the power d − 1 of the distance to its neighbours: in the plane a length, in space an area.
    """
    areas = [_measure_areas(points) for points in (x, y)]
    sparse = max(_weighted_quantile(area, COVERED) for area in areas)
    counts = [len(area) if sparse == 0 else round(float(area.sum()) / sparse) for area in areas]
    return counts[0], counts[1]


def _measure_areas(points: Floats) -> Floats:
    count = min(DENSITY_NEIGHBOURS + 1, len(points))
    return np.asarray(cKDTree(points).query(points, [count])[0][:, 0] ** max(points.shape[1] - 1, 1))


def _weighted_quantile(values: Floats, level: float) -> float:
    """Return the quantile of positive values, each weighted by itself."""
    order = np.sort(values)
    below = np.cumsum(order)
    return float(order[np.searchsorted(below, level * below[-1])])


def _find_cells(points: Floats, side: float) -> Floats:
    """Return the number (n,) of the cell of a grid that holds each point; points are not negative."""
    number = np.zeros(len(points), dtype=np.int64)
    for column in points.T:
        number = number * 4096 + np.floor(column / side).astype(np.int64)  # at most 1025 cells a side
    return number
