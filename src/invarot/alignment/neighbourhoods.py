"""Neighbourhoods: where the neighbours of a point lie in its own cloud, how they spread, and how near they are.

A map is fitted to where points are, not to what surrounds them. Where two clouds correspond, even loosely, the surroundings of
a point and of its target agree too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, as_like, device, namespace, to_numpy, top_k, transpose
from .tuning import DOUBLINGS, NEIGHBOURS, PER_DIMENSION

Table = np.ndarray[Any, np.dtype[np.float64]]
TINY = 1e-9  # below this a length is rounding


@dataclass(frozen=True)
class Neighbourhoods:
    """The surroundings of n points; each array has mean 0 over the points and sum of squares 1, or is 0 if all are alike."""

    drift: Array  # (n, d): the mean of the nearest points, less the point, and less what is linear in its position
    shape: Array  # (n, d·d): their covariance over its trace
    crowding: Array  # (n, c): ranks of distances to the 1st, 2nd, 4th … neighbour, at equal distance from the centre

    @property
    def table(self) -> Array:
        """All of them side by side (n, d + d·d + c)."""
        return namespace(self.drift).concat([self.drift, self.shape, self.crowding], axis=1)


def describe_neighbourhoods(points: Array) -> Neighbourhoods:
    """Describe the surroundings of each of at least two points (n, d) by its nearest others."""
    xp = namespace(points)
    n, d = points.shape
    half = xp.sum(points**2, axis=1) / 2
    scores = points @ transpose(points) - half  # the largest are the nearest
    order = top_k(scores, n)[1]
    order = order[order != xp.reshape(xp.arange(n, device=device(points)), (n, 1))]
    order = xp.reshape(order, (n, n - 1))  # a point is no neighbour of itself
    near = points[order[:, : min(NEIGHBOURS, n - 1)]]
    centre = xp.mean(near, axis=1)
    spread = near - centre[:, None, :]
    shape = xp.reshape(transpose(spread) @ spread, (n, d * d))
    size = xp.sum(spread**2, axis=(1, 2))[:, None]
    shape = xp.where(size > 0, shape / xp.where(size > 0, size, xp.ones_like(size)), xp.zeros_like(shape))
    far = [xp.sum((points - points[order[:, k - 1]]) ** 2, axis=1) for k in _choose_neighbours(n)]
    outside = xp.sum((points - xp.mean(points, axis=0)) ** 2, axis=1)
    distances = to_numpy(xp.stack([*far, outside], axis=1)).astype(np.float64)
    return Neighbourhoods(
        drift=_standard(_drop_linear(centre - points, points)),
        shape=_standard(shape),
        crowding=as_like(_rank_inside(distances), points),
    )


def _drop_linear(offsets: Array, points: Array) -> Array:
    """Return the offsets less their best linear fit by the points: any two clouds of one covariance agree in that."""
    xp = namespace(points)
    n, d = points.shape
    if n <= PER_DIMENSION * d:
        return offsets
    basis, _ = xp.linalg.qr(xp.concat([xp.ones_like(points[:, :1]), points], axis=1))
    return offsets - basis @ (transpose(basis) @ offsets)


def _choose_neighbours(n: int) -> list[int]:
    """Return 1, 2, 4 … 256, none beyond the n − 1 others: as many for clouds of any size, so that they can be compared."""
    return [min(2**k, n - 1) for k in range(DOUBLINGS)]


def _standard(values: Array) -> Array:
    """Return values of mean 0 over the rows and sum of squares 1; 0 where rows differ by rounding only."""
    xp = namespace(values)
    inside = values - xp.mean(values, axis=0)
    length = float(xp.linalg.vector_norm(inside))
    size = float(xp.linalg.vector_norm(values))
    return inside / length if length > TINY * size else xp.zeros_like(inside)


def _rank_inside(distances: Table) -> Table:
    """Return the ranks of all columns but the last, less what the rank of the last one explains, standardised."""
    ranks = np.stack([_rank(column) for column in distances.T], axis=1)
    centre = ranks[:, -1:]
    inside = ranks[:, :-1] - centre * (centre.T @ ranks[:, :-1])
    length = float(np.linalg.norm(inside))
    return inside / length if length > TINY else np.zeros_like(inside)


def _rank(column: Table) -> Table:
    """Return ranks of mean 0 and sum of squares 1; equal values share a rank."""
    _, place, count = np.unique(column, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count + 1) / 2)[place]
    inside = ranks - ranks.mean()
    length = float(np.linalg.norm(inside))
    return inside / length if length > TINY else np.zeros_like(inside)
