"""Wasserstein–Procrustes (Grave, Joulin & Berthet 2018): a convex start, then Sinkhorn on growing random batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..alignment.history import History, Step
from ..alignment.result import Alignment
from ..arrays import Array, as_like, namespace, svd, transpose
from ..checks import check_count, check_map, check_number, check_rng
from ..geometry.orthogonal import polar
from ..starts.matching import soft_match
from .outcome import as_alignment, change, check_pair, record


def wasserstein_procrustes(
    x: Any,
    y: Any,
    *,
    start: Any = None,
    words: int = 20_000,
    start_size: int = 2500,
    start_iterations: int = 100,
    batch: int = 500,
    epochs: int = 5,
    iterations: int = 5000,
    rate: float = 500.0,
    epsilon: float = 0.05,
    rng: int | np.random.Generator = 0,
) -> Alignment:
    """Stochastic descent on min over W orthogonal and matchings P of ‖xW − Py‖².

    Each iteration couples a random batch of each side by Sinkhorn, takes a gradient step on W and goes back to the nearest
    orthogonal map; each epoch doubles the batch and quarters the number of iterations.

    Parameters
    ----------
    x, y : (n, dx) and (m, dy)
        Most frequent first, rows of unit length and centred.
    start : map (dx, dy), optional
        Instead of that of :func:`convex_start` over the first ``start_size`` rows.
    words : int
        Batches are drawn from the first so many rows.
    rate : float
        Step length on the gradient of a batch of mass 1.
    epsilon : float
        Entropy weight on the cost −⟨xᵢW, yⱼ⟩, and of the linear problems of the start.

    Departures: settings are those of the original's code; Sinkhorn stops at 1e-3 of the mass in total, or after 100 rounds;
    the plan of the result is that of nearest neighbours over all rows.
    """
    x, y, a, b = check_pair(x, y)
    for name, value in (("epochs", epochs), ("start_iterations", start_iterations)):
        check_count(value, name, low=0)
    for name, value in (("iterations", iterations), ("batch", batch), ("start_size", start_size), ("words", words)):
        check_count(value, name)
    check_number(epsilon, "epsilon", low=0, open_low=True)
    generator = check_rng(rng)
    if start is None:
        w = convex_start(x[:start_size], y[:start_size], max_iter=start_iterations, epsilon=epsilon)
    else:
        w = check_map(start, "start", x.shape[1], y.shape[1], x)[0]
    history: list[Step] = []
    count = min(words, x.shape[0], y.shape[0])
    for epoch in range(epochs):
        size = min(batch * 2**epoch, count)
        before, total = w, 0.0
        rounds = max(1, iterations // 4**epoch)
        for _ in range(rounds):
            w, score = _step(x, y, w, size, count, rate, epsilon, generator)
            total += score
        history.append(record(epoch, objective=total / rounds, mode="wasserstein-procrustes", epsilon=epsilon,
                              map_change=change(w, before), inner=rounds))  # fmt: skip
    return as_alignment(x, y, a, b, w, name="wasserstein-procrustes", history=History(history),
                        options={"batch": batch, "epochs": epochs, "iterations": iterations})  # fmt: skip


def convex_start(x: Array, y: Array, *, max_iter: int = 100, epsilon: float = 0.05) -> Array:
    """polar(xᵀPy) of the doubly stochastic P that Frank–Wolfe finds for min ‖Kx P − P Ky‖², K = (xxᵀ)^½, from P = 1/n.

    The linear problems are solved by Sinkhorn and the steps are 2 / (2 + k), as in the original. K is Z Zᵀ with as many
    columns as there are dimensions, so that P itself is never kept: only P Zy and Pᵀ Zx are.
    """
    xp = namespace(x)
    size = min(x.shape[0], y.shape[0])
    (zx, _), (zy, back) = _root(x[:size]), _root(y[:size])
    ratio = xp.sqrt(xp.sum((transpose(zx) @ zx) ** 2) / xp.sum((transpose(zy) @ zy) ** 2))
    zy = zy * xp.sqrt(ratio)
    sx, sy = transpose(zx) @ zx, transpose(zy) @ zy
    even = xp.full_like(zx[:, 0], 1 / size)
    pz, ptz = xp.zeros_like(zy) + xp.mean(zy, axis=0), xp.zeros_like(zx) + xp.mean(zx, axis=0)
    for number in range(1, max_iter + 1):
        # half the gradient: Kx²P + PKy² − 2KxPKy
        cost = zx @ (sx @ transpose(ptz)) + (pz @ sy - 2 * zx @ (transpose(zx) @ pz)) @ transpose(zy)
        corner = soft_match(cost, even, even, epsilon=epsilon, max_iter=100) * size
        length = 2 / (2 + number)
        pz = length * (corner @ zy) + (1 - length) * pz
        ptz = length * (transpose(corner) @ zx) + (1 - length) * ptz
    return polar(transpose(x[:size]) @ (pz @ back))


def _root(points: Array) -> tuple[Array, Array]:
    """Z with Z Zᵀ = (points pointsᵀ)^½, and what takes Z back to the points."""
    xp = namespace(points)
    u, s, vt = svd(points)
    return u * xp.sqrt(s), xp.sqrt(s)[:, None] * vt


def _step(
    x: Array, y: Array, w: Array, size: int, count: int, rate: float, epsilon: float, rng: np.random.Generator
) -> tuple[Array, float]:
    """One batch: its plan, the gradient −xᵀPy, the nearest orthogonal map."""
    xp = namespace(x)
    xs = x[as_like(rng.choice(count, size, replace=False), x, dtype=xp.int64)]
    ys = y[as_like(rng.choice(count, size, replace=False), x, dtype=xp.int64)]
    weights = xp.full_like(xs[:, 0], 1 / size)
    plan = soft_match(-(xs @ w) @ transpose(ys), weights, weights, epsilon=epsilon, max_iter=100, tol=1e-3)
    moment = transpose(xs) @ (plan @ ys)
    return polar(w + rate * moment), float(xp.sum(moment * w))
