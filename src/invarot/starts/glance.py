"""A first look at many points: a map from the profiles of a few of them, kept only where it is plainly right.

Clouds that are nearly copies of each other need no more than that, at a tenth of the price. What is plain: the map, fitted
once more to its own mutual nearest neighbours, makes mutual neighbours of points it has not seen. Where x lies λ dense and y
μ dense, unrelated points are mutual neighbours with probability μ/(λ + μ): over all of n and m points m/(n + m) at most,
in any dimension. A right map of two samples without a twin gets no further than a wrong one, and is looked for in full.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, as_like, is_torch, namespace, transpose
from ..retrieval.nearest import mutually_nearest
from ..threads import map_blocks
from .matching import moment_map, soft_moment, squared_distances
from .profiles import gram_factor, gram_profiles, principal, quantile_edges, scaled

ROWS = 1500  # points that are described
POWER = 0.5  # of the Gram matrix: the likeliest
SWEEPS = 20  # of the match: more of them do not make it better
REST = 0.4  # of what unrelated points leave without a mutual neighbour: a map that is plainly right leaves less


def glance(x: Array, y: Array, a: Array, b: Array, *, quantiles: int, epsilon: float) -> Array | None:
    """A map (dx, dy) that is plainly right, or None; None for fewer than twice `ROWS` points.

    Rows are taken at even steps: they should come in an order that is the cloud's own.
    """
    if min(x.shape[0], y.shape[0]) < 2 * ROWS:
        return None
    xp = namespace(x)
    edges = quantile_edges(quantiles)
    clouds = ((x, a), (y, b))

    def half_whitened(cloud: tuple[Array, Array]) -> Array:
        points, weights = cloud
        return gram_factor(*principal(points, weights), weights, POWER)

    picked = []
    for (points, weights), z in zip(clouds, (map if is_torch(x) else map_blocks)(half_whitened, clouds), strict=True):
        rows = as_like((np.arange(ROWS) + 0.5) * (points.shape[0] / ROWS), points, dtype=xp.int64)
        some = xp.take(weights, rows, axis=0)
        picked.append((rows, gram_profiles(z, weights, edges=edges, rows=rows), some / xp.sum(some)))
    (rows, px, a_s), (columns, py, b_s) = picked
    xs, ys = xp.take(x, rows, axis=0), xp.take(y, columns, axis=0)
    cost = scaled(squared_distances(px, py), a_s, b_s)
    w = moment_map(soft_moment(cost, xs, ys, a_s, b_s, epsilon=epsilon, max_iter=SWEEPS))
    there, mutual = mutually_nearest(x @ w, y, rows)
    pairs = xp.nonzero(mutual)[0]
    w = moment_map(transpose(xp.take(xs, pairs, axis=0)) @ xp.take(y, xp.take(there, pairs, axis=0), axis=0))
    _, mutual = mutually_nearest(x @ w, y, (rows - 1)[::3])  # steps are at least two: none of these was seen
    unrelated = x.shape[0] / (x.shape[0] + y.shape[0])
    return w if 1 - float(xp.mean(xp.astype(mutual, x.dtype))) <= REST * unrelated else None
