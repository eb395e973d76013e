"""Crowding: how near the neighbours of a point are in its own cloud, at points and at the targets a map sends them to.

A map is fitted to where points are, not to how crowded it is there. Where two clouds correspond, even loosely, crowded
places go to crowded places. Any map that keeps the covariance sends sparse outskirts to sparse outskirts, so that the agreement
of a map counts only as far as it exceeds that of its reflections, or at equal distance from the centre.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy, top_values, transpose
from .problem import Problem
from .tuning import CROWD, QUERIES

Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def compare_crowding(problem: Problem, some: Array, there: np.ndarray) -> Table:
    """Return how well the crowding of the points ``some`` (k,) of x agrees with that of their targets ``there`` (s, k).

    The rows of the result (2, s): rank correlation of the distance to a far neighbour; that to a near one, at equal distance
    from the centre.
    """
    used, place = np.unique(there, return_inverse=True)
    rows = as_like(used, problem.y, dtype=namespace(problem.y).int64)
    here, far = describe_crowding(problem.x, problem.a, some), describe_crowding(problem.y, problem.b, rows)
    found = np.zeros((2, there.shape[0]))
    for k, one in enumerate(place.reshape(there.shape)):
        mine, other = _standard_ranks(here), _standard_ranks(far[one])
        found[0, k] = mine[:, 1] @ other[:, 1]
        inside, beside = (_standard(side[:, 0] - (side[:, 0] @ side[:, 2]) * side[:, 2]) for side in (mine, other))
        found[1, k] = inside @ beside
    return found


def describe_crowding(points: Array, weights: Array, rows: Array) -> Table:
    """Return the squared distances of some points (k,) to a near and a far neighbour, and to the centre: (k, 3), on the host.

    Neighbours are sought among at most `QUERIES` points, evenly over the rows.
    """
    xp = namespace(points)
    step = -(-points.shape[0] // QUERIES)
    among, mine = points[::step], points[rows]
    scores = mine @ transpose(among) - xp.sum(among**2, axis=1) / 2
    at = to_numpy(rows)
    own = np.flatnonzero(at % step == 0)
    places = (as_like(one, points, dtype=xp.int64) for one in (own, at[own] // step))
    scores[tuple(places)] = -xp.inf  # a point is no neighbour of itself
    near, far = (max(1, min(count, among.shape[0] - 1)) for count in CROWD)
    best = xp.sort(top_values(scores, far), axis=1)
    square = xp.sum(mine**2, axis=1)
    outside = xp.sum((mine - weights @ points) ** 2, axis=1)
    columns = square - 2 * best[:, far - near], square - 2 * best[:, 0], outside
    return to_numpy(xp.stack(columns, axis=1)).astype(np.float64)


def _standard_ranks(table: Table) -> Table:
    """Return the ranks of each column, of mean 0 and length 1; equal values share a rank."""
    ranks = np.empty_like(table)
    for k, column in enumerate(table.T):
        _, place, count = np.unique(column, return_inverse=True, return_counts=True)
        ranks[:, k] = (np.cumsum(count) - (count + 1) / 2)[place]
    return np.apply_along_axis(_standard, 0, ranks)


def _standard(values: np.ndarray) -> np.ndarray:
    inside = values - values.mean()
    length = float(np.sqrt(inside @ inside))
    return inside / length if length > 1e-9 else np.zeros_like(inside)
