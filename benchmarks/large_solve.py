"""A whole solve of 50,000 × 50,000 points in 300 dimensions within a memory bound: time, steps, measured peak.

    python benchmarks/large_solve.py --n 50000 --d 300 --memory 4GiB > results/bench_large.txt
    python benchmarks/large_solve.py --n 200000 --d 50 --memory 3GiB --start auto --checked 20000
    python benchmarks/large_solve.py --n 200000 --d 50 --memory 3GiB --epsilon 0.02 --steps 1 --sweeps 2 --checked 20000

``--epsilon``, ``--steps`` and ``--sweeps`` limit what a larger one spends: one epsilon, outer steps, sweeps of each. The verdict, the
sums of the plan and the packaging are part of the call and of its peak.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from speed.problems import peak_memory, word_like

import invarot
from invarot.experiments.provenance import describe_commit
from invarot.threads import workers
from invarot.transport.choice import parse_memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=50_000)
    parser.add_argument("--d", type=int, default=300)
    parser.add_argument("--memory", default="4GiB")
    parser.add_argument("--noise", type=float, default=0.03, help="of the start: polar(I + noise · Gaussian)")
    parser.add_argument("--start", choices=("near", "auto"), default="near")
    parser.add_argument("--epsilon", type=float, help="one epsilon, without stages, instead of the default schedule")
    parser.add_argument("--steps", type=int, default=invarot.Sinkhorn.max_iter)
    parser.add_argument("--sweeps", type=int, default=invarot.Sinkhorn.plan_max_iter)
    parser.add_argument("--checked", type=int, help="rows of x whose matches are looked at; all by default")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    x, y, match = word_like(options.n, options.d, paired=True)
    rng = np.random.default_rng(1)
    u, _, vt = np.linalg.svd(np.eye(options.d) + options.noise * rng.standard_normal((options.d, options.d)))
    before = peak_memory()
    begun = time.perf_counter()

    def show(step: invarot.Step) -> None:
        print(
            f"{time.perf_counter() - begun:7.1f} s  {step.stage} {step.step}  epsilon {step.epsilon:.4f}  objective "
            f"{step.objective:.5f}  {step.inner_iterations} sweeps  {step.mode}  peak {peak_memory() / 2**20:.0f} MiB",
            flush=True,
        )

    solver = invarot.Sinkhorn(
        tol=1e-4, memory=options.memory, schedule=options.epsilon, max_iter=options.steps, plan_max_iter=options.sweeps
    )
    warnings.simplefilter("ignore", invarot.NotConverged)  # few steps, where that is asked for
    start = "auto" if options.start == "auto" else (u @ vt).astype(np.float32)
    result = invarot.align(x, y, start=start, on_step=show, solver=solver)
    seconds = time.perf_counter() - begun
    some = slice(options.checked)
    plan = replace(result.plan, z=result.plan.z[some], a=result.plan.a[some], u=result.plan.u[some])
    found = {
        "command": f"python benchmarks/large_solve.py {' '.join(sys.argv[1:])}",
        "commit": describe_commit(),
        "n": options.n,
        "d": options.d,
        "bound_mib": round(parse_memory(options.memory) / 2**20),
        "peak_of_the_process_mib": round(peak_memory() / 2**20),
        "peak_before_the_solve_mib": round(before / 2**20),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(time.process_time(), 1),
        "cores": os.cpu_count(),
        "threads": workers(),
        "steps": len(result.history),
        "modes": sorted({step.mode for step in result.history}),
        "objective": result.objective,
        "status": result.status.name,
        "verdict": result.verdict.word,
        "marginal_error": result.plan.error,
        "matched": float(np.mean(plan.matches() == match[some])),
        "rows_checked": len(plan.z),
    }
    print(json.dumps(found, indent=1))
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
