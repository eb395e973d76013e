"""The symmetries that no start happened to find: the map turned right round, or mirrored in one of its directions.

A race shows a symmetry where two of its starts end at different maps that score alike. A grid or a star may send them all
to one. Where points meet their targets to well below their own spacing, a mirror image that does so too is as good an
answer, and looking is cheap.
"""

from __future__ import annotations

import math

from ..arrays import Array, device, namespace, transpose
from ..retrieval.nearest import nearest
from .multiscale import MANY
from .problem import Problem
from .settings import Settings

PROBES = 100  # points that are looked at
MOST = 20  # directions, the strongest
CLOSE = 0.1  # of the mean squared spacing of the targets: points that near to a target have met it


def applies(problem: Problem, settings: Settings) -> bool:
    """Whether images are maps of the kind asked for, and points few enough for an exact symmetry to be likely."""
    plain = math.isinf(settings.p) and problem.seeds is None
    return plain and max(problem.x.shape[0], problem.y.shape[0]) <= MANY


def images(problem: Problem, w: Array, *, proper: bool = False) -> Array:
    """Those of −w and of w behind a mirror in a principal axis of x that send most points to other targets; (s, dx, dy).

    Of a ``proper`` rotation, those that are rotations too: −w in even dimensions, the opposites of mirror images (in space, half a
    turn about an axis) in odd ones.
    """
    xp = namespace(w)
    probes = problem.x[:: max(1, problem.x.shape[0] // PROBES)]
    rows = xp.arange(0, problem.y.shape[0], max(1, problem.y.shape[0] // PROBES), device=device(w))
    spacing = _gap(problem.y[rows], problem.y[nearest(problem.y[rows], problem.y, rows)])
    reached = nearest(probes @ w, problem.y)
    if _gap(probes @ w, problem.y[reached]) > CLOSE * spacing:
        return w[None][:0]

    def is_image(one: Array) -> bool:
        there = nearest(probes @ one, problem.y)
        same = float(xp.mean(xp.astype(there == reached, w.dtype)))
        return same < 0.5 and _gap(probes @ one, problem.y[there]) <= CLOSE * spacing

    _, axes = xp.linalg.eigh(problem.second_moment)
    strongest = [axes[:, k, None] for k in range(max(0, axes.shape[1] - MOST), axes.shape[1])]
    mirrored = [w - 2 * axis @ (transpose(axis) @ w) for axis in strongest]
    rotations = [-one for one in mirrored] if w.shape[0] % 2 else [-w]
    found = [one for one in (rotations if proper else [-w, *mirrored]) if is_image(one)]
    return xp.stack(found) if found else w[None][:0]


def _gap(one: Array, other: Array) -> float:
    """Mean squared distance of rows."""
    xp = namespace(one)
    return float(xp.mean(xp.sum((one - other) ** 2, axis=1)))
