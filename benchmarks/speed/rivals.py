"""One plan step by every library, each in a process of its own: time, iterations, the marginal error reached, peak memory.

All solve the problem of ``word_like`` from zero potentials with the same epsilon. The rivals do plain Sinkhorn
iterations, so all need as many as our own plain sweeps; one that would take longer than ``cap`` seconds is timed over a few
and the rest is computed, which its note says.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from invarot.arrays import tensor, to_numpy

from .problems import (
    EPSILON,
    ROOT,
    TOL,
    Floats,
    Row,
    Say,
    marginal_error,
    peak_memory,
    plan_step,
    seconds,
    word_like,
)

Errors = Callable[[], float]  # the marginal error of what was found, computed outside the clock
Solve = Callable[[], tuple[Errors, int]]  # the error, and how many iterations were made
Ready = Callable[[int], Solve]  # of a number of iterations: compiles what there is to compile

POT = {
    f"POT {method} {dtype}": (method, dtype)
    for method in ("sinkhorn", "sinkhorn_stabilized", "sinkhorn_log")
    for dtype in ("float32", "float64")
}
OURS = "invarot float32"
PLAIN = "invarot float32, plain sweeps, columns first"  # as the rivals begin: it changes how many are needed
OTT = ("OTT-JAX float32", "OTT-JAX float32, kernel mode", "OTT-JAX float32, its Anderson acceleration")
GEOMLOSS = "GeomLoss float32, scaling 0.9"
NAMES = (OURS, PLAIN, *POT, *OTT, GEOMLOSS)
FEW_ITERATIONS = 5  # iterations: a multiple is timed to know what one costs
TRIAL = 6.0  # seconds the multiple should take at least


def compare_plan_steps(n: int, d: int, *, cap: float, say: Say, names: tuple[str, ...] = NAMES) -> list[Row]:
    """One plan step to a marginal error of 1e-4, ours and the others'."""
    rows: list[Row] = []
    needed = 0
    for name in names:
        row = in_a_process(name, n, d, needed, cap)
        if name == PLAIN:
            needed = row["iterations"]
        rows.append(row)
        row["ratio"] = row["seconds"] / rows[0]["seconds"] if row.get("seconds") else None
        say(f"{name}: {row}")
    return rows


