"""What a rotation cannot change: each point's profile of similarities to its own cloud, and an order of the points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, as_like, is_torch, machine_epsilon, namespace, to_numpy, transpose
from ..geometry.frames import weighted_second_moment
from ..retrieval.scores import unit_rows
from ..threads import map_blocks
from .matching import squared_distances

Levels: TypeAlias = NDArray[np.float64]

BLOCK = 256  # rows sorted at a time: bounds the memory beside the profiles themselves


def principal(x: Array, a: Array) -> tuple[Array, Array]:
    """Coordinates along the principal axes, (n, d), and the spread of each (zero where it is rounding).

    About the origin: the point that every map in the problem leaves where it is.
    """
    xp = namespace(x)
    values, vectors = xp.linalg.eigh(weighted_second_moment(x, a))
    floor = max(float(values[-1]), 0.0) * machine_epsilon(x) * x.shape[1] * 10
    return x @ vectors, xp.where(values > floor, values, xp.zeros_like(values))


def gram_factor(coordinates: Array, spread: Array, a: Array, power: float) -> Array:
    """z (n, d) with ``z @ z.T`` the ``power`` of the (weighted) Gram matrix, from the d × d second moment alone.

    Scaled so that the mean of ‖z_i‖² is one; directions without spread are dropped (set to zero).
    """
    xp = namespace(coordinates)
    safe = xp.where(spread > 0, spread, xp.ones_like(spread))
    z = coordinates * xp.where(spread > 0, safe ** ((power - 1.0) / 2.0), xp.zeros_like(spread))[None, :]
    size = float(xp.sum(xp.sum(z * z, axis=1) * a))
    return z / size**0.5 if size > 0 else z


def canonical_order(x: Array, a: Array) -> Array:
    """Indices that put the rows in an order of their own: by leverage, then length. Rotations do not change it.

    Anything drawn by position after this sort depends on the cloud, not on how its rows came.
    """
    x64, a64 = to_numpy(x).astype(np.float64), to_numpy(a).astype(np.float64)
    # float64: in float32 near-ties would be decided by the order of the sums, hence by the order of the rows
    z = np.asarray(gram_factor(*principal(x64, a64), a64, 0.0))
    order = np.lexsort((np.sum(x64 * x64, axis=1), np.sum(z * z, axis=1), a64))
    return as_like(order, namespace(x).argsort(a))


def subsample(x: Array, a: Array, size: int | None, *, ordered: bool = False) -> tuple[Array, Array, Array]:
    """At most ``size`` rows, their weights (summing to one) and their indices.

    The heaviest rows if weights differ (the first ones if ``ordered``); otherwise rows at even steps of the
    canonical order, so that two copies of one cloud give the same points.
    """
    xp = namespace(x)
    n = x.shape[0]
    rows = canonical_order(x, a)
    if size is not None and size < n:
        if ordered:
            rows = as_like(np.arange(size), rows)
        elif is_uniform(a):
            rows = xp.take(rows, as_like((np.arange(size) + 0.5) * (n / size), rows), axis=0)
        else:
            rows = rows[n - size :]  # the canonical order sorts by weight first
    picked = xp.take(a, rows, axis=0)
    return xp.take(x, rows, axis=0), picked / xp.sum(picked), rows


def is_uniform(a: Array) -> bool:
    """Whether weights are alike for choosing points and ranks; `transport.exact.are_uniform` asks for more."""
    values = to_numpy(a)
    return bool(np.ptp(values) <= 1e-4 * values.mean())


def quantile_edges(count: int) -> Levels:
    """``count + 1`` levels from 0 to 1, close together at both ends, where the near and the far neighbours are."""
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * np.arange(count + 1) / count))


def _bin_matrix(n: int, edges: Levels) -> NDArray[np.float64]:
    """(n, q): what share of each bin of levels each of ``n`` equally heavy sorted values covers."""
    left = np.arange(n)[:, None] / n
    overlap = np.minimum(left + 1 / n, edges[None, 1:]) - np.maximum(left, edges[None, :-1])
    return np.asarray(np.clip(overlap, 0, None) / np.diff(edges)[None, :])


def row_quantiles(values: Array, a: Array, edges: Levels, *, uniform: bool) -> Array:
    """Mean of each row's (weighted) quantile function over each bin of levels: (rows, n) → (rows, q)."""
    xp = namespace(values)
    if uniform:
        return xp.sort(values, axis=1, stable=False) @ as_like(_bin_matrix(values.shape[1], edges), values)
    rows, n = values.shape
    order = xp.argsort(values, axis=1, stable=False)
    ranked = to_numpy(xp.take_along_axis(values, order, axis=1)).astype(np.float64)
    weight = to_numpy(a).astype(np.float64)[to_numpy(order)]
    level = np.cumsum(weight, axis=1)
    level /= level[:, -1:]
    none = np.zeros((rows, 1))
    area = np.concatenate([none, np.cumsum(ranked * np.diff(level, axis=1, prepend=0.0), axis=1)], axis=1)
    level = np.concatenate([none, level], axis=1)
    # one flat search for all rows: row r lives on [2r, 2r + 1]
    shift = 2.0 * np.arange(rows)[:, None]
    at = np.searchsorted((level + shift).ravel(), (edges[None, 1:-1] + shift).ravel(), side="right").reshape(rows, -1)
    at = np.clip(at - np.arange(rows)[:, None] * (n + 1), 1, n)
    rest = edges[None, 1:-1] - np.take_along_axis(level, at - 1, axis=1)
    inner = np.take_along_axis(area, at - 1, axis=1) + rest * np.take_along_axis(ranked, at - 1, axis=1)
    whole = np.concatenate([none, inner, area[:, -1:]], axis=1)
    return as_like(np.diff(whole, axis=1) / np.diff(edges)[None, :], values)


