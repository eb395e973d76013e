"""Thinner clouds of even density."""

from __future__ import annotations

from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]

FEW_DIMENSIONS = 3  # dimensions up to which the cells of a grid hold several points


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


def _find_cells(points: Floats, side: float) -> Floats:
    """Return the number (n,) of the cell of a grid that holds each point; points are not negative."""
    number = np.zeros(len(points), dtype=np.int64)
    for column in points.T:
        number = number * 4096 + np.floor(column / side).astype(np.int64)  # at most 1025 cells a side
    return number
