"""The nearest point of another cloud, by distance: one threaded product a block, never n × m in memory."""

from __future__ import annotations

import math

from ..arrays import Array, device, entries_at_once, is_torch, namespace, transpose
from ..threads import map_blocks, workers

BLOCK = 1 << 21  # scores held at a time, a thread


def nearest(
    z: Array, y: Array, but: Array | None = None, *, lowered: Array | None = None, threads: bool = True
) -> Array:
    """For each row of z the nearest row of y, in blocks; ``but`` names a row of y for each that does not count.

    With ``lowered`` (m,) it is the row of the largest ⟨z, y⟩ − lowered instead. ``threads=False`` is for callers that are
    one of ours already.
    """
    xp = namespace(z)
    half = xp.sum(y**2, axis=1) / 2 if lowered is None else lowered
    entries = z.shape[0] * y.shape[0]
    count = math.ceil(entries / entries_at_once(z, BLOCK))
    threads = threads and not is_torch(z)  # torch has its own
    if threads and entries > BLOCK // 8:  # as many rows for each
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
    """The nearest row of y for the rows ``some`` (k,) of z, and whether each of those rows is the nearest of its own."""
    there = nearest(z[some], y)
    return there, nearest(y[there], z) == some
