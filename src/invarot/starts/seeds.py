"""Maps from a few known pairs: from their cross-moment, and from all points matched by similarity to the pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, as_like, namespace, svd, to_numpy, transpose
from ..errors import InputError
from .axes import axes
from .matching import moment_map, soft_moment
from .profiles import anchored_cost, canonical_order, subsample
from .signature import profile_cost


def seeds(
    x: Array,
    y: Array,
    a: Array,
    b: Array,
    *,
    rng: np.random.Generator,
    pairs: Any,
    weights: Any = None,
    size: int | None = 5000,
    ordered: bool = False,
    epsilon: float = 0.05,
    profile_weight: float = 1.0,
) -> Array:
    """Return maps that send known pairs onto each other.

    Parameters
    ----------
    x, y, a, b, rng
        As of every start (:mod:`invarot.starts`); ``rng`` is not used.
    pairs : integers (k, 2)
        Row i of ``x`` is known to correspond to row j of ``y``.
    weights : array (k,), optional
        Weight of each pair; uniform by default.
    size, ordered : int or None, bool
        Subsample of the other points, as in `signature`.
    epsilon : float
        Entropy weight of the match of the other points, relative to the mean cost.
    profile_weight : float
        Weight of the rotation-invariant profiles relative to the similarities to the pairs when k is small:
        the cost is anchors + ``profile_weight`` · min(1, 10 / k) · profiles.

    Returns
    -------
    maps : array (1 or 2, dx, dy)
        With fewer than 2·min(dx, dy) pairs: the map from all points matched by their similarities to the pairs, then
        the map of the pairs completed by principal axes. Otherwise only the map of the pairs.
    """
    rows, columns, trust = check_pairs(pairs, weights, x.shape[0], y.shape[0])
    xp = namespace(x)
    order = canonical_order(x, a)
    i, j, w = as_like(rows, order), as_like(columns, order), as_like(trust, x)
    px, py = xp.take(x, i, axis=0), xp.take(y, j, axis=0)
    known = transpose(px * w[:, None]) @ py
    d = min(x.shape[1], y.shape[1])
    if len(rows) >= 2 * d:
        return moment_map(known)[None]
    xs, a_s, _ = subsample(x, a, size, ordered=ordered)
    ys, b_s, _ = subsample(y, b, size, ordered=ordered)
    cost = anchored_cost(xs, ys, a_s, b_s, px, py)
    if profile_weight > 0:
        cost = cost + profile_weight * min(1.0, 10.0 / len(rows)) * profile_cost(xs, ys, a_s, b_s)
    moment = soft_moment(cost, xs, ys, a_s, b_s, epsilon=epsilon)
    return moment_map(
        xp.stack([_scale_to_unit(moment) + _scale_to_unit(known), _complete_by_axes(known, x, y, a, b, rng)])
    )


def check_pairs(pairs: Any, weights: Any, n: int, m: int) -> tuple[Array, Array, Array]:
    """Return row indices, column indices and weights (of mean one) of known pairs, as NumPy arrays."""
    try:
        found = np.asarray(to_numpy(pairs) if hasattr(pairs, "shape") else pairs)
    except ValueError as error:
        raise InputError(
            f"pairs: expected integers of shape (k, 2), got rows of unequal length ({error}); pass two row numbers per pair"
        ) from error
    if found.ndim != 2 or found.shape[1] != 2 or found.shape[0] < 1 or not np.issubdtype(found.dtype, np.integer):
        raise InputError(
            f"pairs: expected integers of shape (k, 2), k ≥ 1, got {found.dtype} of shape {found.shape}; "
            "pass a list of (row of x, row of y)"
        )
    if found.min() < 0 or found[:, 0].max() >= n or found[:, 1].max() >= m:
        raise InputError(
            f"pairs: expected indices of {n} rows of x and {m} rows of y, got {found.min(axis=0).tolist()} to "
            f"{found.max(axis=0).tolist()}; count rows from 0"
        )
    if weights is None:
        trust = np.ones(len(found))
    else:
        trust = np.asarray(to_numpy(weights) if hasattr(weights, "shape") else weights, dtype=np.float64)
        if trust.shape != (len(found),) or not np.all(np.isfinite(trust)) or trust.min() < 0 or trust.max() <= 0:
            raise InputError(
                f"weights: expected {len(found)} numbers ≥ 0, not all zero, one per pair, got shape "
                f"{trust.shape}; leave it out for uniform weights"
            )
    return found[:, 0], found[:, 1], trust / trust.mean()


def _complete_by_axes(known: Array, x: Array, y: Array, a: Array, b: Array, rng: np.random.Generator) -> Array:
    """Add to the moment of the pairs the principal axes orthogonal to all pairs, with a small weight."""
    u, s, vt = svd(known)
    rank = int(np.sum(to_numpy(s) > 1e-4 * float(s[0]))) if float(s[0]) > 0 else 0
    u, vt = u[:, :rank], vt[:rank, :]
    rest_x, rest_y = x - (x @ u) @ transpose(u), y - (y @ transpose(vt)) @ vt
    free = axes(rest_x, rest_y, a, b, rng=rng, all_signs=0, doubtful=0)[0]
    free = free - u @ (transpose(u) @ free)
    free = free - (free @ transpose(vt)) @ vt
    return u @ vt + 1e-2 * free


def _scale_to_unit(moment: Array) -> Array:
    xp = namespace(moment)
    size = float(xp.sqrt(xp.sum(moment * moment)))
    return moment / size if size > 0 else moment
