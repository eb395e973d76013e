"""The problem where only a part of the clouds corresponds: mass may stay unmatched, and what is matched is judged."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array, as_like, machine_epsilon, namespace, to_numpy
from ..errors import InputError
from ..geometry.frames import mean_square, weighted_second_moment
from ..retrieval.nearest import nearest_distances, neighbour_distances
from ..retrieval.thinning import FEW_DIMENSIONS, count_even, thin
from .budget import relative_spacing
from .overlap import Overlap, measure_scales
from .problem import Problem, variance
from .tuning import EVEN_POINTS, QUERIES

Floats = np.ndarray[Any, Any]


def allow_unmatched(problem: Problem, overlap: Overlap, *, translate: bool, rng: np.random.Generator) -> Problem:
    """Return the problem in which mass may stay unmatched; the translation is then part of the map.

    Epsilon is relative to the squared cut.
    """
    xp, x = namespace(problem.x), problem.x
    squares = _check_one_unit(problem)
    whole = xp.concat([x, xp.ones_like(x[:, :1])], axis=1) if translate else x
    return replace(
        problem,
        x=whole,
        second_moment=weighted_second_moment(whole, problem.a),
        budgets=problem.budgets.for_part(),
        cost_scale=problem.cost_scale if min(squares) else max(squares) or 1.0,
        overlap=overlap,
        scales=measure_scales(x, problem.y, rng),
        affine=translate,
    )


def is_rigid(problem: Problem) -> bool:
    """Return whether clouds of a problem are laid on each other by motions of the plane or of space, with a size where that is free."""
    same = problem.x.shape[1] == problem.y.shape[1] + 1
    return problem.affine and 2 <= problem.y.shape[1] <= FEW_DIMENSIONS and same


def on_host(problem: Problem) -> tuple[Floats, Floats]:
    """Return both clouds, without the last coordinate 1 of x, as NumPy arrays."""
    x, y = (to_numpy(points).astype(np.float64) for points in (problem.x[:, :-1], problem.y))
    return x, y


def _check_one_unit(problem: Problem) -> tuple[float, float]:
    """Return the mean squares of both clouds; raise where squared distances between them lose one of them in rounding."""
    squares = float(namespace(problem.x).linalg.trace(problem.second_moment)), problem.mean_square_y
    if min(problem.x.shape[0], problem.y.shape[0]) < 2:
        raise InputError("overlap: expected at least 2 points with weight in each cloud, got 1; leave overlap out")
    if 0 < min(squares) < machine_epsilon(problem.x) * max(squares):
        x, y = (square**0.5 for square in squares)
        raise InputError(
            f"overlap: expected clouds in one unit, got points of about {x:.1g} in x and {y:.1g} in y; convert one of them, or pass "
            "scale=True"
        )
    return squares


def _even_out(x: Array, y: Array, w: Array) -> tuple[Array, Array]:
    """Return at most `QUERIES` points of x and of y (d ≤ `FEW_DIMENSIONS`), of even density where half of them or more are too dense for that."""
    left, right = (thin(to_numpy(points).astype(np.float64), QUERIES) for points in (x, y))
    if min(len(left), len(right)) > 1:
        moved = left @ to_numpy(w).astype(np.float64)
        gap, spacing = (
            float(np.median(to_numpy(one))) ** 0.5
            for one in (nearest_distances(moved, right), neighbour_distances(right))
        )
        if gap > spacing / 2:  # no copies
            few = (max(count, EVEN_POINTS) for count in count_even(moved, right))
            left, right = (
                thin(points, count) if count < len(points) / 2 else points
                for points, count in zip((left, right), few, strict=True)
            )
    return as_like(left, x), as_like(right, y)


def keep_matched(problem: Problem, w: Array, matched: tuple[Array, Array]) -> tuple[Problem, Array]:
    """Return the problem of the points that are matched by more than half, and the map w (dx, dy) for it.

    The offset of the map becomes the choice of the origins: the centre of x, and its image; the centre of y is another place if one
    cloud is denser here and the other there. In the plane and in space many points, and points of uneven density, are thinned to an even
    one: how densely a scan samples a surface says nothing of the surface, and distances between its neighbours say little of how near
    another scan can be. Copies stay as they are: they lie nearer to each other than to any neighbour.
    """
    xp = namespace(problem.x)
    x, y = (points[xp.nonzero(share > 0.5)[0]] for points, share in zip((problem.x, problem.y), matched, strict=True))
    if min(x.shape[0], y.shape[0]) == 0:
        x, y = problem.x[:1], problem.y[:1]
    if problem.affine:
        x, y, w = x[:, :-1], y - w[-1], w[:-1, :]
    if max(w.shape) <= FEW_DIMENSIONS:
        x, y = _even_out(x, y, w)
    if problem.affine:
        centre = xp.mean(x, axis=0)
        x, y = x - centre, y - centre @ w
    if problem.scale:
        size = float(xp.linalg.matrix_norm(w)) / min(w.shape) ** 0.5 or 1.0
        x, w = x * size, w / size
    a, b = (xp.ones_like(points[:, 0]) / points.shape[0] for points in (x, y))
    square, second = mean_square(y, b), weighted_second_moment(x, a)
    cost_scale = 2 * math.sqrt(mean_square(x, a) * square) or 1.0
    variance_scale = math.sqrt(variance(x, a) * variance(y, b)) or 1.0
    spacing = relative_spacing(second, a @ x, max(x.shape[0], y.shape[0]))
    kept = replace(
        problem, x=x, y=y, a=a, b=b, second_moment=second, mean_square_y=square, cost_scale=cost_scale,
        variance_scale=variance_scale, spacing=spacing, overlap=None, scales=None, affine=False,
    )  # fmt: skip
    return kept, w


def with_offset(problem: Problem, maps: Array) -> Array:
    """Return maps (s, dx, dy) with an offset of 0 as their last row, where the problem has one."""
    if not problem.affine:
        return maps
    return namespace(maps).concat([maps, namespace(maps).zeros_like(maps[:, :1])], axis=1)
