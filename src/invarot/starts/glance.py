"""A quick map from the profiles of a few points, kept only if it is clearly right.

For clouds that are nearly copies of each other this is enough, at a tenth of the cost. The test: the map, refitted once
to its own mutual nearest neighbours, makes mutual neighbours of points it was not fitted on. Where x has density λ and y
density μ, unrelated points are mutual neighbours with probability μ/(λ + μ): over n and m points at most m/(n + m), in
any dimension. Two samples without common points fail the test even with a right map, and get the full search.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, as_like, is_torch, namespace, transpose
from ..retrieval.nearest import find_mutual_nearest
from ..threads import map_blocks
from .matching import moment_map, soft_moment, squared_distances
from .profiles import gram_factor, gram_profiles, principal, quantile_edges, scaled

PROFILED_ROWS = 1500  # points with profiles
GRAM_POWER = 0.5  # of the Gram matrix: the most often right
MATCH_SWEEPS = 20  # of the match: more do not improve it
REST = 0.4  # largest share without a mutual neighbour, relative to that of unrelated points


def try_quick_map(x: Array, y: Array, a: Array, b: Array, *, quantiles: int, epsilon: float) -> Array | None:
    """Return a map (dx, dy) that is clearly right, or None; None for fewer than twice `PROFILED_ROWS` points.

    Rows are taken at even steps: they should be in an order that depends on the cloud only (`canonical_order`).
    """
    if min(x.shape[0], y.shape[0]) < 2 * PROFILED_ROWS:
        return None
    xp = namespace(x)
    edges = quantile_edges(quantiles)
    clouds = ((x, a), (y, b))

    def half_whitened(cloud: tuple[Array, Array]) -> Array:
        points, weights = cloud
        return gram_factor(*principal(points, weights), weights, GRAM_POWER)

    picked = []
    for (points, weights), z in zip(clouds, (map if is_torch(x) else map_blocks)(half_whitened, clouds), strict=True):
        rows = as_like((np.arange(PROFILED_ROWS) + 0.5) * (points.shape[0] / PROFILED_ROWS), points, dtype=xp.int64)
        some = xp.take(weights, rows, axis=0)
        picked.append((rows, gram_profiles(xp.take(z, rows, axis=0), z, weights, edges=edges), some / xp.sum(some)))
    (rows, px, a_s), (columns, py, b_s) = picked
    xs, ys = xp.take(x, rows, axis=0), xp.take(y, columns, axis=0)
    cost = scaled(squared_distances(px, py), a_s, b_s)
    w = moment_map(soft_moment(cost, xs, ys, a_s, b_s, epsilon=epsilon, max_iter=MATCH_SWEEPS))
    there, mutual = find_mutual_nearest(x @ w, y, rows)
    pairs = xp.nonzero(mutual)[0]
    w = moment_map(transpose(xp.take(xs, pairs, axis=0)) @ xp.take(y, xp.take(there, pairs, axis=0), axis=0))
    _, mutual = find_mutual_nearest(x @ w, y, (rows - 1)[::3])  # steps are at least two, so none of these was fitted
    unrelated = x.shape[0] / (x.shape[0] + y.shape[0])
    return w if 1 - float(xp.mean(xp.astype(mutual, x.dtype))) <= REST * unrelated else None
