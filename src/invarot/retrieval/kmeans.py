"""Weighted k-means."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..arrays import Array, as_like, namespace, to_numpy
from .nearest import nearest


def kmeans(
    points: Array, weights: Array, count: int, *, rng: np.random.Generator, rounds: int = 25, spread: bool = True
) -> tuple[Array, Array]:
    """Return at most ``count`` centroids (k, d) from weighted Lloyd iterations, and the mass of each cluster (k,).

    No cluster is empty. The first centroids are points drawn in proportion to their weights, with ``spread`` also to their
    squared distances to those already drawn (k-means++), which takes a pass over the points per centroid. Sums are on the
    host, in float64.
    """
    xp = namespace(points)
    host, mass = to_numpy(points), to_numpy(weights).astype(np.float64)
    count = min(count, int(np.count_nonzero(mass)))
    drawn = _spread_draw(host, mass, count, rng) if spread else rng.choice(len(mass), count, False, mass / mass.sum())
    centroids = points[as_like(np.sort(drawn), points, dtype=xp.int64)]
    total = mass
    before = None
    for _ in range(rounds):
        label = to_numpy(nearest(points, centroids))
        if before is not None and np.array_equal(label, before):
            break
        used, label = np.unique(label, return_inverse=True)
        member = scipy.sparse.csr_array((mass, (label, np.arange(len(label)))), shape=(len(used), len(label)))
        total = member.sum(axis=1)
        kept = total > 0
        centroids = as_like((member @ host)[kept] / total[kept, None], points)
        total, before = total[kept], label if kept.all() else None
    return centroids, as_like(total / mass.sum(), weights)


def _spread_draw(
    points: np.ndarray[Any, Any], mass: np.ndarray[Any, Any], count: int, rng: np.random.Generator
) -> np.ndarray[Any, Any]:
    """Draw indices one by one in proportion to mass × squared distance to the nearest point drawn so far.

    Fewer than ``count`` if all other points coincide with those drawn.
    """
    chosen = [_draw(mass, rng)]
    gap = np.sum((points - points[chosen[0]]) ** 2, axis=1)
    while len(chosen) < count and np.any(gap * mass):
        chosen.append(_draw(gap * mass, rng))
        gap = np.minimum(gap, np.sum((points - points[chosen[-1]]) ** 2, axis=1))
    return np.unique(chosen)


def _draw(weights: np.ndarray[Any, Any], rng: np.random.Generator) -> int:
    """Draw an index with probability proportional to ``weights``."""
    total = np.cumsum(weights.astype(np.float64))
    return min(int(np.searchsorted(total, rng.random() * total[-1], side="right")), len(total) - 1)
