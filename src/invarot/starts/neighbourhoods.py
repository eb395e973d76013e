"""Rotation-invariant descriptors of the neighbourhood of each point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ..threads import workers

Floats = np.ndarray[Any, Any]

COUNTS = 8, 16, 32, 64  # neighbours
RADII = 5.0, 10.0, 15.0  # of balls, over the median distance to the nearest neighbour
BALL_NEIGHBOURS = 160  # neighbours in a ball that are used
LEADING_SPREADS = 6  # leading spreads of a neighbourhood


def yield_descriptors(
    points: Floats, *, balls: bool, most: int | None = None, counts: Sequence[int] = COUNTS
) -> Iterator[Floats]:
    """Yield descriptors (n, f), one array per kind, of at most ``most`` neighbours: for clouds that are compared, the same.

    First of several ``counts`` of neighbours: their sorted distances, spreads along their principal axes, and the distance to their
    centre. With ``balls`` also of balls: the same spreads and the mean distance, which do not depend on how densely a surface
    was sampled; in many dimensions all points are about equally far, and balls say nothing.
    """
    tree, most = cKDTree(points), min(len(points) - 1, len(points) if most is None else most)
    distances, near = _find_neighbours(tree, points, min(max(counts), most))
    kinds = [_of_nearest(points, distances, near, min(k, near.shape[1])) for k in counts]
    yield np.concatenate(kinds, axis=1)
    if balls:
        distances, near = _find_neighbours(tree, points, min(BALL_NEIGHBOURS, most))
        unit = float(np.median(distances[:, 0])) or 1.0
        yield np.concatenate([_of_ball(points, distances, near, radius * unit) for radius in RADII], axis=1)


def _find_neighbours(tree: cKDTree, points: Floats, count: int) -> tuple[Floats, Floats]:
    """Return the distances of the nearest other points, and which these are, (n, count) each."""
    distances, near = tree.query(points, count + 1, workers=workers())
    return distances[:, 1:], near[:, 1:]


def _of_nearest(points: Floats, distances: Floats, near: Floats, count: int) -> Floats:
    centre, spreads = _spreads(points, near[:, :count], np.ones((len(points), count)))
    off = np.linalg.norm(centre - points, axis=1)
    return np.concatenate([distances[:, : count : max(1, count // 8)], spreads, off[:, None]], axis=1)


def _of_ball(points: Floats, distances: Floats, near: Floats, radius: float) -> Floats:
    inside = (distances <= radius) * 1.0
    centre, spreads = _spreads(points, near, inside)
    number = np.maximum(inside.sum(axis=1), 1.0)
    mean = (distances * inside).sum(axis=1) / number
    off = np.linalg.norm(centre - points, axis=1) * (inside.sum(axis=1) > 0)
    return np.column_stack([spreads, off, mean]) / radius


def _spreads(points: Floats, near: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return centres (n, d) of neighbourhoods and their standard deviations along their leading principal axes (n, `LEADING_SPREADS`)."""
    total = np.maximum(weights.sum(axis=1), 1.0)
    around = points[near]
    centre = np.einsum("nk,nkd->nd", weights, around) / total[:, None]
    around = (around - centre[:, None]) * np.sqrt(weights / total[:, None])[..., None]
    few = around.shape[1] < around.shape[2]
    gram = around @ around.swapaxes(1, 2) if few else around.swapaxes(1, 2) @ around
    spreads = np.sqrt(np.maximum(np.linalg.eigvalsh(gram), 0.0))[:, ::-1][:, :LEADING_SPREADS]
    return centre, np.pad(spreads, ((0, 0), (0, LEADING_SPREADS - spreads.shape[1])))
