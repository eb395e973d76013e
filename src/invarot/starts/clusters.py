"""Centroids matched by quadratic assignment: few, so the assignment is small; averages, so they are stable."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import quadratic_assignment

from ..arrays import Array, as_like, namespace, to_numpy, transpose
from ..errors import InputError
from ..retrieval.kmeans import kmeans
from .matching import moment_map, soft_moment, squared_distances
from .profiles import anchored_cost, canonical_order


def clusters(
    x: Array,
    y: Array,
    a: Array,
    b: Array,
    *,
    rng: np.random.Generator,
    n_clusters: int = 40,
    repeats: int = 4,
    restarts: int = 10,
    epsilon: float = 0.05,
) -> Array:
    """Cluster both clouds, match the centroids by their distances, and match all points by the matched centroids.

    Parameters
    ----------
    x, y, a, b, rng
        As of every start (:mod:`invarot.starts`).
    n_clusters : int
        Centroids per cloud (at most its number of points).
    repeats : int
        Independent clusterings.
    restarts : int
        Starts of the quadratic assignment (FAQ) per clustering; the best is kept.
    epsilon : float
        Entropy weight of the match by similarity to all matched centroids, relative to the mean cost.

    Returns
    -------
    maps : array (repeats + 2, dx, dy)
        From all points matched by their similarities to the centroids of all repeats; from the mean cross-moment of
        the centroids; then from that of each repeat, best assignment first.
    """
    if min(n_clusters, repeats, restarts) < 1:
        raise InputError(
            f"n_clusters, repeats, restarts: expected numbers ≥ 1, got {n_clusters}, {repeats} and {restarts}"
        )
    xp = namespace(x)
    order, other = canonical_order(x, a), canonical_order(y, b)
    xs, a_s, ys, b_s = (xp.take(v, o, axis=0) for v, o in ((x, order), (a, order), (y, other), (b, other)))
    k = min(n_clusters, x.shape[0], y.shape[0])
    found = []
    for _ in range(repeats):
        (cx, mass_x), (cy, mass_y) = _keep_heaviest(kmeans(xs, a_s, k, rng=rng), kmeans(ys, b_s, k, rng=rng))
        assigned, value = match_centroids(to_numpy(cx), to_numpy(cy), rng=rng, restarts=restarts)
        columns = as_like(assigned, order)
        cy, mass_y = xp.take(cy, columns, axis=0), xp.take(mass_y, columns, axis=0)
        found.append((value, cx, cy, transpose(cx * xp.sqrt(mass_x * mass_y)[:, None]) @ cy))
    found.sort(key=lambda item: -item[0])
    anchors_x, anchors_y = xp.concat([item[1] for item in found]), xp.concat([item[2] for item in found])
    cost = anchored_cost(xs, ys, a_s, b_s, anchors_x, anchors_y)
    moments = [item[3] for item in found]
    mean = sum(moments[1:], start=moments[0]) / len(moments)
    return moment_map(xp.stack([soft_moment(cost, xs, ys, a_s, b_s, epsilon=epsilon), mean, *moments]))


def match_centroids(
    cx: NDArray[np.float64], cy: NDArray[np.float64], *, rng: np.random.Generator, restarts: int
) -> tuple[NDArray[np.int64], float]:
    """Return the row of ``cy`` matched to each row of ``cx``, best of ``restarts``, and the correlation of distances."""
    k = cx.shape[0]
    left, right = _centred_distances(cx), _centred_distances(cy)
    best, value = np.arange(k), -np.inf
    for attempt in range(restarts):
        start = np.full((k, k), 1.0 / k)
        if attempt:
            start = 0.5 * start + 0.5 * _random_stochastic(k, rng)
        # with rng and P0 nothing is drawn, not even from the global generator of NumPy
        options = {"maximize": True, "P0": start, "rng": rng}
        columns = quadratic_assignment(left, right, method="faq", options=options)["col_ind"]
        fit = float(np.sum(left * right[np.ix_(columns, columns)]))
        if fit > value:
            best, value = columns, fit
    return best, value


def _keep_heaviest(one: tuple[Array, Array], other: tuple[Array, Array]) -> list[tuple[Array, Array]]:
    """Keep the heaviest centroids, equally many on both sides: with duplicate points k-means returns fewer."""
    k = min(one[0].shape[0], other[0].shape[0])
    found = []
    for centroids, mass in (one, other):
        heaviest = np.sort(np.argsort(-to_numpy(mass), kind="stable")[:k])
        rows = as_like(heaviest, mass, dtype=namespace(mass).int64)
        found.append((centroids[rows], mass[rows]))
    return found


def _centred_distances(c: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return distances between rows, off-diagonal entries shifted to mean zero and scaled to unit norm."""
    found = np.sqrt(np.maximum(to_numpy(squared_distances(c, c)), 0)).astype(np.float64)
    k = found.shape[0]
    off = ~np.eye(k, dtype=bool)
    if k > 1:
        found = np.where(off, found - found[off].mean(), 0.0)
    length = np.linalg.norm(found)
    return np.asarray(found / length if length > 0 else found)


def _random_stochastic(k: int, rng: np.random.Generator) -> NDArray[np.float64]:
    found = rng.random((k, k))
    for _ in range(20):
        found /= found.sum(axis=1, keepdims=True)
        found /= found.sum(axis=0, keepdims=True)
    return np.asarray(found + (1 - found.sum(axis=1, keepdims=True)) / k)  # for small k, rows may not yet sum to 1
