"""Rotation-invariant profiles: each point's sorted similarities to its own cloud, and an order of the points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, as_like, device, is_torch, machine_epsilon, namespace, to_numpy, transpose, unit_rows
from ..geometry.frames import weighted_second_moment
from ..rows import ALL, Rows
from ..threads import map_blocks
from .matching import squared_distances

Levels: TypeAlias = NDArray[np.float64]

SORTED_ROWS = 256  # rows sorted at a time: bounds the memory on top of the profiles


def principal(x: Array, a: Array) -> tuple[Array, Array]:
    """Return coordinates along the principal axes, (n, d), and the spread of each (zero if it is only rounding).

    About the origin, the fixed point of all maps.
    """
    xp = namespace(x)
    values, vectors = xp.linalg.eigh(weighted_second_moment(x, a))
    floor = max(float(values[-1]), 0.0) * machine_epsilon(x) * x.shape[1] * 10
    return x @ vectors, xp.where(values > floor, values, xp.zeros_like(values))


def gram_factor(coordinates: Array, spread: Array, a: Array, power: float) -> Array:
    """Return z (n, d) with ``z @ z.T`` the ``power`` of the (weighted) Gram matrix, from the d × d second moment.

    Scaled so that the mean of ‖z_i‖² is one; directions without spread are dropped (set to zero).
    """
    xp = namespace(coordinates)
    safe = xp.where(spread > 0, spread, xp.ones_like(spread))
    z = coordinates * xp.where(spread > 0, safe ** ((power - 1.0) / 2.0), xp.zeros_like(spread))[None, :]
    size = float(xp.sum(xp.sum(z * z, axis=1) * a))
    return z / size**0.5 if size > 0 else z


def canonical_order(x: Array, a: Array) -> Array:
    """Return indices that sort the rows by leverage, then length: an order that rotations do not change.

    Anything drawn by position after this sort depends on the cloud, not on the order of its rows.
    """
    xp = namespace(x)
    # float64: in float32 near-ties would depend on the order of summation, hence on the order of the rows
    x64, a64 = xp.astype(x, xp.float64), xp.astype(a, xp.float64)
    z = gram_factor(*principal(x64, a64), a64, 0.0)
    order = xp.argsort(xp.sum(x64 * x64, axis=1), stable=True)
    for key in (xp.sum(z * z, axis=1), a64):  # the last decides first
        order = xp.take(order, xp.argsort(xp.take(key, order, axis=0), stable=True), axis=0)
    return order


def subsample(x: Array, a: Array, size: int | None, *, ordered: bool = False) -> tuple[Array, Array, Array]:
    """Return at most ``size`` rows, their weights (summing to one) and their indices.

    The heaviest rows if weights differ (the first ones if ``ordered``); otherwise rows at even steps of the
    canonical order, so that two copies of one cloud give the same points.
    """
    xp = namespace(x)
    n = x.shape[0]
    rows = xp.arange(size, device=device(x)) if ordered and size is not None and size < n else canonical_order(x, a)
    if size is not None and size < rows.shape[0]:
        if is_uniform(a):
            rows = xp.take(rows, as_like((np.arange(size) + 0.5) * (n / size), rows), axis=0)
        else:
            rows = rows[n - size :]  # the canonical order sorts by weight first
    picked = xp.take(a, rows, axis=0)
    return xp.take(x, rows, axis=0), picked / xp.sum(picked), rows


def is_uniform(a: Array) -> bool:
    """Return whether weights are equal enough for subsampling and ranks; `transport.exact.are_uniform` is stricter."""
    values = to_numpy(a)
    return bool(np.ptp(values) <= 1e-4 * values.mean())


def quantile_edges(count: int) -> Levels:
    """Return ``count + 1`` levels from 0 to 1, denser at both ends (the nearest and farthest neighbours)."""
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * np.arange(count + 1) / count))


def _bin_matrix(n: int, edges: Levels) -> NDArray[np.float64]:
    """Return (n, q): the share of each bin of levels covered by each of ``n`` equally weighted sorted values."""
    left = np.arange(n)[:, None] / n
    overlap = np.minimum(left + 1 / n, edges[None, 1:]) - np.maximum(left, edges[None, :-1])
    return np.asarray(np.clip(overlap, 0, None) / np.diff(edges)[None, :])


def row_quantiles(values: Array, a: Array, edges: Levels, *, uniform: bool) -> Array:
    """Average each row's (weighted) quantile function over each bin of levels: (rows, n) → (rows, q)."""
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
    # one flat search for all rows: row r is shifted to [2r, 2r + 1]
    shift = 2.0 * np.arange(rows)[:, None]
    at = np.searchsorted((level + shift).ravel(), (edges[None, 1:-1] + shift).ravel(), side="right").reshape(rows, -1)
    at = np.clip(at - np.arange(rows)[:, None] * (n + 1), 1, n)
    rest = edges[None, 1:-1] - np.take_along_axis(level, at - 1, axis=1)
    inner = np.take_along_axis(area, at - 1, axis=1) + rest * np.take_along_axis(ranked, at - 1, axis=1)
    whole = np.concatenate([none, inner, area[:, -1:]], axis=1)
    return as_like(np.diff(whole, axis=1) / np.diff(edges)[None, :], values)


