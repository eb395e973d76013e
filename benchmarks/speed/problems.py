"""What the benchmarks solve, and how they measure."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from invarot.threads import own_threads
from invarot.transport.cost import BlockedCost
from invarot.transport.sinkhorn import Potentials, sinkhorn

Floats = np.ndarray[Any, Any]
Row = dict[str, Any]
Say = Callable[[str], None]
ROOT = Path(__file__).resolve().parents[2]  # of the repository, where a new process finds the benchmarks
TOL = 1e-4  # l_1 error of the marginals
EPSILON = 0.02 * 2.0  # 0.02 of the cost scale: the mean squared distance of unmatched unit vectors is 2


def word_like(n: int, d: int, *, paired: bool = False, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Unit vectors in loose clusters, float32: x, y and where each x is in y (−1 unless ``paired``).

    y is a second sample of the same clusters, which shares no point with x, or, ``paired``, a noisy shuffled copy of x.
    """
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(2, n // 20), d), dtype=np.float32)
    weights = rng.dirichlet(np.ones(len(centres)))

    def sample() -> Floats:
        found = centres[rng.choice(len(centres), n, p=weights)]
        found += rng.standard_normal((n, d), dtype=np.float32)
        return found

    x = sample()
    if not paired:
        return _unit(x), _unit(sample()), np.full(n, -1)
    order = rng.permutation(n)
    noise = rng.standard_normal((n, d), dtype=np.float32)
    noise *= np.float32(0.7)
    noise += x[order]
    return _unit(x), _unit(noise), np.argsort(order)


def _unit(x: Floats) -> Floats:
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def least_seconds(work: Callable[[], object], repeats: int) -> float:
    """For floors: what the machine can do when nothing disturbs it."""
    return min(seconds(work) for _ in range(repeats))


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    return statistics.median(seconds(work) for _ in range(repeats))


def plan_step(x: Floats, y: Floats, epsilon: float = EPSILON, *, accelerate: bool = True) -> tuple[Potentials, Floats]:
    """Ours: from nothing to potentials whose plan has an l_1 marginal error of at most 1e-4, and the images Γy."""
    n, m = len(x), len(y)
    a, b = np.full(n, 1 / n, x.dtype), np.full(m, 1 / m, x.dtype)
    with own_threads():
        cost = BlockedCost(x[None], y, 2 / epsilon, a, b)
        found = sinkhorn(cost, a, b, warm=Potentials.zero(a, b), tol=TOL, max_iter=5000, accelerate=accelerate)
        images = cost.images(found.u, found.v)[0][0]
    return found, images


def marginal_error(x: Floats, y: Floats, f: Floats, g: Floats, epsilon: float) -> float:
    """l_1 error of both marginals of exp((f + g − ‖x − y‖²)/epsilon)/nm, in float64, by blocks."""
    n, m = len(x), len(y)
    wide_y, columns, off = y.astype(float), np.zeros(m), 0.0
    square = (wide_y**2).sum(1)
    for i in range(0, n, 500):
        z = x[i : i + 500].astype(float)
        cost = (z**2).sum(1)[:, None] + square - 2 * z @ wide_y.T
        plan = np.exp((f[i : i + 500, None] + g - cost) / epsilon) / (n * m)
        off += np.abs(plan.sum(1) - 1 / n).sum()
        columns += plan.sum(0)
    return float(off + np.abs(columns - 1 / m).sum())


def peak_memory() -> int:
    """Bytes of this process at its height; 0 where the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except OSError:
        return 0
