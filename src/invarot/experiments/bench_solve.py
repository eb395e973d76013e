"""One iteration and one full alignment, beside what the matrix product and the memory bus of this machine allow."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from typing import Any

import numpy as np

from ..alignment.alternate import Run, alternate
from ..alignment.history import Step
from ..alignment.multiscale import FEW, solve_in_stages
from ..alignment.problem import pose
from ..alignment.settings import Settings
from ..alignment.solve import adapt
from ..starts import signature
from ..threads import map_blocks, own_threads
from ..transport.cost import BlockedCost
from ..transport.schedule import Schedule
from .bench_problems import Floats, Row, Say, least_seconds, median_seconds, seconds, word_like


def floors(x: Floats, y: Floats, kernel: Floats) -> tuple[float, float]:
    """Seconds of one product x yᵀ, and of one read of the kernel: the fastest of many, by BLAS's threads or by ours."""
    ones = np.ones(kernel.shape[1], kernel.dtype)
    rows = [slice(i, i + 200) for i in range(0, len(kernel), 200)]
    product, read = least_seconds(lambda: x @ y.T, 7), least_seconds(lambda: kernel @ ones, 15)
    with own_threads():
        blocks = least_seconds(lambda: list(map_blocks(lambda part: x[part] @ y.T, rows)), 7)
        reads = least_seconds(lambda: list(map_blocks(lambda part: kernel[part] @ ones, rows)), 15)
    return min(product, blocks), min(read, reads)


def one_iteration(n: int, d: int) -> tuple[list[Row], float, float]:
    """A full Sinkhorn iteration over a kept kernel against reading that kernel once; and the two floors."""
    x, y, _ = word_like(n, d)
    a = np.full(n, 1 / n, x.dtype)
    v = np.zeros((1, n), x.dtype)
    with own_threads():
        cost = BlockedCost(x[None], y, 50.0, a, a)
        cost.sweep(v)
        sweep = median_seconds(lambda: cost.sweep(v), 25)
        compiled, cost.compiled = cost.compiled, False
        plain = median_seconds(lambda: cost.sweep(v), 25)
    product, read = floors(x, y, cost.kernel[0])
    ones = np.ones(n, x.dtype)
    usual = median_seconds(lambda: cost.kernel[0] @ ones, 25)
    rate = f"{2 * n * n * d / product / 1e9:.0f} Gflop/s, {4 * n * n / read / 1e9:.1f} GB/s"
    rows = [
        {
            "what": "read the kernel once (matrix-vector product)",
            "seconds": usual,
            "ratio": 1.0,
            "note": f"median; the fastest {1e3 * read:.2f} ms",
        },
        {
            "what": "one full Sinkhorn iteration",
            "seconds": sweep,
            "ratio": sweep / usual,
            "note": f"median; {'compiled by Numba' if compiled else 'Numba is not installed'}; asked: at most 2",
        },
        {"what": "the same without Numba", "seconds": plain, "ratio": plain / usual, "note": "median"},
        {"what": f"{n} × {d} × {n} matrix product", "seconds": product, "ratio": product / read, "note": rate},
    ]
    return rows, product, read


def full_alignment(n: int, d: int, product: float, read: float, say: Say) -> tuple[list[Row], list[Row]]:
    """From a signature start, ours and the plain schedule, in units of one product; and where ours spends its time."""
    x, y, _ = word_like(n, d, paired=True)
    a = np.full(n, 1 / n, x.dtype)
    settings = Settings(tol=1e-4)
    problem = pose(x, y, a, a, settings)
    settings = adapt(settings, problem)
    plain = Settings(tol=1e-4, schedule=Schedule(1.0, 0.95, settings.schedule.floor))
    starts: list[Any] = []
    with own_threads():
        begin = median_seconds(
            lambda: starts.append(
                signature(x, y, a, a, rng=np.random.default_rng(0), standardise=False, powers=(0.5,))
            ),
            3,
        )
    rows: list[Row] = [{"what": "the signature start", "seconds": begin, "ratio": begin / product, "note": "made once"}]
    steps: list[Step] = []

    def in_stages(on_step: Callable[[Step], object] | None = None) -> Run:
        rng = np.random.default_rng(0)
        return solve_in_stages(problem, starts[0], settings, ordered=False, rng=rng, on_step=on_step)

    with own_threads():
        runs: list[Run] = []
        spent = median_seconds(lambda: runs.append(in_stages()), 3)
        profile = cProfile.Profile()
        profile.runcall(in_stages, steps.append)
        last = seconds(lambda: runs.append(alternate(problem, starts[0], plain)))
    for name, time, run in (("full alignment", spent, runs[0]), ("the same, plain schedule", last, runs[-1])):
        note = f"{len(run.records)} steps on all points, objective {run.objectives[0]:.5f}"
        rows.append({"what": name, "seconds": time, "ratio": time / product, "note": note + "; ratio in products"})
        say(f"{name}: {time:.2f} s, {time / product:.1f} products, {note}")
    whole = begin + spent
    rows.append({"what": "start and full alignment", "seconds": whole, "ratio": whole / product, "note": "in products"})
    return rows, _profile(pstats.Stats(profile), steps, n, product, read)


def _profile(stats: pstats.Stats, steps: list[Step], n: int, product: float, read: float) -> list[Row]:
    """Seconds of each part of one run, and the floor: two products a step, one read of the kernel a sweep."""
    spent = {key[2]: value[3] for key, value in stats.stats.items() if "invarot" in key[0]}  # type: ignore[attr-defined]
    whole = spent["solve_in_stages"]
    build = spent["_absorb"]
    parts = {
        "kernels built (product and exponentials)": build,
        "sweeps": spent["sweep"] - build,
        "images of the points (product)": spent["images"],
        "map steps (moment and SVD)": spent["best_maps"],
    }
    parts["the rest"] = whole - sum(parts.values())
    share = [min(1.0, FEW / n) ** 2 if step.stage != "solve" else 1.0 for step in steps]
    products = sum(2 * part * product for part in share)
    reads = sum(part * step.inner_iterations * read for part, step in zip(share, steps, strict=True))
    rows: list[Row] = [
        {"what": what, "seconds": time, "ratio": time / whole, "note": "share of the solve"}
        for what, time in parts.items()
    ]
    floor = f"{products:.2f} s of products, {reads:.2f} s of reads"
    rows.append({"what": "the solve", "seconds": whole, "ratio": 1.0, "note": "under the profiler"})
    rows.append(
        {"what": "floor of the solve", "seconds": products + reads, "ratio": (products + reads) / whole, "note": floor}
    )
    return rows
