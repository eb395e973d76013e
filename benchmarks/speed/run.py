"""Speed and memory side by side in one run: a plan step of every library, one iteration, a full alignment, the scaling."""

from __future__ import annotations

import csv
import os
import platform
import time
from pathlib import Path

import numpy as np

from invarot.threads import workers

from ..provenance import header, write_page
from .figure import draw
from .problems import Row, Say
from .rivals import compare_plan_steps
from .scaling import exponents, scaling
from .solve import full_alignment, one_iteration

COLUMNS = ("part", "what", "seconds", "ratio", "iterations", "error", "peak", "note")
PROBLEM = """Two samples of {n} unit vectors from the same loose clusters, no point in common, {d} dimensions; uniform weights; epsilon
0.02 of the cost scale; from zero potentials to an l_1 marginal error of 1e-4, and the images Γy. `ratio`: times slower than
ours. Each library in a process of its own; `MiB`: what the solve added to it. POT and OTT-JAX make plain Sinkhorn
iterations, columns first, and are given as many as our own sweeps need without acceleration; where those would take more than {cap:.0f} s, a few were timed and
the rest computed."""


def run_bench(out: Path, *, n: int, d: int, sizes: list[int], cap: float, say: Say) -> str:
    """All of it: bench.csv, bench.md and bench.png in ``out``, and the text of the second."""
    begun = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    at = sizes[len(sizes) // 2]
    iteration, product, read = one_iteration(n, d)
    solve, profile = full_alignment(n, d, product, read, say)
    plans = compare_plan_steps(n, d, cap=cap, say=say)
    curve = scaling(sizes, [75, 150, 600], at, say)
    parts = {
        "One plan step": plans,
        "One iteration": iteration,
        "A full alignment": solve,
        "Where a full alignment spends its time": profile,
        "One outer step of the streamed solve": [*curve, *exponents(curve, sizes, at)],
    }
    spent = time.perf_counter() - begun
    command = f"python -m benchmarks.speed --n {n} --d {d} --sizes {' '.join(map(str, sizes))} --cap {cap:g}"
    draw(out / "bench.png", plans, curve, profile, f"one plan step, n = m = {n}, d = {d}")
    notes = {"One plan step": PROBLEM.format(n=n, d=d, cap=cap)}
    return write(out, parts, notes, command, f"{spent:.0f} s for all of it")


def write(out: Path, parts: dict[str, list[Row]], notes: dict[str, str], command: str, spent: str) -> str:
    """bench.csv and bench.md; the text of the latter."""
    machine = (
        f"{_processor()}, {os.cpu_count()} cores, {workers()} threads, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, load {os.getloadavg()[0]:.1f} at the end; {spent}."
    )
    lines = [
        "# Speed and memory, side by side in one run",
        "",
        *header(command),
        machine,
        "",
        "Rows: [bench.csv](bench.csv).",
        "",
        "![](bench.png)",
        "",
    ]
    with (out / "bench.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for part, rows in parts.items():
            lines += [f"## {part}", ""]
            lines += [notes[part], ""] if part in notes else []
            lines += [
                "| what | seconds | ratio | iterations | marginal error | MiB | |",
                "|---|---|---|---|---|---|---|",
            ]
            for row in rows:
                writer.writerow([part, *(row.get(name) for name in COLUMNS[1:])])
                cells = [_cell(row, "seconds", ".4g"), _cell(row, "ratio", ".3g"), _cell(row, "iterations", "d"),
                         _cell(row, "error", ".1e"), _cell(row, "peak", ".0f", 2**20)]  # fmt: skip
                lines.append(f"| {row['what']} | {' | '.join(cells)} | {row.get('note', '')} |")
            lines.append("")
    return write_page(out / "bench.md", lines)


def _cell(row: Row, name: str, form: str, unit: int | None = None) -> str:
    value = row.get(name)
    if value is None or value == 0:
        return ""
    return format(value / unit if unit else value, form)


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
