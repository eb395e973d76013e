"""What to solve: two clouds in the coordinates of the solve, and how to come back from there."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..arrays import Array, namespace
from ..geometry.frames import Frame, make_frame, mean_square, weighted_second_moment
from ..geometry.schatten import identity_radius
from .settings import Settings


@dataclass(frozen=True)
class Problem:
    """Points of positive weight, inside their frames. ``cost_scale`` is what epsilon is relative to."""

    x: Array  # (n, dx)
    y: Array  # (m, dy)
    a: Array  # (n,)
    b: Array  # (m,)
    frame_x: Frame
    frame_y: Frame
    second_moment: Array  # (dx, dx): xᵀ diag(a) x
    mean_square_y: float
    cost_scale: float
    variance_scale: float  # what a perfect match of the centred clouds scores
    seeds: Array | None = None  # (dx, dy): moment of the known pairs, added to the plan's

    @property
    def score_scale(self) -> float:
        """What ⟨M, W⟩ is relative to: rms(x)·rms(y)·radius, the score of a perfect match of equal norms."""
        return self.cost_scale / 2


def pose(x: Array, y: Array, a: Array, b: Array, settings: Settings) -> Problem:
    """The problem of ``settings`` for checked points and weights (zero weights allowed)."""
    whiten, center = settings.whiten, settings.translate
    unit = settings.scale and not whiten
    frame_x = make_frame(x, a, center=center, whiten=whiten, unit=unit)
    frame_y = make_frame(y, b, center=center, whiten=whiten, unit=unit)
    inside_x, inside_y = frame_x.enter(x)[a > 0], frame_y.enter(y)[b > 0]
    weight_x, weight_y = a[a > 0], b[b > 0]
    dx, dy = x.shape[1], y.shape[1]
    square_x, square_y = mean_square(inside_x, weight_x), mean_square(inside_y, weight_y)
    reach = settings.invariance.size(dx, dy) / identity_radius(settings.p, min(dx, dy))
    return Problem(
        x=inside_x,
        y=inside_y,
        a=weight_x,
        b=weight_y,
        frame_x=frame_x,
        frame_y=frame_y,
        second_moment=weighted_second_moment(inside_x, weight_x),
        mean_square_y=square_y,
        variance_scale=math.sqrt(_variance(inside_x, weight_x) * _variance(inside_y, weight_y)) * reach or 1.0,
        cost_scale=2 * math.sqrt(square_x * square_y) * reach or 1.0,
    )


def _variance(points: Array, weights: Array) -> float:
    return mean_square(points - weights @ points, weights)


def transport_cost(problem: Problem, moment: Array, w: Array) -> Array:
    """Σ Γij ‖xᵢW − yⱼ‖² (…), from the moment alone."""
    xp = namespace(moment)
    quadratic = xp.sum((problem.second_moment @ w) * w, axis=(-2, -1))
    return problem.mean_square_y + quadratic - 2 * xp.sum(moment * w, axis=(-2, -1))
