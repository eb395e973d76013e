"""The problem to solve: two clouds in the coordinates of the solve, the family of maps, and how to map back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy, transpose
from ..errors import InputError
from ..geometry.frames import Frame, make_frame, mean_square, weighted_mean, weighted_second_moment
from ..geometry.orthogonal import RotationGroup
from ..geometry.schatten import SchattenBall, identity_radius
from ..rows import ALL, Rows
from .budget import Budgets, make_budgets, relative_spacing
from .history import Step
from .options import Maps, Sinkhorn, Solver
from .overlap import Overlap, Scales
from .together import check_together
from .tuning import SAME_ANSWER, SLACK, STAGE_POINTS

Observer = Callable[[Step], object]


@dataclass(frozen=True)
class Problem:
    """Points of positive weight in their frames, and everything that is constant during a solve."""

    x: Array  # (n, dx)
    y: Array  # (m, dy)
    a: Array  # (n,)
    b: Array  # (m,)
    frame_x: Frame
    frame_y: Frame
    second_moment: Array  # (dx, dx): xᵀ diag(a) x
    mean_square_y: float
    cost_scale: float  # what epsilon is relative to
    variance_scale: float  # what a perfect match of the centred clouds scores
    spacing: float  # squared distance between neighbours of x, over its variance
    maps: SchattenBall | RotationGroup
    objective: str  # "simplified" or "transport"
    scale: bool  # whether a scale is found on top of the map
    ordered: bool  # whether rows are sorted by importance
    budgets: Budgets
    on_step: Observer | None = None
    seed_moment: Array | None = None  # (dx, dy): moment of the known pairs, added to the plan's
    seed_mass: float | None = None  # weight of the pairs in the last fit, over that in the search; None: the same
    overlap: Overlap | None = None  # None: all mass is matched
    scales: Scales | None = None  # what is near, where only a part corresponds
    affine: bool = False  # whether x has a last coordinate 1, so that the last row of a map is its offset
    rows: Rows = ALL  # whether x and a are all rows or a part of them
    columns: Rows = ALL  # the same of y and b

    @property
    def score_scale(self) -> float:
        """What ⟨M, W⟩ is relative to: rms(x)·rms(y)·radius, the score of a perfect match of equal norms."""
        return self.cost_scale / 2

    @property
    def sign(self) -> int:
        """+1 if a larger objective is better (a score), −1 if a smaller one is (a cost)."""
        return 1 if self.objective == "simplified" else -1

    @property
    def largest(self) -> int:
        return int(max(self.rows.count(self.x), self.columns.count(self.y)))

    @property
    def whole_shape(self) -> tuple[int, int]:
        """Dimensions of the clouds as they came; ``restricted`` to the span of its points, one has fewer here."""
        return self.frame_x.linear.shape[0], self.frame_y.linear.shape[0]

    @property
    def restricted(self) -> bool:
        return self.whole_shape != (self.frame_x.linear.shape[1], self.frame_y.linear.shape[1])

    @property
    def large(self) -> bool:
        """Whether a solve of all points is costly: high epsilons are then solved on a subsample, and only one answer to the end."""
        return self.largest > 2 * STAGE_POINTS

    def unobserved(self) -> Problem:
        """Return the same problem without an observer: for solves that the caller did not ask for."""
        return replace(self, on_step=None)

    @property
    def orthogonal(self) -> bool:
        """Whether all maps are orthogonal (times a number) and the objective is their score."""
        return isinstance(self.maps, SchattenBall) and math.isinf(self.maps.p) and self.objective == "simplified"


def pose(
    x: Array, y: Array, a: Array, b: Array, *, maps: Maps, solver: Solver, translate: bool = False, scale: bool = False,
    ordered: bool = False, on_step: Observer | None = None, rows: Rows = ALL, columns: Rows = ALL, restrict: bool = False,
) -> Problem:  # fmt: skip
    """Return the problem for checked points and weights (zero weights allowed).

    ``restrict``: coordinates of the span of a cloud with fewer points than dimensions; what a map does elsewhere changes no score.
    """
    dx, dy = x.shape[1], y.shape[1]
    check_together(maps, solver, scale, dx, dy)
    unit = scale and not maps.whiten
    frame_x = make_frame(x, a, center=translate, whiten=maps.whiten, unit=unit, rows=rows)
    frame_y = make_frame(y, b, center=translate, whiten=maps.whiten, unit=unit, rows=columns)
    if restrict:
        frame_x, frame_y = frame_x.restrict(x), frame_y.restrict(y)
    inside_x, inside_y = frame_x.enter(x)[a > 0], frame_y.enter(y)[b > 0]
    weight_x, weight_y = a[a > 0], b[b > 0]
    square_x, square_y = mean_square(inside_x, weight_x, rows), mean_square(inside_y, weight_y, columns)
    size = maps.ball.size(dx, dy)
    largest = _check_mapped(_longest(inside_x, rows), size, inside_x) * _longest(inside_y, columns)
    reach = size / identity_radius(float(maps.p), min(dx, dy))
    second_moment = weighted_second_moment(inside_x, weight_x, rows)
    cost_scale = 2 * math.sqrt(square_x * square_y) * reach or 1.0
    count = max(rows.count(inside_x), columns.count(inside_y))
    variances = variance(inside_x, weight_x, rows), variance(inside_y, weight_y, columns)
    variance_scale = math.sqrt(math.prod(variances)) * reach or 1.0
    spacing = relative_spacing(second_moment, weighted_mean(inside_x, weight_x, rows), count)
    return Problem(
        x=inside_x,
        y=inside_y,
        a=weight_x,
        b=weight_y,
        frame_x=frame_x,
        frame_y=frame_y,
        second_moment=second_moment,
        mean_square_y=square_y,
        cost_scale=cost_scale,
        variance_scale=variance_scale,
        maps=maps.ball if (inside_x.shape[1], inside_y.shape[1]) == (dx, dy) else SchattenBall(float(maps.p), size),
        objective=solver.objective,
        scale=scale,
        ordered=ordered,
        spacing=spacing,
        budgets=make_budgets(solver, spacing * variance_scale / cost_scale).within_precision(
            inside_x, largest, cost_scale
        ),
        on_step=on_step,
        rows=rows,
        columns=columns,
    )


def _check_mapped(norm: float, size: float, points: Array) -> float:
    """Return the largest norm of points under a map of norm ``size``; raise where its powers leave the range of the dtype."""
    longest = norm * size
    info = namespace(points).finfo(points.dtype)
    low, high = float(info.smallest_normal) ** 0.25, float(info.max) ** 0.25
    if not low < (longest or size) < high:
        raise InputError(
            f"radius: expected mapped points between {low:.0e} and {high:.0e} in {points.dtype}, got a radius of {size:.3g} and "
            f"points of up to {norm:.3g}; change the unit of x, or the radius"
        )
    return longest


def _longest(points: Array, rows: Rows = ALL) -> float:
    """Return the largest norm of all points."""
    xp = namespace(points)
    return float(rows.max(xp.max(xp.linalg.vector_norm(points, axis=1))))


def add_seeds(problem: Problem, pairs: Any, weight: float | None = None) -> Problem:
    """Add known pairs (k, 2) as a linear term: weight·(mean over the pairs of xᵢᵀ yⱼ), added to the plan's moment.

    Without a ``weight`` they weigh as much as the whole plan while a map is sought, and as much as their points in the last fit.
    """
    integer = namespace(problem.x).int64
    left = problem.x[as_like(pairs[:, 0], problem.x, dtype=integer)]
    right = problem.y[as_like(pairs[:, 1], problem.y, dtype=integer)]
    moment = transpose(left) @ right / len(pairs)
    if weight is not None:
        return replace(problem, seed_moment=weight * moment)
    return replace(problem, seed_moment=moment, seed_mass=min(1.0, len(pairs) / problem.largest))


def weigh_seeds_as_points(problem: Problem) -> Problem:
    """Return the problem of the last fit: a known pair counts as much as a point whose match is known."""
    if problem.seed_moment is None or problem.seed_mass is None:
        return problem
    return replace(problem, seed_moment=problem.seed_mass * problem.seed_moment, seed_mass=None)


def divide_rows(problem: Problem) -> Problem:
    """Return the problem with a share of the rows of x for each process, where every process has all of them."""
    x, a, rows = problem.rows.divide(problem.x, problem.a)
    return replace(problem, x=x, a=a, rows=rows)


def variance(points: Array, weights: Array, rows: Rows = ALL) -> float:
    """Return the mean squared distance of weighted points from their mean."""
    return mean_square(points - weighted_mean(points, weights, rows), weights, rows)


def transport_cost(problem: Problem, moment: Array, w: Array) -> Array:
    """Return Σ Γij ‖xᵢW − yⱼ‖² (…), from the moment alone."""
    xp = namespace(moment)
    quadratic = xp.sum((problem.second_moment @ w) * w, axis=(-2, -1))
    return problem.mean_square_y + quadratic - 2 * xp.sum(moment * w, axis=(-2, -1))


# -- comparing answers -------------------------------------------------------------------------------------------------


def slack(problem: Problem, value: float) -> float:
    """Return how far below ``value`` (an objective times ``sign``) another counts as equal: 5 % of the gap to a perfect score.

    And as much as an error of the marginals within tolerance changes an objective.
    """
    perfect = problem.score_scale if problem.sign > 0 else 0.0
    return SLACK * abs(perfect - abs(value)) + Sinkhorn.plan_tol * problem.variance_scale


def same_answers(problem: Problem, w: Array, others: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return for each of others (s, dx, dy) whether it sends the points to the same places as w (dx, dy).

    Two maps are the same answer if the rms distance between their images is less than half the distance to a neighbour, or
    less than a tenth of the spread of the images if neighbours are nearer than that.
    """
    xp = namespace(w)
    apart = others - w
    distance = xp.sum((problem.second_moment @ apart) * apart, axis=(-2, -1))
    centre = problem.a @ problem.x
    spread = float(xp.sum((problem.second_moment @ w) * w)) - float(xp.sum((centre @ w) ** 2))
    return np.asarray(to_numpy(distance) <= max(SAME_ANSWER**2, problem.spacing / 4) * max(spread, 0.0))


def same_answer(problem: Problem, w: Array, other: Array) -> bool:
    """Return whether two maps are the same answer."""
    return bool(same_answers(problem, w, other[None])[0])


def distinct(problem: Problem, maps: Array, order: Any, most: int | None = None) -> list[int]:
    """Return the first of each distinct answer among maps (s, dx, dy) in the given order; at most ``most``."""
    chosen: list[int] = []
    for k in (int(k) for k in order):
        if not any(same_answer(problem, maps[k], maps[j]) for j in chosen):
            chosen.append(k)
        if len(chosen) == most:
            break
    return chosen
