"""Speed and memory side by side in one run, as ratios: one plan step, one iteration, a full alignment, the scaling."""

from __future__ import annotations

import csv
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..alignment.alternate import Run, alternate
from ..alignment.multiscale import solve_in_stages
from ..alignment.problem import pose
from ..alignment.settings import Settings
from ..alignment.solve import adapt
from ..arrays import tensor
from ..starts import signature
from ..threads import own_threads, workers
from ..transport.cost import BlockedCost
from ..transport.schedule import Schedule
from ..transport.sinkhorn import Potentials, sinkhorn

Floats = np.ndarray[Any, Any]
Row = dict[str, Any]
TOL = 1e-4


def word_like(n: int, d: int, *, paired: bool = False, seed: int = 0) -> tuple[Floats, Floats]:
    """Unit vectors in loose clusters, float32; a second sample of the same clusters or, ``paired``, a noisy copy."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(2, n // 20), d))
    weights = rng.dirichlet(np.ones(len(centres)))

    def sample() -> Floats:
        return np.asarray(centres[rng.choice(len(centres), n, p=weights)] + rng.standard_normal((n, d)))

    x = sample()
    y = x[rng.permutation(n)] + 0.7 * rng.standard_normal((n, d)) if paired else sample()
    return _unit(x).astype(np.float32), _unit(y).astype(np.float32)


def _unit(x: Floats) -> Floats:
    found: Floats = x / np.linalg.norm(x, axis=1, keepdims=True)
    return found


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def plan_step(x: Floats, y: Floats, epsilon: float, *, keep: bool = True, max_iter: int = 2000) -> Potentials:
    """Ours: from nothing to potentials whose plan has an l_1 marginal error of at most 1e-4."""
    n, m = len(x), len(y)
    a, b = np.full(n, 1 / n, x.dtype), np.full(m, 1 / m, x.dtype)
    start = Potentials(np.zeros((1, n), x.dtype), np.zeros((1, m), x.dtype), np.zeros(1, x.dtype), 0)
    with own_threads():
        cost = BlockedCost(x[None], y, 2 / epsilon, a, b, keep=keep)
        found = sinkhorn(cost, a, b, warm=start, tol=TOL, max_iter=max_iter)
        cost.images(found.u, found.v)
    return found


def rivals(x: Floats, y: Floats, epsilon: float, iterations: int) -> Iterator[tuple[str, Callable[[], object] | str]]:
    """Other libraries on the same problem; a string instead of a call says why one is missing."""
    n, m = len(x), len(y)
    try:
        import ot

        for dtype in ("float32", "float64"):
            a, b = np.full(n, 1 / n, dtype), np.full(m, 1 / m, dtype)
            for method in ("sinkhorn", "sinkhorn_stabilized", "sinkhorn_log"):

                def call(method: str = method, a: Floats = a, b: Floats = b) -> object:
                    cost = ot.dist(x.astype(a.dtype), y.astype(a.dtype))
                    plan = ot.sinkhorn(a, b, cost, epsilon, method=method, numItermax=iterations, stopThr=0, warn=False)
                    if not np.isfinite(plan).all() or abs(plan.sum() - 1) > 0.1:
                        raise FloatingPointError("the plan is not finite, or has no mass")
                    return plan @ y.astype(a.dtype)

                yield f"POT {method} {dtype}", call
    except ImportError:
        yield "POT", "not installed"
    try:
        import jax.numpy as jnp
        from ott.geometry import pointcloud
        from ott.problems.linear import linear_problem
        from ott.solvers.linear import sinkhorn as ott_sinkhorn

        def ott() -> object:
            geometry = pointcloud.PointCloud(jnp.asarray(x), jnp.asarray(y), epsilon=epsilon)
            solver = ott_sinkhorn.Sinkhorn(threshold=TOL, norm_error=1, max_iterations=5000)
            found = solver(linear_problem.LinearProblem(geometry))
            return found.apply(jnp.asarray(y).T, axis=1).block_until_ready()

        yield "OTT-JAX float32", ott
    except ImportError:
        yield "OTT-JAX", "not installed"
    try:
        from geomloss import SamplesLoss

        def geomloss() -> object:
            loss = SamplesLoss(
                "sinkhorn", p=2, blur=(epsilon / 2) ** 0.5, debias=False, potentials=True, backend="tensorized"
            )
            return loss(tensor(x), tensor(y))

        yield "GeomLoss float32 (its own schedule)", geomloss
    except ImportError:
        yield "GeomLoss", "not installed"


def compare_plan_steps(n: int, d: int, repeats: int, say: Callable[[str], None]) -> list[Row]:
    """One plan step at epsilon = 0.02 of the mean cost, to a marginal error of 1e-4, ours and the others'."""
    x, y = word_like(n, d)
    epsilon = 0.02 * 2.0  # the mean cost of unit vectors is 2
    iterations = plan_step(x, y, epsilon).iterations
    ours = median_seconds(lambda: plan_step(x, y, epsilon), max(repeats, 3))
    rows: list[Row] = [{"what": "invarot float32", "seconds": ours, "ratio": 1.0, "note": f"{iterations} iterations"}]
    say(f"invarot {ours:.3f} s, {iterations} iterations")
    for name, call in rivals(x, y, epsilon, iterations):
        if isinstance(call, str):
            rows.append({"what": name, "seconds": None, "ratio": None, "note": call})
            continue
        try:
            call()  # compiles where there is something to compile
            seconds = median_seconds(call, repeats)
            rows.append({"what": name, "seconds": seconds, "ratio": seconds / ours, "note": ""})
        except (FloatingPointError, RuntimeError, ValueError, TypeError, AttributeError, MemoryError) as error:
            rows.append({"what": name, "seconds": None, "ratio": None, "note": f"failed: {error}"[:80]})
        say(f"{name}: {rows[-1]['seconds']}")
    return rows


