"""mini-vec2vec (Dar 2025): centroids matched by quadratic assignment, pseudo-pairs from them, Procrustes, refinement."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..alignment.history import History, Step
from ..alignment.result import Alignment
from ..arrays import Array, as_like, namespace, to_numpy, transpose, unit_rows
from ..checks import check_count, check_number, check_rng
from ..geometry.orthogonal import polar
from ..retrieval.kmeans import kmeans
from ..retrieval.nearest import nearest
from ..retrieval.neighbours import neighbours
from .outcome import as_alignment, change, check_pair, record

NAME = "mini-vec2vec"
SUBSAMPLE = 10_000  # points that are clustered in a run
LLOYD_ROUNDS = 10  # of Lloyd's iteration from the mapped centroids, in the second refinement


def mini_vec2vec(
    x: Any,
    y: Any,
    *,
    runs: int = 30,
    clusters: int = 20,
    restarts: int = 30,
    k: int = 50,
    iterations: int = 100,
    sample: int = 1000,
    smoothing: float = 0.5,
    fine_clusters: int = 500,
    rng: int | np.random.Generator = 0,
) -> Alignment:
    """Align two clouds of embeddings, of unequal texts, by the method of Dar, *mini-vec2vec* (arXiv 2510.02348).

    Parameters
    ----------
    x, y : arrays (n, dx), (m, dy)
        They are centred and their rows brought to unit length; the map is between such rows, the offset between the means.
    runs, clusters, restarts : int
        Clusterings of each side, clusters in each, and starts of the assignment that matches their centroids.
    k : int
        Nearest targets that are averaged to a pseudo-pair.
    iterations, sample, smoothing : int, int, float
        First refinement: rounds, source points in each, and the weight of the new map beside the old one.
    fine_clusters : int
        Second refinement: clusters of the mapped source points, which start those of the targets.

    Departures: the numbers are those of the author's published example, the second refinement's (500 clusters, one round of
    fitting) are ours; assignments are improved by the best swap; the last map is projected on the orthogonal ones.
    """
    x, y, a, b = check_pair(x, y)
    counts = {"runs": runs, "clusters": clusters, "restarts": restarts, "k": k, "sample": sample}
    for name, value in {**counts, "fine_clusters": fine_clusters}.items():
        check_count(value, name)
    check_count(iterations, "iterations", low=0)
    check_number(smoothing, "smoothing", low=0, high=1)
    generator = check_rng(rng)
    xp = namespace(x)
    mean_x, mean_y = a @ x, b @ y
    inside_x, inside_y = unit_rows(x - mean_x), unit_rows(y - mean_y)
    anchors = [_match_centroids(inside_x, inside_y, clusters, restarts, generator) for _ in range(runs)]
    there, back = (xp.concat([pair[side] for pair in anchors]) for side in (0, 1))
    found, _ = neighbours(inside_x @ transpose(there), inside_y @ transpose(back), method="cosine", k=k)
    w = polar(transpose(inside_x) @ _average(inside_y, found))
    history = [record(0, objective=float("nan"), mode=NAME)]
    w, more = _refine_by_neighbours(inside_x, inside_y, w, k, iterations, sample, smoothing, generator)
    w = _refine_by_clusters(inside_x, inside_y, polar(w), fine_clusters, generator)
    options = {**counts, "iterations": iterations, "smoothing": smoothing, "fine_clusters": fine_clusters}
    return as_alignment(
        x, y, a, b, w, name=NAME, offset=mean_y - mean_x @ w, history=History([*history, *more]), options=options,
        rng=generator,
    )  # fmt: skip


def _match_centroids(x: Array, y: Array, clusters: int, restarts: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return centroids of both sides, (c, dx) and (c, dy), matched by their Gram matrices."""
    xp = namespace(x)
    sides = []
    for points in (x, y):
        some = as_like(np.sort(rng.permutation(points.shape[0])[:SUBSAMPLE]), points, dtype=xp.int64)
        drawn = xp.take(points, some, axis=0)
        sides.append(kmeans(drawn, xp.ones_like(drawn[:, 0]), clusters, rng=rng)[0])
    count = min(side.shape[0] for side in sides)  # fewer where points coincide
    there, back = sides[0][:count], sides[1][:count]
    grams = [_centred_gram(to_numpy(side)) for side in (there, back)]
    order = match_graphs(*grams, restarts=restarts, rng=rng)
    return unit_rows(there), unit_rows(xp.take(back, as_like(order, back, dtype=xp.int64), axis=0))


