"""Maps from local descriptors and votes: for clouds of which only a part corresponds.

Descriptors of a whole cloud change when a part of it is missing; those of a neighbourhood do not, except at the cut. Points with
similar neighbourhoods are candidate pairs, most of them wrong. Right pairs agree with each other: the distance between two points of x
is that between their counterparts. A pair's votes are the pairs that it agrees with and that agree with each other
(second-order consistency); each pair with many votes gives a map, fitted to its voters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ..retrieval.thinning import FEW_DIMENSIONS
from ..threads import map_blocks, workers
from .neighbourhoods import COUNTS, yield_descriptors

Floats = np.ndarray[Any, Any]

CANDIDATES = 1500  # pairs that vote
PER_POINT = 5  # most similar neighbourhoods of each point
# Widths of the agreement, over the distance to the nearest neighbour: copies in many dimensions need a narrow one.
WIDTHS = 1.0, 0.2
SEEDS = 12  # pairs with the most votes, each of which gives a map
RATIO = 0.01  # relative width of the bins in which sizes are counted
BLOCK = 256  # rows at a time
VOTERS = 30  # agreeing pairs that a map is fitted to, at least; twice the number of dimensions in many


def vote_for_maps(x: Floats, y: Floats, *, translate: bool, proper: bool, scale: bool) -> Iterator[Floats]:
    """Yield maps (dx + 1, dy) with the offset as their last row, for x (n, dx) and y (m, dy), dx ≤ dy.

    ``proper``: rotations only. ``scale``: sizes differ, by the most common ratio of distances of candidate pairs.
    """
    units = [neighbour_distance(points) or 1.0 for points in (x, y)]
    spacing = max(units)
    few = max(x.shape[1], y.shape[1]) <= FEW_DIMENSIONS
    described = [
        yield_descriptors(points / unit if scale else points, balls=few, most=min(len(x), len(y)) - 1)
        for points, unit in zip((x, y), units, strict=True)
    ]
    for left, right in zip(*described, strict=True):
        i, j = find_candidates(left, right)
        if len(i) < 2 * x.shape[1]:
            continue
        size = _most_common_ratio(x[i], y[j]) if scale else 1.0
        between_x, between_y = size * _distances(x[i]), _distances(y[j])
        for width in WIDTHS:
            yield from _maps_of_votes(
                x[i], y[j], between_x, between_y, width * spacing, size=size, translate=translate, proper=proper
            )


def vote_for_copies(x: Floats, y: Floats, count: int, *, proper: bool, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield rigid maps (d + 1, d) for clouds x (n, d), y (m, d) of many points, part of which are the same points.

    The descriptors are those of all points, of their nearest neighbours alone; only the points of x that look for a counterpart
    are thinned, to ``count``. Clouds that are both thinned have no common points left.
    """
    few = COUNTS[:1]
    left, right = (next(yield_descriptors(one, balls=False, counts=few)) for one in (x, y))
    rows = rng.permutation(len(x))[:count]
    unit = right.std(axis=0) + 1e-300
    distance, near = cKDTree(right / unit).query(left[rows] / unit, workers=workers())
    best = np.argsort(distance, kind="stable")[:CANDIDATES]
    i, j = rows[best], near[best]
    between = _distances(x[i]), _distances(y[j])
    spacing = max(neighbour_distance(points) for points in (x, y)) or 1.0
    yield from _maps_of_votes(x[i], y[j], *between, spacing, size=1.0, translate=True, proper=proper)


def find_candidates(left: Floats, right: Floats, *, most: int = CANDIDATES) -> tuple[Floats, Floats]:
    """Return the most similar pairs of rows, the best few of each row of either side, at most ``most``."""
    unit = np.concatenate([left, right]).std(axis=0) + 1e-300
    left, right = left / unit, right / unit
    found = []
    for one, other in ((left, right), (right, left)):
        near = find_nearest_few(one, other, min(PER_POINT, len(other)))
        rows, near = np.repeat(np.arange(len(one)), near.shape[1]), near.reshape(-1)
        found.append((rows, near, np.linalg.norm(one[rows] - other[near], axis=1)))
    (i, j, first), (q, p, second) = found
    i, j, distance = np.concatenate([i, p]), np.concatenate([j, q]), np.concatenate([first, second])
    _, once = np.unique(i * len(right) + j, return_index=True)
    best = once[np.argsort(distance[once], kind="stable")[:most]]
    return i[best], j[best]


