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

from ..retrieval.thinning import thin
from .neighbourhoods import yield_descriptors
from .votes import find_candidates, neighbour_distance

Floats = np.ndarray[Any, Any]

BATCHES = 10  # of triples, at most, for each kind of descriptor
DRAWS = 100_000  # triples drawn, in a batch
FIRST_COMPARED, COMPARED = 40, 150  # points of each cloud that compare maps, first and last
FITTED = 1_000  # triples whose maps are compared
IMPROVED = 20  # maps that are improved
NEAREST_ROUNDS = 12  # of nearest points
AGREEING = 4  # triples that lead to the best map end the search: one in a hundred is enough
YIELDED = 24  # maps
SIZE_RATIOS = 1.0, 0.5**0.5, 2**0.5, 0.5, 2.0  # of sizes, over the ratio of the distances between neighbours
SIZED_BATCHES = 3  # for each of these
RESIZE = 1.3  # between two of these, and a little more
THINNED_LEAST = 50  # points of a thinned cloud
# over the distance between neighbours
EDGE_WIDTH = 1.0  # how much the lengths of edges that agree may differ
FAR = 4.0  # from where a point has no counterpart


def find_rigid_maps(x: Floats, y: Floats, *, proper: bool, rng: np.random.Generator) -> Floats:
    """Return maps (s, d + 1, d) with the offset as their last row, best first, for x (n, d) and y (m, d), d = 2 or 3.

    ``proper``: rotations only.
    """
    return _draw_until_agreed(x, y, BATCHES, proper=proper, rng=rng)[0]


def _draw_until_agreed(
    x: Floats, y: Floats, batches: int, *, proper: bool, rng: np.random.Generator, resize: float = 1.0
) -> tuple[Floats, bool]:
    """Return the best maps of some batches of triples for each kind of descriptor, and whether several led to the best of all."""
    spacing = max(neighbour_distance(points) for points in (x, y)) or 1.0
    poses = Poses(x, y, FAR * spacing, proper, rng, resize=resize)
    maps, gaps = np.zeros((0, x.shape[1] + 1, x.shape[1])), np.zeros(0)
    most = min(len(x), len(y)) - 1  # descriptors of few points have fewer numbers
    described = (yield_descriptors(points, balls=True, most=most) for points in (x, y))
    for left, right in zip(*described, strict=True):
        i, j = find_candidates(left, right, most=len(x) * len(y))
        for _ in range(batches):
            found = poses.improve(poses.of_triples(i, j, width=EDGE_WIDTH * spacing))
            maps, gaps = np.concatenate([maps, found]), np.concatenate([gaps, poses.measure(found)])
            order = np.argsort(gaps, kind="stable")[: BATCHES * IMPROVED]
            maps, gaps = maps[order], gaps[order]
            if len(maps) and np.sum(poses.compare(maps[0], maps) < EDGE_WIDTH * spacing) >= AGREEING:
                return maps[:YIELDED], True
    return maps[:YIELDED], False


