"""Rigid maps from triples of candidate pairs, in the plane and in space: for surfaces that were sampled anew.

Where two clouds share no points, neighbourhoods resemble each other only roughly: of many candidate pairs a few per cent are right, and
votes drown. Three right pairs are enough for a rigid map, and triples are cheap to draw, to reject (their edges must be as long on both
sides) and to compare (how near does the map bring some points to the other cloud?). The best are improved by a few rounds of nearest
points before they are compared again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .neighbourhoods import describe_neighbourhoods
from .votes import find_candidates, neighbour_distance

Floats = np.ndarray[Any, Any]

DRAWS = 1_000_000  # triples drawn
FEW_PROBES, PROBES = 40, 150  # points of each cloud that compare maps, first and last
FITTED = 10_000  # triples whose maps are compared
IMPROVED = 200  # maps that are improved
ROUNDS = 12  # of nearest points
YIELDED = 12  # maps of each kind of descriptor
WIDTH, FAR = 1.0, 4.0  # of edges that agree, and of points without a counterpart, over the distance between neighbours


def find_rigid_maps(x: Floats, y: Floats, *, proper: bool, rng: np.random.Generator) -> Floats:
    """Return maps (s, d + 1, d) with the offset as their last row, for x (n, d) and y (m, d), d = 2 or 3.

    ``proper``: rotations only.
    """
    spacing = max(neighbour_distance(points) for points in (x, y)) or 1.0
    most = min(len(x), len(y)) - 1  # descriptors of few points have fewer numbers
    described = [describe_neighbourhoods(points, balls=True, most=most) for points in (x, y)]
    found = []
    for left, right in zip(*described, strict=True):
        i, j = find_candidates(left, right, most=len(x) * len(y))
        maps = maps_of_triples(x, y, i, j, width=WIDTH * spacing, far=FAR * spacing, proper=proper, rng=rng)
        found.append(maps[:YIELDED])
    return np.concatenate(found)


def maps_of_triples(
    x: Floats, y: Floats, i: Floats, j: Floats, *, width: float, far: float, proper: bool, rng: np.random.Generator
) -> Floats:
    """Return maps (s, d + 1, d), the offset as their last row, best first, for candidate pairs (x[i], y[j]); d is 2 or 3.

    Edges agree to within ``width``; a point farther than ``far`` from the other cloud counts as that far.
    """
    chosen = rng.integers(len(i), size=(DRAWS, 3))
    for one, other in ((0, 1), (1, 2), (2, 0)):
        here = np.linalg.norm(x[i[chosen[:, one]]] - x[i[chosen[:, other]]], axis=1)
        there = np.linalg.norm(y[j[chosen[:, one]]] - y[j[chosen[:, other]]], axis=1)
        chosen = chosen[(np.abs(here - there) < width) & (np.minimum(here, there) > 6 * width)]
    chosen = chosen[:FITTED]
    if not len(chosen):
        return np.zeros((0, x.shape[1] + 1, x.shape[1]))
    even = np.ones(chosen.shape)
    maps = fit_rigid_maps(x[i[chosen]], y[j[chosen]], even, proper=proper)
    if not proper and x.shape[1] == 3:  # three points fit a map and its mirror image
        maps = np.concatenate([maps, fit_rigid_maps(x[i[chosen]], y[j[chosen]], even, proper=True)])
    probes = [points[rng.permutation(len(points))[:PROBES]] for points in (x, y)]
    trees = cKDTree(x), cKDTree(y)
    few = [points[:FEW_PROBES] for points in probes]
    maps = maps[np.argsort(_distances(maps, few, trees, far))[: 5 * IMPROVED]]
    maps = maps[np.argsort(_distances(maps, probes, trees, far))[:IMPROVED]]
    for _ in range(ROUNDS):
        maps = _follow_nearest(maps, x, y, probes, trees, far, proper=proper)
    return maps[np.argsort(_distances(maps, probes, trees, far))]


def fit_rigid_maps(x: Floats, y: Floats, weights: Floats, *, proper: bool) -> Floats:
    """Return the orthogonal maps and offsets (s, d + 1, d) that lay x (s, k, d) on y (s, k, d), weighted by (s, k)."""
    weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    left, right = (np.einsum("sk,skd->sd", weights, points)[:, None] for points in (x, y))
    u, _, vt = np.linalg.svd(np.swapaxes((x - left) * weights[..., None], 1, 2) @ (y - right))
    if proper:
        u[..., -1] *= np.sign(np.linalg.det(u @ vt))[:, None]
    w = u @ vt
    return np.concatenate([w, right - left @ w], axis=1)


def _distances(maps: Floats, probes: list[Floats], trees: tuple[cKDTree, cKDTree], far: float) -> Floats:
    """Return the mean logarithm (s,) of the squared distances of probes of both sides to the other cloud, none beyond ``far``."""
    found = [tree.query(points, distance_upper_bound=far)[0] for points, tree in _pose(maps, probes, trees)]
    return np.mean([np.mean(np.log(np.clip(one / far, 0.05, 1.0)), axis=1) for one in found], axis=0)


def _pose(maps: Floats, probes: list[Floats], trees: tuple[cKDTree, cKDTree]) -> list[tuple[Floats, cKDTree]]:
    """Return the probes of x moved (s, k, d), with the tree of y; and those of y moved back, with the tree of x."""
    linear, offset = maps[:, :-1], maps[:, -1:]
    return [(probes[0] @ linear + offset, trees[1]), ((probes[1] - offset) @ np.swapaxes(linear, 1, 2), trees[0])]


def _follow_nearest(
    maps: Floats, x: Floats, y: Floats, probes: list[Floats], trees: tuple[cKDTree, cKDTree], far: float, *, proper: bool
) -> Floats:  # fmt: skip
    """Fit every map again to the probes of both sides and their nearest points, if these are near."""
    (moved, tree), (back, other) = _pose(maps, probes, trees)
    near_x, at_x = tree.query(moved, distance_upper_bound=far)
    near_y, at_y = other.query(back, distance_upper_bound=far)
    shape = (len(maps), *probes[0].shape), (len(maps), *probes[1].shape)
    left = np.concatenate([np.broadcast_to(probes[0], shape[0]), x[np.minimum(at_y, len(x) - 1)]], axis=1)
    right = np.concatenate([y[np.minimum(at_x, len(y) - 1)], np.broadcast_to(probes[1], shape[1])], axis=1)
    weights = np.maximum(1 - np.minimum(np.concatenate([near_x, near_y], axis=1) / far, 1.0) ** 2, 0.0) ** 2
    return fit_rigid_maps(left, right, weights, proper=proper)
