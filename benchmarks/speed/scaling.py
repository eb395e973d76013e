"""One outer step of the streamed solve as n and d grow, each in a process of its own: time, peak memory, exponents."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np

from invarot.alignment.loop.alternate import alternate
from invarot.alignment.options import Schatten, Sinkhorn
from invarot.alignment.problem import pose
from invarot.threads import own_threads
from invarot.transport.choice import memory_needed

from .problems import ROOT, Row, Say, peak_memory, word_like

SWEEPS = 2
BOUND = 4 << 30  # bytes


def step(n: int, d: int) -> Row:
    """Two sweeps, the images and the map, with the bound set so low that the kernel is streamed."""
    x, y, _ = word_like(n, d, paired=True)
    a = np.full(n, 1 / n, x.dtype)
    maps = np.eye(d, dtype=x.dtype)[None]
    need = memory_needed(x[None], y, dense=False)
    solver = Sinkhorn(schedule=0.1, plan_tol=0.0, plan_max_iter=SWEEPS, max_iter=1, memory=min(BOUND, need))
    problem = pose(x, y, a, a, maps=Schatten(), solver=solver)
    before = peak_memory()
    begun = time.perf_counter()
    with own_threads():
        run = alternate(problem, maps, problem.budgets.solve)
    spent = time.perf_counter() - begun
    peak = peak_memory()
    mode = run.records[0]["mode"]
    return {"n": n, "d": d, "seconds": spent, "peak": peak, "added": peak - before, "estimate": need, "mode": mode}


def main() -> None:
    print(json.dumps(step(int(sys.argv[1]), int(sys.argv[2]))))


def scaling(sizes: list[int], dims: list[int], at: int, say: Say) -> list[Row]:
    """The curve over n at d = 300, and over d at n = ``at``."""
    rows = []
    for n, d in [*((n, 300) for n in sizes), *((at, d) for d in dims)]:
        command = [sys.executable, "-m", "benchmarks.speed.scaling", str(n), str(d)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        found = json.loads(done.stdout)
        note = f"{found['mode']}, the solve adds {found['added'] / 2**20:.0f} MiB"
        rows.append({"what": f"n = m = {n}, d = {d}", "note": note, **found})
        say(f"n={n} d={d}: {found['seconds']:.2f} s, peak {found['peak'] / 2**20:.0f} MiB")
    return rows


def exponent(rows: list[Row], by: str, of: str) -> float:
    """Slope of log(of) against log(by), least squares."""
    return float(np.polyfit(np.log([row[by] for row in rows]), np.log([row[of] for row in rows]), 1)[0])


def exponents(rows: list[Row], sizes: list[int], at: int) -> list[Row]:
    by_n = [row for row in rows if row["d"] == 300 and row["n"] in sizes]
    by_d = [row for row in rows if row["n"] == at]
    large = [row for row in by_n if row["n"] >= min(5000, sizes[-2])]
    found = [
        (f"exponent of time in n, from {large[0]['n']}", exponent(large, "n", "seconds"), "asked: at most 2.05"),
        ("exponent of time in d", exponent(by_d, "d", "seconds"), "asked: at most 1.05"),
        (
            f"exponent of peak memory in n, from {large[0]['n']}",
            exponent(large, "n", "peak"),
            "of the whole process; asked: 1.05",
        ),
    ]
    return [{"what": what, "ratio": value, "note": note} for what, value, note in found]


if __name__ == "__main__":
    main()
