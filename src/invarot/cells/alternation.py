"""Plans and maps of several views in turn, for many starts at once."""

from __future__ import annotations

from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]
Views = dict[str, Floats]

MAP_SWEEPS = 7  # of Sinkhorn, between two updates of the maps
MAP_ROUNDS = 2  # of map and plan at each epsilon
LEAST_MASS = 1e-30  # less counts as this


def fit_plans(x: Views, y: Views, a: Floats, b: Floats, plans: Floats, *, epsilons: tuple[float, ...]) -> Floats:
    """Return plans (s, n, m) that fit every view, each improved from one of ``plans``.

    In turn: the rigid map of each view that fits the plan best (about the means, and at the size, of the matched cells), and
    the plan for the sum of the squared distances of all views. The weights a (n,) or (s, n) and b (m,) or (s, m) are kept.
    """
    g = np.zeros((len(plans), plans.shape[2]), np.float32)
    for epsilon in epsilons:
        for _ in range(MAP_ROUNDS):
            plans, g = couple(view_cost(x, y, plans), a, b, epsilon, g)
    return plans


def view_cost(x: Views, y: Views, plans: Floats) -> Floats:
    """Return the squared distances (s, n, m) under the maps that fit each plan, as a mean over the views."""
    rows, columns = plans.sum(2), plans.sum(1)
    total = np.zeros(plans.shape, np.float32)
    for name in x:
        z, w = _fit(x[name], y[name], plans, rows, columns)
        total += (z**2).sum(2)[:, :, None] + (w**2).sum(2)[:, None, :] - 2 * z @ np.swapaxes(w, 1, 2)
    return total / np.float32(len(x))


def _fit(x: Floats, y: Floats, plans: Floats, rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
    """Return the mapped x (s, n, e) and y (s, m, e), centred and scaled by the mass of each plan."""
    one, other = x[None] - (rows @ x)[:, None], y[None] - (columns @ y)[:, None]
    one = one / _size(one, rows)
    other = other / _size(other, columns)
    u, _, vt = np.linalg.svd(np.swapaxes(one, 1, 2) @ (plans @ other), full_matrices=False)
    return (one @ (u @ vt)).astype(np.float32), other.astype(np.float32)


def _size(points: Floats, weights: Floats) -> Floats:
    square = np.einsum("sn,snd->s", weights, points**2)
    return np.sqrt(np.maximum(square, LEAST_MASS))[:, None, None]


def couple(cost: Floats, a: Floats, b: Floats, epsilon: float, g: Floats) -> tuple[Floats, Floats]:
    """Return plans (s, n, m) of mass 1 after a few Sinkhorn sweeps from the potentials g (s, m), and the new potentials."""
    a, b = (np.broadcast_to(one, (len(cost), one.shape[-1])).astype(np.float32) for one in (a, b))
    gain = (g[:, None, :] - cost) / np.float32(epsilon) + np.log(a)[:, :, None] + np.log(b)[:, None, :]
    kernel = np.exp(gain - gain.max(2)[:, :, None])  # the largest entry of each row is 1, whatever the potentials were
    v = np.ones_like(g)
    for _ in range(MAP_SWEEPS):
        u = a / np.maximum(_apply(kernel, v), LEAST_MASS)
        v = b / np.maximum(_apply(np.swapaxes(kernel, 1, 2), u), LEAST_MASS)
    plans = kernel * u[:, :, None] * v[:, None, :]
    plans /= plans.sum((1, 2), keepdims=True)
    return plans, g + np.float32(epsilon) * np.log(v + LEAST_MASS)


def _apply(kernel: Floats, vector: Floats) -> Floats:
    found: Floats = (kernel @ vector[:, :, None])[:, :, 0]
    return found
