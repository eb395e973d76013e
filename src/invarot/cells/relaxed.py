"""Plans and maps of several views in turn, for many starts at once; the composition of the two sides may differ."""

from __future__ import annotations

from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]
Views = dict[str, Floats]

SWEEPS = 7  # of Sinkhorn, between two updates of the maps
ROUNDS = 2  # of map and plan at each epsilon
TINY = 1e-30
REACH = 60.0  # largest change of a logarithm in one sweep


def alternate(
    x: Views, y: Views, a: Floats, b: Floats, plans: Floats, *, slack: float, epsilons: tuple[float, ...]
) -> Floats:
    """Return plans (s, n, m) that fit every view, each improved from one of ``plans``.

    In turn: the rigid map of each view that fits the plan best (about the means, and at the size, of the matched cells), and
    the plan for the sum of the squared distances of all views. A plan has mass 1. ``slack`` is the price τ of other marginals,
    τ·(KL(Γ1 | a) + KL(Γᵀ1 | b)), in units of the variance of a view; inf keeps them.
    """
    g = np.zeros((len(plans), plans.shape[2]), np.float32)
    for epsilon in epsilons:
        for _ in range(ROUNDS):
            plans, g = couple(view_cost(x, y, plans), a, b, epsilon, g, slack)
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
    return np.sqrt(np.maximum(square, TINY))[:, None, None]


def couple(cost: Floats, a: Floats, b: Floats, epsilon: float, g: Floats, slack: float) -> tuple[Floats, Floats]:
    """Return plans (s, n, m) after a few Sinkhorn sweeps from the potentials g (s, m), and the new potentials.

    With a finite ``slack`` a potential is damped by τ/(τ + ε) (Chizat et al. 2018), and the mass is brought back to 1.
    """
    damp = 1.0 if np.isinf(slack) else slack / (slack + epsilon)
    log_a, log_b = np.log(a).astype(np.float32), np.log(b).astype(np.float32)
    gain = (g[:, None, :] - cost) / np.float32(epsilon) + log_a[:, None] + log_b
    top = gain.max(2)
    kernel = np.exp(gain - top[:, :, None])  # the largest entry of each row is 1, whatever the potentials were
    f = -top * np.float32(epsilon)
    start_f, start_g = f / epsilon, g / epsilon
    v = np.ones_like(g)
    for _ in range(SWEEPS):
        u = _scale(kernel, v, log_a, start_f, damp)
        v = _scale(np.swapaxes(kernel, 1, 2), u, log_b, start_g, damp)
        if damp < 1:
            v /= (v * _apply(np.swapaxes(kernel, 1, 2), u)).sum(1, keepdims=True)
    plans = kernel * u[:, :, None] * v[:, None, :]
    plans /= plans.sum((1, 2), keepdims=True)
    return plans, g + np.float32(epsilon) * np.log(v + TINY)


def _scale(kernel: Floats, other: Floats, log_weight: Floats, start: Floats, damp: float) -> Floats:
    """Return the factors of the rows that bring their sums to the (damped) marginal."""
    log_sum = np.log(_apply(kernel, other) + TINY) - log_weight - start
    return np.exp(np.clip(-damp * log_sum - start, -REACH, REACH)).astype(np.float32)


def _apply(kernel: Floats, vector: Floats) -> Floats:
    found: Floats = (kernel @ vector[:, :, None])[:, :, 0]
    return found