def in_a_process(name: str, n: int, d: int, needed: int, cap: float) -> Row:
    """What ``measure`` finds in a fresh interpreter; a failure is a row that says so."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.speed.rivals", name, *map(str, (n, d, needed, cap))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=8 * cap + 60, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return {"what": name, "note": f"not done in {8 * cap + 60:.0f} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["killed"])[-1]
        missing = last.startswith("ModuleNotFoundError") and not any(ours in last for ours in ("invarot", "benchmarks"))
        return {"what": name, "note": "not installed" if missing else f"failed: {last[:100]}"}
    found: Row = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    name, n, d, needed, cap = sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5])
    print(json.dumps(measure(name, n, d, needed, cap)))


def measure(name: str, n: int, d: int, needed: int, cap: float) -> Row:
    """Time ``name`` over ``needed`` iterations (0: it stops by itself), or over a few if all take more than ``cap``."""
    x, y, _ = word_like(n, d)
    ready = find(name, x, y)
    before = peak_memory()
    if name in (OURS, PLAIN, GEOMLOSS):
        solve, times = ready(0), []
        for _ in range(4 if name == OURS else 2 if name == GEOMLOSS else 1):  # the first of several warms up
            begun = time.perf_counter()
            error, made = solve()
            times.append(time.perf_counter() - begun)
        peak = peak_memory() - before
        return _row(name, statistics.median(times[1:] or times), made, error(), peak, "")
    few = ready(FEW_ITERATIONS)
    few()
    short = min(seconds(few), seconds(few))
    timed = 2 * FEW_ITERATIONS
    while (spent := seconds(ready(timed))) < max(TRIAL, 2 * short) and timed < needed:
        timed *= 4  # until it is the iterations that take the time, and not what comes before them
    each = max((spent - short) / (timed - FEW_ITERATIONS), 1e-6)
    whole = short + each * (needed - FEW_ITERATIONS)
    if name == OTT[2]:  # nobody knows how many it needs: as many as the cap allows
        needed = int(min(needed, (cap - short) / each) // FEW_ITERATIONS * FEW_ITERATIONS)
    elif whole > cap and timed < needed:
        return _row(name, whole, needed, None, peak_memory() - before, f"computed from {timed} iterations")
    solve = ready(needed)
    begun = time.perf_counter()
    error, made = solve()
    spent = time.perf_counter() - begun
    return _row(name, spent, made, error(), peak_memory() - before, "")


def _row(name: str, spent: float, made: int, error: float | None, peak: int, note: str) -> Row:
    if error is not None and not error <= 3 * TOL:
        note = "not at 1e-4"
    return {"what": name, "seconds": spent, "iterations": made, "error": error, "peak": peak, "note": note}


def find(name: str, x: Floats, y: Floats) -> Ready:
    """The library of this name, ready to be called."""
    if name in (OURS, PLAIN):
        return _ours(x, y, accelerate=name == OURS)
    if name in POT:
        return _pot(x, y, *POT[name])
    return _geomloss(x, y) if name == GEOMLOSS else _ott(x, y, OTT.index(name))


def _ours(x: Floats, y: Floats, *, accelerate: bool) -> Ready:
    if not accelerate:
        x, y = y, x  # ours begin with the rows

    def solve() -> tuple[Errors, int]:
        found, _ = plan_step(x, y, accelerate=accelerate)
        f = EPSILON * found.u[0].astype(float) + (x.astype(float) ** 2).sum(1)
        g = EPSILON * found.v[0].astype(float) + (y.astype(float) ** 2).sum(1)
        return lambda: marginal_error(x, y, f, g, EPSILON), found.iterations

    return lambda _: solve


def _pot(x: Floats, y: Floats, method: str, dtype: str) -> Ready:
    import ot

    source, target = x.astype(dtype), y.astype(dtype)
    a, b = np.full(len(x), 1 / len(x), dtype), np.full(len(y), 1 / len(y), dtype)

    def solve(iterations: int) -> tuple[Errors, int]:
        cost = ot.dist(source, target)
        plan = ot.sinkhorn(a, b, cost, EPSILON, method=method, numItermax=iterations, stopThr=0, warn=False)
        plan @ target
        return lambda: float(
            np.abs(plan.sum(1, dtype=float) - a).sum() + np.abs(plan.sum(0, dtype=float) - b).sum()
        ), iterations

    return lambda iterations: partial(solve, iterations)


def _ott(x: Floats, y: Floats, kind: int) -> Ready:
    """On a cost matrix made by one product; its own ``apply`` would hold n × m × d numbers."""
    import jax
    import jax.numpy as jnp
    from ott.geometry import geometry
    from ott.problems.linear import linear_problem
    from ott.solvers.linear import acceleration, sinkhorn

    left, right = jnp.asarray(x), jnp.asarray(y)
    how: dict[str, Any] = {"lse_mode": kind != 1, "norm_error": 1, "inner_iterations": FEW_ITERATIONS, "threshold": TOL}
    if kind == 2:
        how["anderson"] = acceleration.AndersonAcceleration(memory=5)

    def ready(iterations: int) -> Solve:
        solver = sinkhorn.Sinkhorn(max_iterations=iterations, **how)

        def run(left: Any, right: Any) -> Any:
            square = (left**2).sum(1)[:, None] + (right**2).sum(1)
            cost = square - 2 * left @ right.T
            found = solver(linear_problem.LinearProblem(geometry.Geometry(cost_matrix=cost, epsilon=EPSILON)))
            plan = jnp.exp((found.f[:, None] + found.g - cost) / EPSILON)
            return found.f, found.g, plan @ right, found.n_iters

        compiled = jax.jit(run).lower(left, right).compile()

        def solve() -> tuple[Errors, int]:
            f, g, images, made = compiled(left, right)
            images.block_until_ready()
            f, g = (np.asarray(part, dtype=float) + EPSILON * np.log(len(part)) for part in (f, g))
            return lambda: marginal_error(x, y, f, g, EPSILON), int(made)

        return solve

    return ready


def _geomloss(x: Floats, y: Floats) -> Ready:
    from geomloss import SamplesLoss

    how = {"p": 2, "blur": (EPSILON / 2) ** 0.5, "scaling": 0.9, "debias": False, "potentials": True}
    loss = SamplesLoss("sinkhorn", backend="tensorized", **how)

    def solve() -> tuple[Errors, int]:
        f, g = (2 * to_numpy(part).astype(float).ravel() for part in loss(tensor(x), tensor(y)))
        return lambda: marginal_error(x, y, f, g, EPSILON), 0

    return lambda _: solve


if __name__ == "__main__":
    main()
