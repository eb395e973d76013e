"""Wasserstein–Procrustes (Grave, Joulin & Berthet 2018): a convex start, then Sinkhorn on growing random batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..alignment.history import History, Step
from ..alignment.result import Alignment
from ..arrays import Array, as_like, namespace, transpose
from ..checks import check_count, check_map, check_number, check_rng
from ..geometry.orthogonal import polar
from ..starts.matching import soft_match
from ..starts.relaxation import relaxation
from .outcome import as_alignment, change, check_pair, record


def wasserstein_procrustes(
    x: Any,
    y: Any,
    *,
    start: Any = None,
    words: int = 20_000,
    start_size: int = 600,
    batch: int = 500,
    epochs: int = 5,
    iterations: int = 1000,
    rate: float = 1.0,
    epsilon: float = 0.05,
    rng: int | np.random.Generator = 0,
) -> Alignment:
    """Stochastic descent on min over W orthogonal and matchings P of ‖xW − Py‖².

    Each iteration couples a random batch of each side by Sinkhorn, takes a gradient step on W and goes back to the nearest
    orthogonal map; each epoch doubles the batch and quarters the number of iterations.

    Parameters
    ----------
    start : map (dx, dy), optional
        Instead of the convex relaxation over the first ``start_size`` rows.
    words : int
        Batches are drawn from the first so many rows.
    rate : float
        Step length, in units in which 1 is about the size of the map for a perfect match.
    epsilon : float
        Entropy weight for rows of unit length, on the cost −⟨xᵢW, yⱼ⟩.

    Departures: the relaxation matches distances, where the paper's inner products are solved by the product plan on
    centred data; weights are uniform; the plan of the result is that of nearest neighbours over all rows.
    """
    x, y, a, b = check_pair(x, y)
    check_count(epochs, "epochs", low=0)
    check_count(iterations, "iterations")
    check_number(epsilon, "epsilon", low=0, open_low=True)
    generator = check_rng(rng)
    if start is None:
        w = relaxation(x[:words], y[:words], a[:words], b[:words], rng=generator, size=start_size, ordered=True)[0]
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


def _step(
    x: Array, y: Array, w: Array, size: int, count: int, rate: float, epsilon: float, rng: np.random.Generator
) -> tuple[Array, float]:
    """One batch: its plan, the gradient −xᵀPy, the nearest orthogonal map."""
    xp = namespace(x)
    xs = x[as_like(rng.choice(count, size, replace=False), x, dtype=xp.int64)]
    ys = y[as_like(rng.choice(count, size, replace=False), x, dtype=xp.int64)]
    weights = xp.full_like(xs[:, 0], 1 / size)
    plan = soft_match(-(xs @ w) @ transpose(ys), weights, weights, epsilon=epsilon, max_iter=50, tol=1e-2)
    moment = transpose(xs) @ (plan @ ys)
    return polar(w + rate * moment), float(xp.sum(moment * w))
