"""Descriptors of points: their profiles and those of their neighbours, in units that different clouds share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..arrays import Array, as_like, namespace, to_numpy, transpose
from .profiles import SORTED_ROWS, directions, gram_factor, gram_profiles, principal, quantile_edges


def descriptor(x: Array, a: Array, *, powers: Sequence[float], neighbours: Sequence[int], quantiles: int) -> Array:
    """Return normal scores of all profiles, then their means over each neighbourhood size, side by side: (n, f).

    Profiles are of similarities and of cosines, for each power. Neighbours are by cosine in the space of the first power.
    """
    xp = namespace(x)
    edges = quantile_edges(quantiles)
    coordinates, spread = principal(x, a)
    spaces = [gram_factor(coordinates, spread, a, power) for power in powers]
    kinds = [gram_profiles(z, z, a, edges=edges) for space in spaces for z in (space, directions(space))]
    own = normal_scores(xp.concat(kinds, axis=1), a)
    around = [normal_scores(mean, a) for mean in neighbour_means(directions(spaces[0]), own, neighbours)]
    return xp.concat([own, *around], axis=1)


def neighbour_means(z: Array, values: Array, sizes: Sequence[int]) -> list[Array]:
    """Return the mean of ``values`` over the k nearest other points of each point, by inner products of rows of ``z``."""
    if not sizes:
        return []
    xp = namespace(z)
    n, most = z.shape[0], max(sizes)
    parts: list[list[Array]] = [[] for _ in sizes]
    for i in range(0, n, SORTED_ROWS):
        near = to_numpy(z[i : i + SORTED_ROWS] @ transpose(z)).copy()
        rows = np.arange(near.shape[0])
        near[rows, i + rows] = -np.inf
        order = np.argpartition(-near, most - 1, axis=1)[:, :most]
        order = np.take_along_axis(order, np.argsort(-np.take_along_axis(near, order, axis=1), axis=1), axis=1)
        for part, k in zip(parts, sizes, strict=True):
            member = np.zeros(near.shape, dtype=near.dtype)
            np.put_along_axis(member, order[:, :k], 1.0 / k, axis=1)
            part.append(as_like(member, values) @ values)
    return [xp.concat(part, axis=0) for part in parts]


def normal_scores(values: Array, a: Array) -> Array:
    """Replace each column by the normal quantiles of its weighted mid-ranks, which removes units and outliers.

    Values equal up to rounding share a rank: otherwise it would depend on the order of the rows.
    """
    raw, weights = to_numpy(values).astype(np.float64), to_numpy(a).astype(np.float64)
    return as_like(ndtri(_mid_ranks(raw, weights / weights.sum())), values)


def _mid_ranks(raw: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(raw, axis=0, kind="stable")
    ranked = np.take_along_axis(raw, order, axis=0)
    size = np.max(np.abs(ranked), axis=0, keepdims=True)
    after = np.cumsum(weights[order], axis=0)
    before = after - weights[order]
    jump = np.diff(ranked, axis=0) > 1e-6 * size
    edge = np.ones((1, raw.shape[1]), dtype=bool)
    low = np.maximum.accumulate(np.where(np.concatenate([edge, jump]), before, 0.0), axis=0)
    high = np.minimum.accumulate(np.where(np.concatenate([jump, edge]), after, 2.0)[::-1], axis=0)[::-1]
    found = np.empty_like(raw)
    np.put_along_axis(found, order, np.clip((low + high) / 2, 1e-9, 1 - 1e-9), axis=0)
    return found
