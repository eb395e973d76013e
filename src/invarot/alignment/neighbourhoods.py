"""Neighbourhoods: where the neighbours of a point lie in its own cloud, how they spread, and how near they are.

A map is fitted to where points are, not to what surrounds them. Where two clouds correspond, even loosely, the surroundings of
a point and of its target agree too. Neighbours are sought among all points of a cloud: a sample of it has lost what is local.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, as_like, device, entries_at_once, namespace, to_numpy, top_k, transpose
from ..retrieval.nearest import NEAREST_BLOCK
from .tuning import DOUBLINGS, NEIGHBOURS, PER_DIMENSION

Table = np.ndarray[Any, np.dtype[np.float64]]
TINY = 1e-9  # below this a length is rounding


@dataclass(frozen=True)
class Neighbourhoods:
    """The surroundings of k points of a cloud of n."""

    places: Array  # (k, d): the points
    drift: Array  # (k, d): the mean of their nearest points, less the point
    shape: Array  # (k, d·d): the covariance of the nearest points over its trace
    distances: Array  # (k, c): squared distances to the 1st, 2nd, 4th … neighbour, and to the centre of the cloud

    def take(self, rows: Array) -> Neighbourhoods:
        """Return the surroundings of some of the points."""
        return Neighbourhoods(self.places[rows], self.drift[rows], self.shape[rows], self.distances[rows])

    def standardise(self) -> tuple[Array, Array, Array]:
        """Return drift, less what is linear in the place, shape, and ranks of the distances at equal distance from the centre.

        Each has mean 0 over the points and sum of squares 1, or is 0 if all points are alike: products are correlations.
        """
        ranks = _rank_inside(to_numpy(self.distances).astype(np.float64))
        return (
            _standard(_drop_linear(self.drift, self.places)),
            _standard(self.shape),
            as_like(ranks, self.places),
        )


def describe_neighbourhoods(points: Array, some: Array) -> Neighbourhoods:
    """Describe the rows ``some`` (k,) of at least two points (n, d) by their nearest others, in blocks."""
    xp = namespace(points)
    half = xp.sum(points**2, axis=1) / 2
    step = max(1, entries_at_once(points, NEAREST_BLOCK) // points.shape[0])
    parts = [_describe(points, half, some[begin : begin + step]) for begin in range(0, some.shape[0], step)]
    drift, shape, distances = (xp.concat(list(part)) for part in zip(*parts, strict=True))
    return Neighbourhoods(points[some], drift, shape, distances)


def _describe(points: Array, half: Array, some: Array) -> tuple[Array, Array, Array]:
    xp = namespace(points)
    (n, d), own = points.shape, points[some]
    steps = _choose_neighbours(n)
    scores = own @ transpose(points) - half  # the largest are the nearest
    scores[xp.arange(some.shape[0], device=device(points)), some] = -xp.inf  # a point is no neighbour of itself
    order = top_k(scores, min(max(NEIGHBOURS, steps[-1]), n - 1))[1]
    near = points[order[:, : min(NEIGHBOURS, n - 1)]]
    centre = xp.mean(near, axis=1)
    spread = near - centre[:, None, :]
    shape = xp.reshape(transpose(spread) @ spread, (some.shape[0], d * d))
    size = xp.sum(spread**2, axis=(1, 2))[:, None]
    shape = xp.where(size > 0, shape / xp.where(size > 0, size, xp.ones_like(size)), xp.zeros_like(shape))
    far = [xp.sum((own - points[order[:, k - 1]]) ** 2, axis=1) for k in steps]
    outside = xp.sum((own - xp.mean(points, axis=0)) ** 2, axis=1)
    return centre - own, shape, xp.stack([*far, outside], axis=1)


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