def find_similar_maps(x: Floats, y: Floats, *, proper: bool, rng: np.random.Generator) -> Floats:
    """Return maps with a size, as `find_rigid_maps` otherwise.

    Neighbourhoods of two samples resemble each other at equal density only, and how dense a sample is, in the units of the surface, is
    not known where its size is not: for each of some sizes the denser sample is thinned to the density of the other.
    """
    units = [neighbour_distance(points) or 1.0 for points in (x, y)]
    found = []
    for ratio in SIZE_RATIOS:
        left, right = x / units[0], y / (units[1] * ratio)
        left = thin(left, round(len(left) * min(ratio, 1.0) ** (x.shape[1] - 1)))
        right = thin(right, round(len(right) / max(ratio, 1.0) ** (x.shape[1] - 1)))
        if min(len(left), len(right)) > THINNED_LEAST:
            maps, agreed = _draw_until_agreed(left, right, SIZED_BATCHES, proper=proper, rng=rng, resize=RESIZE)
            maps = maps[: YIELDED // 3]
            maps[:, :-1] /= units[0]
            found.append(maps * units[1] * ratio)
            if agreed:
                break
    return np.concatenate(found[::-1]) if found else np.zeros((0, x.shape[1] + 1, x.shape[1]))


class Poses:
    """Two clouds, and maps (s, d + 1, d) of one onto the other: drawn, compared, improved.

    A point farther than ``far`` from the other cloud counts as that far.
    """

    def __init__(
        self, x: Floats, y: Floats, far: float, proper: bool, rng: np.random.Generator, *, resize: float = 1.0
    ) -> None:
        self.x, self.y, self.far, self.proper, self.rng, self.resize = x, y, far, proper, rng, resize
        self.trees = cKDTree(x), cKDTree(y)
        self.probes = [points[rng.permutation(len(points))[:COMPARED]] for points in (x, y)]

    def of_triples(self, i: Floats, j: Floats, *, width: float) -> Floats:
        """Return the most promising maps of a batch of triples of the candidate pairs (x[i], y[j]): edges agree to within ``width``."""
        x, y, d = self.x[i], self.y[j], self.x.shape[1]
        chosen = self.rng.integers(len(i), size=(DRAWS, 3))
        size: Any = None
        for one, other in ((0, 1), (1, 2), (2, 0)):
            here, there = (np.linalg.norm(z[chosen[:, one]] - z[chosen[:, other]], axis=1) for z in (x, y))
            if size is None:
                size = np.clip(there / np.maximum(here, 1e-300), 1 / self.resize, self.resize)
            agree = (np.abs(size * here - there) < width) & (np.minimum(here, there) > 6 * width)
            chosen, size = chosen[agree], size[agree]
        chosen = chosen[:FITTED]
        if not len(chosen):
            return np.zeros((0, d + 1, d))
        even = np.ones(chosen.shape)
        maps = fit_rigid_maps(x[chosen], y[chosen], even, proper=self.proper, resize=self.resize)
        if not self.proper and d == 3:  # three points fit a map and its mirror image
            maps = np.concatenate([maps, fit_rigid_maps(x[chosen], y[chosen], even, proper=True, resize=self.resize)])
        maps = maps[np.argsort(self.measure(maps, FIRST_COMPARED))[: 5 * IMPROVED]]
        return maps[np.argsort(self.measure(maps))[:IMPROVED]]

    def improve(self, maps: Floats) -> Floats:
        """Fit every map again to the probes of both sides and their nearest points, if these are near, for some rounds."""
        for _ in range(NEAREST_ROUNDS if len(maps) else 0):
            maps = self._follow_nearest(maps)
        return maps

    def measure(self, maps: Floats, count: int = COMPARED) -> Floats:
        """Return the mean logarithm (s,) of the distances of probes of both sides to the other cloud."""
        found = [tree.query(points, distance_upper_bound=self.far)[0] for points, tree in self._place(maps, count)]
        return np.mean([np.mean(np.log(np.clip(one / self.far, 0.05, 1.0)), axis=1) for one in found], axis=0)

    def compare(self, w: Floats, maps: Floats) -> Floats:
        """Return the rms distance (s,) between the images of probes under w (d + 1, d) and under each of ``maps``."""
        apart = self.probes[0] @ (maps - w)[:, :-1] + (maps - w)[:, -1:]
        return np.sqrt(np.mean(np.sum(apart**2, axis=2), axis=1))

    def _place(self, maps: Floats, count: int = COMPARED) -> list[tuple[Floats, cKDTree]]:
        """Return the probes of x moved (s, k, d), with the tree of y; and those of y moved back, with the tree of x."""
        linear, offset = maps[:, :-1], maps[:, -1:]
        left, right = (points[:count] for points in self.probes)
        back = np.swapaxes(linear, 1, 2)
        if self.resize > 1:
            back = back / np.mean(np.sum(linear**2, axis=1), axis=1)[:, None, None]
        return [(left @ linear + offset, self.trees[1]), ((right - offset) @ back, self.trees[0])]

    def _follow_nearest(self, maps: Floats) -> Floats:
        """Fit every map again to the probes of both sides and their nearest points."""
        x, y, probes, far = self.x, self.y, self.probes, self.far
        (moved, tree), (back, other) = self._place(maps)
        near_x, at_x = tree.query(moved, distance_upper_bound=far)
        near_y, at_y = other.query(back, distance_upper_bound=far)
        shape = (len(maps), *probes[0].shape), (len(maps), *probes[1].shape)
        left = np.concatenate([np.broadcast_to(probes[0], shape[0]), x[np.minimum(at_y, len(x) - 1)]], axis=1)
        right = np.concatenate([y[np.minimum(at_x, len(y) - 1)], np.broadcast_to(probes[1], shape[1])], axis=1)
        weights = np.maximum(1 - np.minimum(np.concatenate([near_x, near_y], axis=1) / far, 1.0) ** 2, 0.0) ** 2
        return fit_rigid_maps(left, right, weights, proper=self.proper, resize=self.resize)


def fit_rigid_maps(x: Floats, y: Floats, weights: Floats, *, proper: bool, resize: float = 1.0) -> Floats:
    """Return the orthogonal maps and offsets (s, d + 1, d) that lay x (s, k, d) on y (s, k, d), weighted by (s, k).

    They change sizes by the factor ``resize`` at most, either way.
    """
    weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    left, right = (np.einsum("sk,skd->sd", weights, points)[:, None] for points in (x, y))
    u, _, vt = np.linalg.svd(np.swapaxes((x - left) * weights[..., None], 1, 2) @ (y - right))
    if proper:
        u[..., -1] *= np.sign(np.linalg.det(u @ vt))[:, None]
    w = u @ vt
    if resize > 1:  # the ratio of the spreads: neither side counts more
        square = [
            np.sum(weights[..., None] * (points - centre) ** 2, axis=(1, 2))
            for points, centre in ((x, left), (y, right))
        ]
        w = w * np.clip(np.sqrt(square[1] / np.maximum(square[0], 1e-300)), 1 / resize, resize)[:, None, None]
    return np.concatenate([w, right - left @ w], axis=1)