def one_iteration(n: int, d: int) -> list[Row]:
    """A full Sinkhorn iteration over a kept kernel against reading that kernel once."""
    x, y = word_like(n, d)
    a = np.full(n, 1 / n, x.dtype)
    with own_threads():
        cost = BlockedCost(x[None], y, 50.0, a, a)
        v = np.zeros((1, n), x.dtype)
        cost.sweep(v)
        sweep = median_seconds(lambda: cost.sweep(v), 15)
    ones = np.ones(n, x.dtype)
    kernel = cost.kernel[0]
    read = median_seconds(lambda: kernel @ ones, 15)
    product = median_seconds(lambda: x @ y.T, 7)
    return [
        {"what": "read the kernel once (matrix-vector product)", "seconds": read, "ratio": 1.0, "note": ""},
        {
            "what": "one full Sinkhorn iteration",
            "seconds": sweep,
            "ratio": sweep / read,
            "note": "over the read; at most 2",
        },
        {"what": "matrix product", "seconds": product, "ratio": product / read, "note": ""},
    ]


def full_alignment(n: int, d: int) -> list[Row]:
    """From a signature start, ours and the plain schedule, in units of one n × d × n product."""
    x, y = word_like(n, d, paired=True)
    a = np.full(n, 1 / n, x.dtype)
    product = median_seconds(lambda: x @ y.T, 7)
    settings = Settings(tol=1e-4)
    problem = pose(x, y, a, a, settings)
    settings = adapt(settings, problem)
    plain = Settings(tol=1e-4, schedule=Schedule(1.0, 0.95, settings.schedule.floor))
    maps = signature(x, y, a, a, rng=np.random.default_rng(0), standardise=False, powers=(0.5,))
    rows = []

    def in_stages() -> Run:
        return solve_in_stages(problem, maps, settings, ordered=False, rng=np.random.default_rng(0), on_step=None)

    def at_once() -> Run:
        return alternate(problem, maps, plain)

    with own_threads():
        for name, call in (("full alignment", in_stages), ("the same, plain schedule", at_once)):
            begun = time.perf_counter()
            run = call()
            seconds = time.perf_counter() - begun
            note = f"{len(run.records)} steps, objective {run.objectives[0]:.5f}"
            rows.append({"what": name, "seconds": seconds, "ratio": seconds / product, "note": note + "; in products"})
    return rows


