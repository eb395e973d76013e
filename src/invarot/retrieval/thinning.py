"""Thinner clouds of even density."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

Floats = np.ndarray[Any, Any]

FEW_DIMENSIONS = 3  # dimensions up to which the cells of a grid hold several points
DENSITY_NEIGHBOURS = 6  # neighbours whose distance shows how densely a surface is sampled
COVERED = 0.9  # of a surface is sampled as densely as the thinner cloud, or more


def thin(points: Floats, count: int) -> Floats:
    """Return about ``count`` points of even density: the means of the cells of a grid; all points if there are no more.

    In more than `FEW_DIMENSIONS` dimensions cells would hold one point each: there, every k-th point.
    """
    if len(points) <= count:
        return points
    if points.shape[1] > FEW_DIMENSIONS:
        return points[:: -(-len(points) // count)]
    low, extent = points.min(axis=0), float(np.ptp(points, axis=0).max())
    small, large = extent / 1024, extent
    for _ in range(12):
        middle = (small * large) ** 0.5
        cells = len(np.unique(_find_cells(points - low, middle)))
        small, large = (middle, large) if cells > count else (small, middle)
    _, cell = np.unique(_find_cells(points - low, large), return_inverse=True)
    cell = cell.reshape(-1)
    number = np.bincount(cell)
    return np.stack([np.bincount(cell, column) / number for column in points.T], axis=1)


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
