"""Quadratic matching relaxed from permutations to doubly stochastic matrices, solved by Frank–Wolfe."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..arrays import Array, as_like, namespace, to_numpy, transpose
from ..errors import InputError
from .matching import moment_map, soft_match, squared_distances
from .profiles import is_uniform, subsample


def relaxation(
    x: Array,
    y: Array,
    a: Array,
    b: Array,
    *,
    rng: np.random.Generator,
    size: int = 400,
    ordered: bool = False,
    max_iter: int = 40,
    tol: float = 1e-4,
    sharpen: int = 20,
) -> Array:
    """Match the distance matrices of both clouds: min ‖Dx P − P Dy‖² over plans P, starting from the product plan.

    Distances, not inner products: on centred clouds the product plan already solves the latter.

    Parameters
    ----------
    x, y, a, b, rng
        As of every start (:mod:`invarot.starts`); ``rng`` is not used.
    size : int
        Maximal number of points per cloud; the cost of a step is cubic in it.
    ordered : bool
        Rows are sorted by importance: a subsample is then the first rows.
    max_iter, tol : int, float
        Maximal number of Frank–Wolfe steps; stop when the duality gap is below ``tol`` times the value at the product plan.
    sharpen : int
        Steps of the indefinite problem max ⟨Dx P, P Dy⟩ from there: a second candidate (0: none).

    Returns
    -------
    maps : array (1 or 2, dx, dy)
        From the convex solution, then from the sharpened one.
    """
    if size < 1 or max_iter < 1 or sharpen < 0:
        raise InputError(
            f"size, max_iter, sharpen: expected numbers ≥ 1, ≥ 1 and ≥ 0, got {size}, {max_iter} and {sharpen}"
        )
    xs, a_s, _ = subsample(x, a, size, ordered=ordered)
    ys, b_s, _ = subsample(y, b, size, ordered=ordered)
    dx, dy = _distances(xs, a_s), _distances(ys, b_s)
    plan = convex_plan(dx, dy, a_s, b_s, max_iter=max_iter, tol=tol)
    plans = [plan]
    if sharpen:
        plans.append(indefinite_plan(dx, dy, a_s, b_s, plan, max_iter=sharpen))
    return moment_map(namespace(x).stack([transpose(xs) @ p @ ys for p in plans]))


def convex_plan(dx: Array, dy: Array, a: Array, b: Array, *, max_iter: int, tol: float) -> Array:
    """Minimise ‖A T − T B‖², T = plan / √(a bᵀ), A and B the weighted distances, by Frank–Wolfe with exact line search."""
    xp = namespace(dx)
    ra, rb = xp.sqrt(a), xp.sqrt(b)
    left, right = ra[:, None] * dx * ra[None, :], rb[:, None] * dy * rb[None, :]
    scale = 1.0 / (ra[:, None] * rb[None, :])
    plan = a[:, None] * b[None, :]
    residual = left @ (plan * scale) - (plan * scale) @ right
    first = float(xp.sum(residual * residual))
    for _ in range(max_iter):
        gradient = 2.0 * (left @ residual - residual @ right) * scale
        step = linear_plan(gradient, a, b) - plan
        gap = -float(xp.sum(gradient * step))
        if gap <= tol * first:
            break
        change = left @ (step * scale) - (step * scale) @ right
        curvature = float(xp.sum(change * change))
        length = min(1.0, gap / (2.0 * curvature)) if curvature > 0 else 1.0
        plan, residual = plan + length * step, residual + length * change
    return plan


def indefinite_plan(dx: Array, dy: Array, a: Array, b: Array, plan: Array, *, max_iter: int) -> Array:
    """Maximise ⟨Dx P, P Dy⟩ by Frank–Wolfe from ``plan``: the maxima are vertices, hence sharp matches."""
    xp = namespace(dx)
    pull = dx @ plan @ dy
    for _ in range(max_iter):
        step = linear_plan(-pull, a, b) - plan
        slope = 2.0 * float(xp.sum(pull * step))
        if slope <= 1e-7 * float(xp.sum(pull * plan)):
            break
        push = dx @ step @ dy
        curvature = float(xp.sum(push * step))
        length = 1.0 if curvature >= 0 else min(1.0, -slope / (2.0 * curvature))
        plan, pull = plan + length * step, pull + length * push
    return plan


def linear_plan(cost: Array, a: Array, b: Array) -> Array:
    """Return a plan that (nearly) minimises ⟨cost, plan⟩: an assignment if possible, else a sharp entropic plan."""
    xp = namespace(cost)
    if a.shape[0] == b.shape[0] and is_uniform(a) and is_uniform(b):
        rows, columns = linear_sum_assignment(to_numpy(cost))
        found = np.zeros(cost.shape)
        found[rows, columns] = 1.0 / len(rows)
        return as_like(found, cost)
    spread = float(xp.max(cost)) - float(xp.min(cost))
    return soft_match(cost, a, b, epsilon=0.005 * spread if spread > 0 else 1.0, max_iter=200)


def _distances(x: Array, a: Array) -> Array:
    xp = namespace(x)
    found = xp.sqrt(squared_distances(x, x))
    mean = float(a @ (found @ a))
    return found / mean if mean > 0 else found