PEAK = """
import json, sys, time
from invarot.experiments.bench import word_like, plan_step, peak_memory
x, y = word_like(int(sys.argv[1]), int(sys.argv[2]))
before = peak_memory()
begun = time.perf_counter()
plan_step(x, y, 0.04, keep=False, max_iter=2)
print(json.dumps({"seconds": time.perf_counter() - begun, "peak": peak_memory(), "added": peak_memory() - before}))
"""


def peak_memory() -> int:
    """Bytes of this process at its height; 0 where the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except OSError:
        return 0


def scaling(sizes: list[int], dims: list[int], say: Callable[[str], None]) -> list[Row]:
    """The streamed plan step (two sweeps and the images) in processes of their own: time and peak memory."""
    cases = [(n, 300) for n in sizes] + [(sizes[len(sizes) // 2], d) for d in dims]
    rows = []
    for n, d in cases:
        done = subprocess.run([sys.executable, "-c", PEAK, str(n), str(d)], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        rows.append({"what": f"streamed, n = m = {n}, d = {d}", "n": n, "d": d, **found})
        say(f"n={n} d={d}: {found['seconds']:.2f} s, peak {found['peak'] / 2**20:.0f} MiB")
    return rows


def exponent(rows: list[Row], by: str, of: str) -> float:
    """Slope of log(of) against log(by), least squares."""
    return float(np.polyfit(np.log([row[by] for row in rows]), np.log([row[of] for row in rows]), 1)[0])


def write(out: Path, parts: dict[str, list[Row]], command: str) -> str:
    """bench.csv and bench.md; the text of the latter."""
    out.mkdir(parents=True, exist_ok=True)
    machine = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {workers()} threads, NumPy {np.__version__}"
    lines = ["# Speed and memory, side by side in one run", "", f"    {command}", "", machine, ""]
    with (out / "bench.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["part", "what", "seconds", "ratio", "note", "peak"])
        for part, rows in parts.items():
            lines += [f"## {part}", "", "| what | seconds | ratio | |", "|---|---|---|---|"]
            for row in rows:
                note = row.get("note") or (f"peak {row['peak'] / 2**20:.0f} MiB" if "peak" in row else "")
                writer.writerow([part, row["what"], row.get("seconds"), row.get("ratio"), note, row.get("peak")])
                seconds = "–" if row.get("seconds") is None else f"{row['seconds']:.4g}"
                ratio = "–" if row.get("ratio") is None else f"{row['ratio']:.2f}"
                lines.append(f"| {row['what']} | {seconds} | {ratio} | {note} |")
            lines.append("")
    text = "\n".join(lines)
    (out / "bench.md").write_text(text + "\n", encoding="utf-8")
    return text


def run_bench(out: Path, *, n: int, d: int, sizes: list[int], repeats: int, say: Callable[[str], None]) -> str:
    """All of it."""
    parts = {
        f"One plan step, n = m = {n}, d = {d}, epsilon 0.02, marginal error 1e-4": compare_plan_steps(
            n, d, repeats, say
        ),
        "One iteration": one_iteration(n, d),
        "A full alignment": full_alignment(n, d),
    }
    curve = scaling(sizes, [75, 150, 600], say)
    by_n = [row for row in curve if row["d"] == 300][: len(sizes)]
    by_d = [row for row in curve if row["n"] == sizes[len(sizes) // 2]]
    curve.append(
        {"what": "exponent of time in n", "ratio": exponent(by_n[1:], "n", "seconds"), "note": "two largest decades"}
    )
    curve.append({"what": "exponent of time in d", "ratio": exponent(by_d, "d", "seconds"), "note": ""})
    curve.append(
        {"what": "exponent of memory in n", "ratio": exponent(by_n, "n", "peak"), "note": "peak of the whole process"}
    )
    parts["Scaling of the streamed plan step"] = curve
    return write(out, parts, f"invarot bench --n {n} --d {d} --sizes {' '.join(map(str, sizes))} --repeats {repeats}")
