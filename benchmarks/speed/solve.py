"""One iteration and one full alignment, beside what the matrix product and the memory bus of this machine allow."""

from __future__ import annotations

import cProfile
import pstats
import statistics
from dataclasses import replace

import numpy as np

from invarot.alignment.align import align
from invarot.alignment.history import Step
from invarot.alignment.judging.judge import judge_map
from invarot.alignment.loop.alternate import Run, alternate
from invarot.alignment.loop.stages import solve_in_stages
from invarot.alignment.options import Schatten, Sinkhorn
from invarot.alignment.problem import Problem, pose
from invarot.alignment.result import Alignment
from invarot.alignment.tuning import STAGE_POINTS
from invarot.alignment.verdict import Verdict
from invarot.arrays import Array
from invarot.starts import signature
from invarot.threads import map_blocks, own_threads
from invarot.transport.cost import BlockedCost
from invarot.transport.schedule import Schedule

from .problems import Floats, Row, Say, least_seconds, median_seconds, seconds, word_like


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
    """``align(x, y, start="signature")`` as a whole and its parts, in products; and where the solve spends its time.

    Times are medians, and so is the product they are divided by; ``product`` and ``read``, the fastest, are for the floor.
    """
    x, y, match = word_like(n, d, paired=True)
    a = np.full(n, 1 / n, x.dtype)
    problem = pose(x, y, a, a, maps=Schatten(), solver=Sinkhorn())
    budget = problem.budgets.solve
    assert budget.schedule is not None
    plain = replace(budget, schedule=Schedule(1.0, 0.95, budget.schedule.floor))
    starts: list[Array] = []
    runs: list[Run] = []
    steps: list[Step] = []

    def begin(*, look_first: bool = True) -> None:
        starts.append(signature(x, y, a, a, rng=np.random.default_rng(0), look_first=look_first))

    def in_stages(posed: Problem = problem) -> Run:
        return solve_in_stages(posed, starts[0], budget, rng=np.random.default_rng(0))

    def verdict() -> Verdict:
        return judge_map(problem, runs[0].maps[0], np.random.default_rng(0))

    with own_threads():
        parts = {
            "the signature start": median_seconds(begin, 5),
            "the solve": median_seconds(lambda: runs.append(in_stages()), 5),
            "the verdict": median_seconds(verdict, 5),
        }
        closely = median_seconds(lambda: begin(look_first=False), 3)
        profile = cProfile.Profile()
        profile.runcall(in_stages, replace(problem, on_step=steps.append))
        last = seconds(lambda: runs.append(alternate(problem, starts[0], plain)))
    rows, usual = _whole_call(x, y, match, product, float(runs[-1].objectives[0]))
    rows += [{"what": f"of that, {name}", "seconds": time, "ratio": time / usual} for name, time in parts.items()]
    rows.append({"what": "the signature start without its first look", "seconds": closely, "ratio": closely / usual})
    for name, time, run in (("the solve", parts["the solve"], runs[0]), ("the plain schedule", last, runs[-1])):
        note = f"{len(run.records)} steps on all points, objective {run.objectives[0]:.5f}"
        rows.append({"what": f"{name} from that start", "seconds": time, "ratio": time / usual, "note": note})
    for row in rows:
        say(f"{row['what']}: {row['seconds']:.2f} s, {row['ratio']:.1f} products; {row.get('note', '')}")
    return rows, _profile(pstats.Stats(profile), steps, n, product, read)


def _whole_call(x: Floats, y: Floats, match: Floats, fastest: float, plain: float) -> tuple[list[Row], float]:
    """What a user calls: from two arrays to a result with its verdict, beside the objective of the plain schedule.

    And the product beside it, which it is counted in.
    """
    found: list[Alignment] = []
    calls, products = [], []
    for _ in range(5):  # in turn, so that both see the machine as it is
        calls.append(seconds(lambda: found.append(align(x, y, start="signature"))))
        products.append(median_seconds(lambda: x @ y.T, 5))
    spent, usual, one = statistics.median(calls), statistics.median(products), found[0]
    right = float(np.mean(one.matches() == match))
    row: Row = {
        "what": 'align(x, y, start="signature"), verdict and all',
        "seconds": spent,
        "ratio": spent / usual,
        "note": f"in products of {usual:.3f} s, the median beside it; asked: at most 40 ({spent / fastest:.1f} of the "
        f"fastest); {one.verdict.word}, {right:.1%} matched right; objective {one.objective:.5f}, "
        f"{abs(one.objective / plain - 1):.3%} off the plain schedule's (asked: at most 0.1%)",
    }
    return [row], usual


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
    share = [min(1.0, STAGE_POINTS / n) ** 2 if step.stage != "solve" else 1.0 for step in steps]
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
