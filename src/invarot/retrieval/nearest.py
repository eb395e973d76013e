"""The nearest point in another cloud, by distance: one product per block, in threads, never n × m in memory."""

from __future__ import annotations

import math

from scipy.spatial import cKDTree

from ..arrays import Array, as_like, device, entries_at_once, is_torch, namespace, to_numpy, transpose
from ..threads import map_blocks, workers

NEAREST_BLOCK = 1 << 21  # scores at a time per thread
TREE = 6  # dimensions up to which a kd-tree is faster than products


def nearest(
    z: Array, y: Array, but: Array | None = None, *, lowered: Array | None = None, threads: bool = True
) -> Array:
    """Return the nearest row of y for each row of z, in blocks; ``but`` gives one row of y per row of z to exclude.

    With ``lowered`` (m,) it is the row with the largest ⟨z, y⟩ − lowered. ``threads=False`` is for callers that already run
    in one of our threads.
    """
    xp = namespace(z)
    entries = z.shape[0] * y.shape[0]
    if but is None and lowered is None and entries > NEAREST_BLOCK and z.shape[1] <= TREE and not is_torch(z):
        return cKDTree(y).query(z, workers=workers() if threads else 1)[1]
    half = xp.sum(y**2, axis=1) / 2 if lowered is None else lowered
    count = math.ceil(entries / entries_at_once(z, NEAREST_BLOCK))
    threads = threads and not is_torch(z)  # torch has its own
    if threads and entries > NEAREST_BLOCK // 8:  # equally many rows per thread
        count = workers() * math.ceil(count / workers())
    step = math.ceil(z.shape[0] / count)
    blocks = [slice(i, i + step) for i in range(0, z.shape[0], step)]

    def work(rows: slice) -> Array:
        scores = z[rows] @ transpose(y)
        scores -= half
        if but is not None:
            scores[xp.arange(scores.shape[0], device=device(z)), but[rows]] = -xp.inf
        return xp.argmax(scores, axis=1)

    return xp.concat(list((map_blocks if threads else map)(work, blocks)))


def find_mutual_nearest(z: Array, y: Array, some: Array) -> tuple[Array, Array]:
    """Return the nearest row of y for the rows ``some`` (k,) of z, and whether each pair is mutual."""
    there = nearest(z[some], y)
    return there, nearest(y[there], z) == some


def nearest_distances(z: Array, y: Array) -> Array:
    """Return the squared distance (n,) of each row of z to the nearest row of y: by a kd-tree in few dimensions on the host."""
    if z.shape[1] <= TREE and not is_torch(z):
        return as_like(cKDTree(to_numpy(y)).query(to_numpy(z), workers=workers())[0] ** 2, z)
    return namespace(z).sum((z - y[nearest(z, y)]) ** 2, axis=1)


def neighbour_distances(points: Array, some: Array | None = None) -> Array:
    """Return the squared distance (n,) of each point, or of the rows ``some``, to the nearest other point."""
    asked = points if some is None else points[some]
    if points.shape[1] <= TREE and not is_torch(points):
        host = to_numpy(points)
        return as_like(cKDTree(host).query(to_numpy(asked), 2, workers=workers())[0][:, 1] ** 2, points)
    own = namespace(points).arange(points.shape[0], device=device(points)) if some is None else some
    return namespace(points).sum((asked - points[nearest(asked, points, own)]) ** 2, axis=1)