def gram_profiles(points: Array, z: Array, a: Array, *, edges: Levels) -> Array:
    """Return the sorted similarities of ``points`` (k, d) to the cloud ``z``, (k, q)."""
    return _profile_blocks(points.shape[0], lambda part: points[part] @ transpose(z), a, edges)


def distance_profiles(points: Array, z: Array, a: Array, *, edges: Levels) -> Array:
    """Return the sorted distances of ``points`` (k, d) to the cloud ``z``, (k, q)."""
    return _profile_blocks(
        points.shape[0], lambda part: namespace(z).sqrt(squared_distances(points[part], z)), a, edges
    )


def _profile_blocks(n: int, rows: Callable[[slice], Array], a: Array, edges: Levels) -> Array:
    uniform = is_uniform(a)
    blocks = [slice(i, i + SORTED_ROWS) for i in range(0, n, SORTED_ROWS)]

    def work(part: slice) -> Array:
        return row_quantiles(rows(part), a, edges, uniform=uniform)

    parts = map(work, blocks) if is_torch(a) else map_blocks(work, blocks)  # torch has its own threads
    return namespace(a).concat(list(parts), axis=0)


def describe_points(
    x: Array, a: Array, *, powers: Sequence[float], distances: bool, quantiles: int, standardise: bool,
    where: Rows = ALL,
) -> Array:  # fmt: skip
    """Return all profiles of each point side by side, (n, q · kinds), each kind with the same weight."""
    xp = namespace(x)
    edges = quantile_edges(quantiles)
    coordinates, spread = principal(x, a)

    def describe(kind: Callable[..., Array], power: float) -> Array:
        z = gram_factor(coordinates, spread, a, power)
        return where.map(partial(kind, z=z, a=a, edges=edges), z)

    kinds = [describe(gram_profiles, power) for power in powers]
    if distances:
        kinds.append(describe(distance_profiles, 1.0))
    if standardise:
        kinds = [directions(centre(directions(kind), a)) for kind in kinds]
    return xp.concat(kinds, axis=1) / len(kinds) ** 0.5


def centre(x: Array, a: Array) -> Array:
    """Subtract the weighted mean from the rows."""
    return x - namespace(x).sum(x * a[:, None], axis=0)[None, :]


def directions(x: Array) -> Array:
    """Scale rows to length one; rows that are only rounding, such as some centred profiles, are unchanged."""
    return unit_rows(x, short=1e-6)


def anchored_cost(x: Array, y: Array, a: Array, b: Array, anchors_x: Array, anchors_y: Array) -> Array:
    """Return squared distances between similarities to paired anchors (row i to row i): (n, m), of mean one.

    Similarities are computed in the half-whitened space (square-root Gram), where no single direction dominates.
    """
    px, py = _anchor_similarity(x, a, anchors_x), _anchor_similarity(y, b, anchors_y)
    return scaled(squared_distances(px, py), a, b)


def _anchor_similarity(x: Array, a: Array, anchors: Array) -> Array:
    xp = namespace(x)
    weights = xp.concat([a, xp.zeros_like(anchors[:, 0])])  # anchors do not affect the whitening
    both = gram_factor(*principal(xp.concat([x, anchors]), weights), weights, 0.5)
    n = x.shape[0]
    return directions(centre(directions(both[:n]) @ transpose(directions(both[n:])), a))


def scaled(cost: Array, a: Array, b: Array) -> Array:
    """Divide ``cost`` by its mean under the product of the weights."""
    mean = float(a @ (cost @ b))
    return cost / mean if mean > 0 else cost
