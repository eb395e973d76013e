"""Symmetries that no start found: the map negated, or reflected in one of its directions.

A race shows a symmetry if two of its starts end at different maps with the same score. On a grid or a star all starts may
end at one map. If points lie on their targets to well below their spacing, a mirror image that does so too is an equally
good answer, and the test is cheap.
"""

from __future__ import annotations

import math

from ...arrays import Array, device, namespace, transpose
from ...geometry.orthogonal import RotationGroup
from ...retrieval.nearest import nearest
from ..problem import Problem, same_answer
from ..tuning import PROBES, SAME_ANSWER


def count_symmetries(problem: Problem, w: Array, known: list[Array]) -> int:
    """Count the mirror images of w (dx, dy) that fit the targets as well, other than the maps ``known``.

    Not tested for many points, whose symmetry would hardly be exact, nor for maps that change norms.
    """
    orthogonal = isinstance(problem.maps, RotationGroup) or math.isinf(problem.maps.p)
    if not orthogonal or problem.seed_moment is not None or problem.large:
        return 0
    different = list(known)
    for one in mirror_images(problem, w, proper=isinstance(problem.maps, RotationGroup)):
        # in one dimension all of them are the same
        if not any(same_answer(problem, one, other) for other in different):
            different.append(one)
    return len(different) - len(known)


def mirror_images(problem: Problem, w: Array, *, proper: bool = False) -> list[Array]:
    """Return −w and the reflections of w in principal axes of x that fit as well and send most points to other targets.

    With ``proper``, only rotations: −w in even dimensions, negated reflections (in 3-D, half turns about an axis) in odd
    ones.
    """
    xp = namespace(w)
    probes = problem.x[:: max(1, problem.x.shape[0] // PROBES)]
    rows = xp.arange(0, problem.y.shape[0], max(1, problem.y.shape[0] // PROBES), device=device(w))
    spacing = _mean_gap(problem.y[rows], problem.y[nearest(problem.y[rows], problem.y, rows)])
    reached = nearest(probes @ w, problem.y)
    if _mean_gap(probes @ w, problem.y[reached]) > SAME_ANSWER * spacing:
        return []

    second = nearest(probes @ w, problem.y, reached)
    far, near = (xp.linalg.vector_norm(probes @ w - problem.y[rows], axis=1) for rows in (second, reached))

    def is_image(one: Array) -> bool:
        moved = xp.linalg.vector_norm(probes @ (one - w), axis=1)
        if float(xp.mean(xp.astype(2 * moved < far - near, w.dtype))) >= 0.5:
            return False  # these keep their targets, whatever the others do
        there = nearest(probes @ one, problem.y)
        same = float(xp.mean(xp.astype(there == reached, w.dtype)))
        return same < 0.5 and _mean_gap(probes @ one, problem.y[there]) <= SAME_ANSWER * spacing

    _, axes = xp.linalg.eigh(problem.second_moment)
    strongest = [axes[:, k, None] for k in range(max(0, axes.shape[1] - PROBES), axes.shape[1])]
    mirrored = [w - 2 * axis @ (transpose(axis) @ w) for axis in strongest]
    rotations = [-one for one in mirrored] if w.shape[0] % 2 else [-w]
    return [one for one in (rotations if proper else [-w, *mirrored]) if is_image(one)]


def _mean_gap(one: Array, other: Array) -> float:
    """Return the mean squared distance of rows."""
    xp = namespace(one)
    return float(xp.mean(xp.sum((one - other) ** 2, axis=1)))