def _centred_gram(points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    inside = points.astype(np.float64) - points.mean(axis=0)
    found: np.ndarray[Any, Any] = inside @ inside.T
    return found


def match_graphs(
    a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], *, restarts: int, rng: np.random.Generator
) -> np.ndarray[Any, Any]:
    """Return the order p that maximises Σ aᵢⱼ b[pᵢ, pⱼ] (a, b symmetric) by best swaps, from the best of random starts."""
    best, value = np.arange(len(a)), -np.inf
    for _ in range(restarts):
        order = rng.permutation(len(a))
        while True:
            gain = _swap_gains(a, b[np.ix_(order, order)])
            i, j = np.unravel_index(np.argmax(gain), gain.shape)
            if gain[i, j] <= 1e-12 * np.abs(a).sum() * np.abs(b).max():
                break
            order[[i, j]] = order[[j, i]]
        reached = float(np.sum(a * b[np.ix_(order, order)]))
        if reached > value:
            best, value = order, reached
    return best


def _swap_gains(a: np.ndarray[Any, Any], c: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return what Σ a·c gains when rows and columns i and j of c change places, for all i and j."""
    product = a @ c
    own, of_a, of_c = np.diag(product), np.diag(a), np.diag(c)
    whole = product + product.T - own[:, None] - own[None, :]
    inner = (of_a[:, None] - a) * (c - of_c[:, None]) + (a - of_a[None, :]) * (of_c[None, :] - c)
    gain: np.ndarray[Any, Any] = 2 * (whole - inner) + (of_a[:, None] - of_a[None, :]) * (of_c[None, :] - of_c[:, None])
    return gain


def _average(y: Array, found: Array) -> Array:
    """Return the mean of the rows of y listed in each row of ``found`` (n, k)."""
    xp = namespace(y)
    total = xp.take(y, found[:, 0], axis=0)
    for column in range(1, found.shape[1]):
        total = total + xp.take(y, found[:, column], axis=0)
    return total / found.shape[1]


def _refine_by_neighbours(
    x: Array, y: Array, w: Array, k: int, iterations: int, sample: int, smoothing: float, rng: np.random.Generator
) -> tuple[Array, list[Step]]:
    """Match a random sample to the mean of its nearest targets, fit, and move part of the way; repeat."""
    xp = namespace(x)
    steps = []
    for step in range(1, iterations + 1):
        some = as_like(rng.permutation(x.shape[0])[:sample], x, dtype=xp.int64)
        few = xp.take(x, some, axis=0)
        found, cosines = neighbours(few @ w, y, method="cosine", k=k)
        fresh = polar(transpose(few) @ _average(y, found))
        before, w = w, (1 - smoothing) * w + smoothing * fresh
        steps.append(record(step, objective=float(xp.mean(cosines)), mode=NAME, map_change=change(w, before)))
    return w, steps


def _refine_by_clusters(x: Array, y: Array, w: Array, clusters: int, rng: np.random.Generator) -> Array:
    """Fit the map once more to centroids: those of the mapped source points, and what k-means makes of them in y."""
    xp = namespace(x)
    mapped = x @ w
    first, _ = kmeans(mapped, xp.ones_like(x[:, 0]), min(clusters, x.shape[0], y.shape[0]), rng=rng)
    label = to_numpy(nearest(mapped, first))
    source = _means(to_numpy(x), label, first.shape[0])
    target = to_numpy(first).astype(np.float64)
    for _ in range(LLOYD_ROUNDS):
        label_y = to_numpy(nearest(y, as_like(target, y)))
        means = _means(to_numpy(y), label_y, len(target))
        target = np.where(np.isfinite(means), means, target)
    used = np.isfinite(source).all(axis=1)
    return polar(as_like(source[used].T @ target[used], x))


def _means(points: np.ndarray[Any, Any], label: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Return the mean of each cluster (count, d); NaN for an empty one."""
    sums = np.zeros((count, points.shape[1]))
    np.add.at(sums, label, points)
    sizes = np.bincount(label, minlength=count)[:, None].astype(np.float64)
    return sums / np.where(sizes > 0, sizes, np.nan)