def find_nearest_few(z: Floats, y: Floats, count: int) -> Floats:
    """Return the ``count`` nearest rows of y for each row of z, (n, count), nearest first: by products, since a tree is slow here.

    Descriptors have some sixty dimensions; and a few passes over a block that fits the cache are faster than one that sorts.
    """
    half = np.sum(y**2, axis=1) / 2
    found = np.empty((len(z), count), dtype=np.int64)

    def work(block: slice) -> None:
        gaps = half - z[block] @ y.T
        rows = np.arange(len(gaps))
        for k in range(count):
            found[block, k] = np.argmin(gaps, axis=1)
            gaps[rows, found[block, k]] = np.inf

    list(map_blocks(work, [slice(begin, begin + BLOCK) for begin in range(0, len(z), BLOCK)]))
    return found


def _maps_of_votes(
    x: Floats, y: Floats, between_x: Floats, between_y: Floats, width: float, *, size: float, translate: bool, proper: bool
) -> Iterator[Floats]:  # fmt: skip
    """Yield maps of the pairs (x, y) with the most votes."""
    apart = np.exp(-(((between_x - between_y) / width) ** 2) / 2) if width > 0 else (between_x == between_y) * 1.0
    apart[(apart < 0.1) | (np.minimum(between_x, between_y) < 4 * width)] = 0.0  # near points agree whatever the map
    votes = apart * (apart @ apart)
    trust = np.ones(len(x))
    for _ in range(30):
        trust = votes @ trust
        trust /= np.linalg.norm(trust) or 1.0
    used = np.zeros(len(x), dtype=bool)
    yielded = 0
    for seed in np.argsort(-trust, kind="stable"):
        if used[seed]:
            continue
        voters = np.argsort(-votes[seed], kind="stable")[: max(VOTERS, 2 * x.shape[1])]
        voters = voters[votes[seed, voters] > 0]
        if len(voters) <= x.shape[1]:
            continue
        used[seed] = used[voters[: VOTERS // 3]] = True
        yield _fit_to_agreeing(x, y, voters, votes[seed, voters], width, size=size, translate=translate, proper=proper)
        yielded += 1
        if yielded == SEEDS:
            return


def _fit_to_agreeing(
    x: Floats, y: Floats, voters: Floats, weights: Floats, width: float, *, size: float, translate: bool, proper: bool
) -> Floats:  # fmt: skip
    """Return the map of the voters, fitted again to all pairs that it brings together."""
    w = fit_rigid(x[voters], y[voters], weights, size=size, translate=translate, proper=proper)
    for _ in range(3):
        near = np.linalg.norm(x @ w[:-1] + w[-1] - y, axis=1) < 2 * width
        if near.sum() <= x.shape[1]:
            break
        w = fit_rigid(x[near], y[near], np.ones(near.sum()), size=size, translate=translate, proper=proper)
    return w


def fit_rigid(x: Floats, y: Floats, weights: Floats, *, size: float, translate: bool, proper: bool) -> Floats:
    """Return the orthogonal map (rotation if ``proper``) times ``size``, and its offset as the last row, for pairs of points."""
    weights = weights / weights.sum()
    left, right = (weights @ x, weights @ y) if translate else (np.zeros(x.shape[1]), np.zeros(y.shape[1]))
    u, _, vt = np.linalg.svd((x - left).T @ ((y - right) * weights[:, None]), full_matrices=False)
    if proper and np.linalg.det(u @ vt) < 0:
        u = u * np.where(np.arange(u.shape[1]) == u.shape[1] - 1, -1.0, 1.0)
    w = size * (u @ vt)
    return np.concatenate([w, (right - left @ w)[None]])


def _distances(points: Floats) -> Floats:
    square = (points**2).sum(axis=1)
    found = np.maximum(square[:, None] + square - 2 * points @ points.T, 0.0)
    return np.sqrt(found).astype(np.float32)  # enough for votes, and twice as fast


def neighbour_distance(points: Floats) -> float:
    """Return the median distance of points to the nearest other point."""
    return float(np.median(cKDTree(points).query(points, 2)[0][:, 1]))


def _most_common_ratio(x: Floats, y: Floats) -> float:
    """Return the mode of the ratios of distances between candidates of y and those of x, which right pairs share."""
    rows, columns = np.triu_indices(len(x), 1)
    below, above = (np.linalg.norm(points[rows] - points[columns], axis=1) for points in (x, y))
    ratio = np.log(above[(below > 0) & (above > 0)] / below[(below > 0) & (above > 0)])
    if not len(ratio):
        return 1.0
    counts = np.bincount(np.round((ratio - ratio.min()) / RATIO).astype(int))
    return float(np.exp(ratio.min() + RATIO * np.argmax(np.convolve(counts, np.ones(3), mode="same"))))
