"""Clouds in which a map shows nothing: no extent, hardly any distinct points, a line, a lattice, or points as far apart as a simplex.

Any map, or any matching, fits such clouds, so that a good fit is no evidence. Only a copy, whose points lie on their targets
to well below their spacing, is told from chance on a line or a simplex.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist, pdist

from ...arrays import Array, machine_epsilon, namespace, to_numpy, transpose
from ...geometry.frames import mean_square
from ...retrieval.nearest import nearest
from ..evidence import effective_dimensions
from ..problem import Problem, variance
from ..tuning import COPIES, DISTINCT, FEW_POINTS, PROBES, SAME_ANSWER, SIMPLEX_POINTS
from ..verdict import Evidence


def find_flat(problem: Problem) -> list[str]:
    """Return the names of the clouds without extent: all their points are the same, to rounding."""
    found = []
    for name, points, weights, frame in (
        ("x", problem.x, problem.a, problem.frame_x),
        ("y", problem.y, problem.b, problem.frame_y),
    ):
        far = float(namespace(points).sum((frame.origin @ frame.linear) ** 2))
        if variance(points, weights) <= (64 * machine_epsilon(points)) ** 2 * (mean_square(points, weights) + far):
            found.append(name)
    return found


def find_degenerate(problem: Problem, w: Array, evidence: Evidence) -> str | None:
    """Return why the map w (dx, dy) of these clouds cannot be shown to be right; None if it can."""
    some, others = (points[:: max(1, points.shape[0] // FEW_POINTS)] for points in (problem.x, problem.y))
    crowds = tuple(count_ties(points, points) for points in (some, others))
    for name, crowd in zip(("x", "y"), crowds, strict=True):
        count = float(namespace(crowd).sum(1 / crowd))
        if count < DISTINCT:
            return f"{name} has {count:.0f} distinct points only, which many maps fit"
    if _is_lattice(some @ w, others, *crowds):
        return "many points share their places, and not as many on both sides: other maps fit such a lattice as well"
    if evidence.dimensions * COPIES < 1 and evidence.twins < COPIES:
        return "a cloud lies on a line (or few points far off make it one: drop them), where only a copy can be told from chance"
    clouds = ((problem.x, problem.a), (problem.y, problem.b))
    room = min(points.shape[0] / max(effective_dimensions(points, weights), 1.0) for points, weights in clouds)
    if room < SIMPLEX_POINTS and min(evidence.twins, evidence.split) < 1 - SAME_ANSWER:
        return f"{room:.1f} points per dimension are nearly a simplex, on which all matchings fit alike"
    return None


def count_ties(points: Array, others: Array) -> Array:
    """Return how many of the others are at the place of each point (n,), to rounding."""
    xp = namespace(points)
    square = xp.sum(points**2, axis=1)
    far = square[:, None] + xp.sum(others**2, axis=1) - 2 * points @ transpose(others)
    rounding = 64 * machine_epsilon(points) * float(xp.max(square))
    return xp.sum(xp.astype(far <= rounding, points.dtype), axis=1)


def _is_lattice(images: Array, y: Array, ties: Array, ties_y: Array) -> bool:
    """Return whether places are shared and distances repeat, on both sides, and places hold different shares of the points."""
    xp = namespace(y)
    if min(float(xp.mean(ties)), float(xp.mean(ties_y))) < 1 + SAME_ANSWER:  # itself, and others
        return False
    here, there = ties / images.shape[0], ties_y[nearest(images, y)] / y.shape[0]
    if float(xp.mean(xp.abs(here - there))) <= SAME_ANSWER * float(xp.mean(here)):
        return False
    return _repeats_distances(images) and _repeats_distances(y)


def _repeats_distances(points: Array) -> bool:
    """Return whether every second pair of distinct places, of `PROBES` points, is as far apart as another pair."""
    some = to_numpy(points[:: -(-points.shape[0] // PROBES)]).astype(np.float64)
    rounding = 64 * machine_epsilon(points) * float(np.max(np.sum(some**2, axis=1)))
    same = cdist(some, some, "sqeuclidean") <= rounding
    apart = np.sort(pdist(some[~np.tril(same, -1).any(axis=1)], "sqeuclidean"))
    return 2 * (1 + int(np.count_nonzero(np.diff(apart) > rounding))) <= len(apart)
