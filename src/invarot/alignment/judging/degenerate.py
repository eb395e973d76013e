"""Clouds in which a map shows nothing: no extent, hardly any distinct points, a line, or points as far apart as a simplex.

Any map, or any matching, fits such clouds, so that a good fit is no evidence. Only a copy, whose points lie on their targets
to well below their spacing, is told from chance on a line or a simplex.
"""

from __future__ import annotations

from ...arrays import Array, machine_epsilon, namespace, transpose
from ..evidence import effective_dimensions
from ..problem import Problem
from ..tuning import COPIES, DISTINCT, FEW_POINTS, SIMPLEX_POINTS
from ..verdict import Evidence


def find_degenerate(problem: Problem, evidence: Evidence) -> str | None:
    """Return why no map of these clouds can be shown to be right; None if one can."""
    for name, points in (("x", problem.x), ("y", problem.y)):
        count = count_distinct(points)
        if count < DISTINCT:
            return f"{name} has {count:.0f} distinct points only, which many maps fit"
    if evidence.dimensions * COPIES < 1 and evidence.twins < COPIES:
        return "a cloud lies on a line, where only a copy can be told from chance"
    clouds = ((problem.x, problem.a), (problem.y, problem.b))
    room = min(points.shape[0] / max(effective_dimensions(points, weights), 1.0) for points, weights in clouds)
    if room < SIMPLEX_POINTS and evidence.twins < COPIES:
        return f"{room:.1f} points per dimension are nearly a simplex, on which all matchings fit alike"
    return None


def count_distinct(points: Array) -> float:
    """Return the number of distinct points among a few hundred: each counts 1/(points at its place)."""
    xp = namespace(points)
    some = points[:: max(1, points.shape[0] // FEW_POINTS)]
    square = xp.sum(some**2, axis=1)
    far = square[:, None] + square - 2 * some @ transpose(some)
    rounding = 64 * machine_epsilon(points) * float(xp.max(square))
    return float(xp.sum(1 / xp.sum(xp.astype(far <= rounding, points.dtype), axis=1)))
