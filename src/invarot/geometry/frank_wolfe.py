"""The map step for the true transport cost: minimise tr(Wᵀ S W) − 2⟨M, W⟩ over a Schatten ball, by Frank–Wolfe."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array, machine_epsilon, namespace
from .schatten import SchattenBall


@dataclass(frozen=True)
class MapStep:
    """A map (…, dx, dy) with its duality gap: objective(map) − optimum ≤ ``gap`` (…)."""

    map: Array
    gap: Array
    iterations: int


def quadratic(w: Array, second_moment: Array, moment: Array) -> Array:
    """Return tr(Wᵀ S W) − 2⟨M, W⟩, the part of the transport cost that depends on W."""
    xp = namespace(w)
    return xp.sum((second_moment @ w) * w - 2 * moment * w, axis=(-2, -1))


def least_squares_map(second_moment: Array, moment: Array) -> Array:
    """Return S⁺ M: the unconstrained minimiser, of least norm if S is singular."""
    xp = namespace(moment)
    power, vectors = xp.linalg.eigh(second_moment)
    floor = float(power[-1]) * power.shape[0] * machine_epsilon(moment)
    inverse = xp.where(power > floor, 1 / xp.where(power > floor, power, xp.ones_like(power)), xp.zeros_like(power))
    return (vectors * inverse) @ (xp.matrix_transpose(vectors) @ moment)


def best_quadratic_map(
    ball: SchattenBall, second_moment: Array, moment: Array, *, start: Array, tol: float = 1e-7, max_iter: int = 2000
) -> MapStep:
    """Return argmin over the ball of tr(Wᵀ S W) − 2⟨M, W⟩, for moments (…, dx, dy) and one S (dx, dx).

    The least-squares map is optimal if it lies in the ball. Otherwise Frank–Wolfe from ``start``: the oracle is the
    ball's closed form, the step length is exact, and the stopping rule is the duality gap ⟨∇, W − vertex⟩ relative to
    radius·‖M‖_q. Frank–Wolfe zig-zags if the optimum is on a flat part of the ball, so each step is compared with one of
    accelerated projected gradient and the better one is taken; the gap is valid for both.
    """
    xp = namespace(moment)
    free = least_squares_map(second_moment, moment)
    inside = ball.contains(free, tol=1e-9)[..., None, None]
    w = xp.where(inside, free, ball.shrink(start))
    scale = xp.abs(xp.sum(moment * ball.best_map(moment), axis=(-2, -1)))
    steepest = 2 * float(xp.max(xp.linalg.eigvalsh(second_moment))) or 1.0
    gap, iteration = xp.zeros_like(scale), 0
    ahead, pace = w, xp.ones_like(scale)  # where the accelerated step starts from, and its momentum
    while iteration < max_iter:
        iteration += 1
        gradient = 2 * (second_moment @ w - moment)
        corner = ball.best_map(-gradient)
        gap = xp.where(inside[..., 0, 0], xp.zeros_like(scale), xp.sum(gradient * (w - corner), axis=(-2, -1)))
        if bool(xp.all(gap <= tol * scale)):
            break
        direction = corner - w
        curvature = xp.sum((second_moment @ direction) * direction, axis=(-2, -1))
        flat = curvature <= 0
        length = xp.where(flat, xp.ones_like(gap), gap / (2 * xp.where(flat, xp.ones_like(gap), curvature)))
        toward = w + xp.clip(length, 0.0, 1.0)[..., None, None] * direction
        along = ball.project(ahead - 2 * (second_moment @ ahead - moment) / steepest)
        better = quadratic(along, second_moment, moment) < quadratic(toward, second_moment, moment)
        following = xp.where(better[..., None, None], along, toward)
        faster = xp.where(better, (1 + xp.sqrt(1 + 4 * pace**2)) / 2, xp.ones_like(pace))
        momentum = xp.where(better, (pace - 1) / faster, xp.zeros_like(pace))
        ahead = following + momentum[..., None, None] * (following - w)
        w, pace = xp.where(inside, w, following), faster
    return MapStep(w, gap, iteration)