def gram_profiles(z: Array, a: Array, *, edges: Levels, rows: Array | None = None) -> Array:
    """Sorted similarities ``z @ z.T`` of each point, or of the points ``rows`` (k,), to its cloud: (n, q) or (k, q)."""
    asked = z if rows is None else namespace(z).take(z, rows, axis=0)
    return _by_blocks(asked.shape[0], lambda part: asked[part] @ transpose(z), a, edges)


def distance_profiles(z: Array, a: Array, *, edges: Levels) -> Array:
    """Sorted distances of each point to its cloud, (n, q)."""
    return _by_blocks(z.shape[0], lambda part: namespace(z).sqrt(squared_distances(z[part], z)), a, edges)


def _by_blocks(n: int, rows: Callable[[slice], Array], a: Array, edges: Levels) -> Array:
    uniform = is_uniform(a)
    blocks = [slice(i, i + BLOCK) for i in range(0, n, BLOCK)]

    def work(part: slice) -> Array:
        return row_quantiles(rows(part), a, edges, uniform=uniform)

    parts = map(work, blocks) if is_torch(a) else map_blocks(work, blocks)  # torch brings its own threads
    return namespace(a).concat(list(parts), axis=0)


def describe(
    x: Array, a: Array, *, powers: Sequence[float], distances: bool, quantiles: int, standardise: bool
) -> Array:
    """All profiles of each point side by side, (n, q · kinds), each kind with the same say."""
    xp = namespace(x)
    edges = quantile_edges(quantiles)
    coordinates, spread = principal(x, a)
    kinds = [gram_profiles(gram_factor(coordinates, spread, a, power), a, edges=edges) for power in powers]
    if distances:
        kinds.append(distance_profiles(gram_factor(coordinates, spread, a, 1.0), a, edges=edges))
    if standardise:
        kinds = [directions(centre(directions(kind), a)) for kind in kinds]
    return xp.concat(kinds, axis=1) / len(kinds) ** 0.5


def centre(x: Array, a: Array) -> Array:
    """Rows moved so that their weighted mean is zero."""
    return x - namespace(x).sum(x * a[:, None], axis=0)[None, :]


def directions(x: Array) -> Array:
    """Rows of length one; those too short to have a direction, such as a centred profile that is all rounding, stay."""
    return unit_rows(x, short=1e-6)


def anchored_cost(x: Array, y: Array, a: Array, b: Array, anchors_x: Array, anchors_y: Array) -> Array:
    """Squared distances between similarities to anchors that correspond row by row: (n, m), of mean one.

    Similarities are taken in the half-whitened space (square-root Gram), where no single direction dominates.
    """
    px, py = _anchor_similarity(x, a, anchors_x), _anchor_similarity(y, b, anchors_y)
    return scaled(squared_distances(px, py), a, b)


def _anchor_similarity(x: Array, a: Array, anchors: Array) -> Array:
    xp = namespace(x)
    weights = xp.concat([a, xp.zeros_like(anchors[:, 0])])  # anchors do not shape the space, they lie in it
    both = gram_factor(*principal(xp.concat([x, anchors]), weights), weights, 0.5)
    n = x.shape[0]
    return directions(centre(directions(both[:n]) @ transpose(directions(both[n:])), a))


def scaled(cost: Array, a: Array, b: Array) -> Array:
    """``cost`` divided by its mean under the product of the weights."""
    mean = float(a @ (cost @ b))
    return cost / mean if mean > 0 else cost
