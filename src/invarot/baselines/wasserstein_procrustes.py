"""Wasserstein–Procrustes (Grave, Joulin & Berthet 2018): a convex start, then Sinkhorn on growing random batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..alignment.history import History, Step
from ..alignment.result import Alignment
from ..arrays import Array, as_like, namespace, svd, to_numpy, transpose
from ..checks import check_count, check_map, check_number, check_rng
from ..geometry.orthogonal import polar
from ..starts.matching import soft_match
from ..transport.cost import BlockedCost
from ..transport.sinkhorn import Potentials, sinkhorn
from .outcome import as_alignment, change, check_pair, record


def wasserstein_procrustes(
    x: Any, y: Any, *, start: Any = None, rng: int | np.random.Generator = 0, **options: Any
) -> Alignment:
    """Solve one run from ``start`` or the convex start; ``options`` as in :func:`wasserstein_procrustes_runs`."""
    starts = None if start is None else [start]
    return wasserstein_procrustes_runs([(x, y)], rngs=[rng], starts=starts, **options)[0]


def wasserstein_procrustes_runs(
    pairs: Sequence[tuple[Any, Any]],
    *,
    rngs: Sequence[int | np.random.Generator],
    starts: Sequence[Any] | None = None,
    words: int = 20_000,
    start_size: int = 2500,
    start_iterations: int = 100,
    batch: int = 500,
    epochs: int = 5,
    iterations: int = 5000,
    rate: float = 500.0,
    epsilon: float = 0.05,
) -> list[Alignment]:
    """Minimise ‖xW − Py‖² over W orthogonal and matchings P by stochastic gradient descent.

    Each iteration couples a random batch of each side by Sinkhorn, takes a gradient step on W and projects on the
    orthogonal maps; each epoch doubles the batch and quarters the number of iterations.

    Parameters
    ----------
    pairs : sequence of (x, y), arrays (n, dx) and (m, dy)
        Most frequent first, rows of unit length and centred; one pair per run, all of one library and one dx and dy.
        Runs are solved together: their batches are small, and a GPU couples many of them in the time of one.
    rngs : sequence of int or Generator
        One per run.
    starts : sequence of maps (dx, dy), optional
        Instead of those of :func:`convex_start` over the first ``start_size`` rows.
    words : int
        Batches are drawn from the first ``words`` rows.
    rate : float
        Step length on the gradient of a batch of mass 1.
    epsilon : float
        Entropy weight on the cost −⟨xᵢW, yⱼ⟩, and of the linear problems of the start.

    Departures: settings are those of the original's code; Sinkhorn stops at 1e-3 of the mass in total (in every run),
    or after 100 rounds; the plan of the result is that of nearest neighbours over all rows.
    """
    sides = [check_pair(x, y) for x, y in pairs]
    for name, value in (("epochs", epochs), ("start_iterations", start_iterations)):
        check_count(value, name, low=0)
    for name, value in (("iterations", iterations), ("batch", batch), ("start_size", start_size), ("words", words)):
        check_count(value, name)
    check_number(epsilon, "epsilon", low=0, open_low=True)
    generators = [check_rng(rng) for rng in rngs]
    if starts is None:
        made = [convex_start(x[:start_size], y[:start_size], max_iter=start_iterations, epsilon=epsilon)
                for x, y, _, _ in sides]  # fmt: skip
    else:
        made = [check_map(start, "start", x.shape[1], y.shape[1], x)[0]
                for start, (x, y, _, _) in zip(starts, sides, strict=True)]  # fmt: skip
    maps = namespace(made[0]).stack(made)
    histories: list[list[Step]] = [[] for _ in sides]
    count = min(words, *(len(side) for pair in sides for side in pair[:2]))
    for epoch in range(epochs):
        size = min(batch * 2**epoch, count)
        before = maps
        total: Array | float = 0.0
        rounds = max(1, iterations // 4**epoch)
        for _ in range(rounds):
            few_x, few_y = _draw(sides, count, size, generators)
            maps, scores = _step(few_x, few_y, maps, rate, epsilon)
            total = total + scores
        for k, score in enumerate(to_numpy(total / rounds)):
            histories[k].append(record(epoch, objective=float(score), mode="wasserstein-procrustes", epsilon=epsilon,
                                       map_change=change(maps[k], before[k]), inner=rounds))  # fmt: skip
    return [
        as_alignment(x, y, a, b, maps[k], name="wasserstein-procrustes", history=History(histories[k]),
                     options={"batch": batch, "epochs": epochs, "iterations": iterations})
        for k, (x, y, a, b) in enumerate(sides)
    ]  # fmt: skip


def convex_start(x: Array, y: Array, *, max_iter: int = 100, epsilon: float = 0.05) -> Array:
    """Return polar(xᵀPy) of the doubly stochastic P that minimises ‖Kx P − P Ky‖², K = (xxᵀ)^½, by Frank–Wolfe from 1/n.

    The linear problems are solved by Sinkhorn and the steps are 2 / (2 + k), as in the original. K is Z Zᵀ with as many
    columns as dimensions, so that P is never stored, only P Zy and Pᵀ Zx.
    """
    xp = namespace(x)
    size = min(x.shape[0], y.shape[0])
    (zx, _), (zy, back) = _factor_root(x[:size]), _factor_root(y[:size])
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


def _factor_root(points: Array) -> tuple[Array, Array]:
    """Return Z with Z Zᵀ = (points pointsᵀ)^½, and the map from Z back to the points."""
    xp = namespace(points)
    u, s, vt = svd(points)
    return u * xp.sqrt(s), xp.sqrt(s)[:, None] * vt


def _draw(
    sides: Sequence[tuple[Array, ...]], count: int, size: int, rngs: Sequence[np.random.Generator]
) -> tuple[Array, Array]:
    """Draw a random batch of each side of each run: (runs, size, dx) and (runs, size, dy)."""
    like = sides[0][0]
    xp = namespace(like)
    drawn = np.stack([[rng.choice(count, size, replace=False, shuffle=False) for _ in "xy"] for rng in rngs])
    chosen = as_like(drawn, like, dtype=xp.int64)
    few_x, few_y = (xp.stack([pair[k][chosen[run, k]] for run, pair in enumerate(sides)]) for k in (0, 1))
    return few_x, few_y


def _step(x: Array, y: Array, maps: Array, rate: float, epsilon: float) -> tuple[Array, Array]:
    """Step along the gradient −xᵀPy of a batch with plan P, project; return the maps and the scores ⟨xᵀPy, W⟩."""
    xp = namespace(x)
    even = xp.full_like(x[0, :, 0], 1 / x.shape[1])
    cost = BlockedCost(x @ maps, y, 1 / epsilon, even, even)
    nothing = Potentials.zero(even, even, starts=x.shape[0])
    found = sinkhorn(cost, even, even, warm=nothing, tol=1e-3, max_iter=100, accelerate=False)
    moments = transpose(x) @ cost.images(found.u, found.v)[0]
    # for many small SVDs a CPU is faster than a GPU
    nearest = as_like(polar(to_numpy(maps + rate * moments)), maps)
    return nearest, xp.sum(moments * maps, axis=(1, 2))
