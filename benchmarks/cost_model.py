"""The cost of a solve over ranks: the model of docs/scale.md against measured runs, and what it predicts past them.

    python benchmarks/cost_model.py [--out results]

Reads results/gpu_kernels.csv (seconds per entry of a half-iteration), million.json, ranks_nccl.json, ranks_memory.json and
ranks_speed.json; measures nothing itself.
"""

from __future__ import annotations

import argparse
import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provenance import header, write_page

RESULTS = Path(__file__).resolve().parents[1] / "results"
GIB = 2**30
DEVICE = 141e9  # bytes of an H200
INSIDE, BETWEEN = 200e9, 25e9  # bytes a second of a collective inside a machine of eight GPUs, and between machines
SWEEPS, STEPS = 5, 5  # of a solve on all rows: as measured at a million points
SAMPLE = 5000  # rows of x that the search and the verdict use


@dataclass(frozen=True)
class Solve:
    """n points of x over some ranks, m targets, d dimensions; ``wide`` bytes a number."""

    n: int
    m: int
    d: int
    ranks: int = 1
    wide: int = 4

    def halves(self, steps: int, sweeps: int) -> int:
        """Passes over all entries: two in a sweep, and row sums and images once in a step."""
        return 2 * sweeps + 2 * steps

    def seconds(self, per_entry: float, steps: int, sweeps: int) -> float:
        return self.halves(steps, sweeps) * per_entry * self.n / self.ranks * self.m

    def reduced(self, sweeps: int, steps: int, *, cuda: bool) -> int:
        """Bytes given to all-reduces: m numbers a sweep, twice where they are log-sum-exps, and d² a step."""
        return self.wide * ((1 + cuda) * self.m * sweeps + self.d**2 * steps)

    def passed(self, sweeps: int, steps: int) -> int:
        """Bytes of targets that pass through every rank where they are cut: all of them twice a sweep and once a step."""
        return self.wide * self.m * self.d * (2 * sweeps + steps)

    def x_side(self) -> int:
        return self.wide * (4 * self.n * self.d + 8 * self.n) // self.ranks

    def y_side(self, *, cut: bool = False) -> int:
        """Targets, or a rank's part of them and as much that passes, and 30 numbers for each: potentials and their history."""
        points = 2 * self.m * self.d // self.ranks if cut and self.ranks > 1 else self.m * self.d
        return self.wide * (points + 30 * self.m)


def read(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def seconds_per_entry() -> float:
    """Of a half-iteration of 50,000 × 50,000 points, d = 100, in half precision on one H200."""
    with (RESULTS / "gpu_kernels.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if (row["what"], row["n"], row["d"]) == ("lse, warm (guess given)", "50000", "100"):
                return float(row["ms"]) / 1e3 / 50_000**2
    raise SystemExit("gpu_kernels.csv: expected a row of 50,000 points in 100 dimensions")


def check_million(per_entry: float) -> list[str]:
    """Seconds of the steps at full size, and memory of the whole call, of one GPU."""
    found = read("million.json")
    lines = ["| one H200, d = 100 | steps, sweeps at full size | model, s | measured, s | model, GiB | measured, GiB |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for name, row in found.items():
        if not isinstance(row, dict) or not name.endswith(("auto", "near")):
            continue
        n = int(name.split()[0])
        solve = Solve(n, n, found["d"])
        steps, sweeps = row["full_steps"], row["full_sweeps"]
        lines.append(
            f"| {name} | {steps}, {sweeps} | {solve.seconds(per_entry, steps, sweeps):.1f} | {row['full_seconds']:.1f} | "
            f"{(solve.x_side() + solve.y_side()) / GIB:.1f} | {row['peak_gib']:.1f} |"
        )
    return lines


def check_ranks() -> list[str]:
    """Memory of the x side and bytes given to all-reduces, of gloo ranks."""
    lines = ["| gloo, float32 | ranks | x side: model, MiB | grown per rank, MiB | bytes a step: model | measured |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for name in ("ranks_memory.json", "ranks_speed.json"):
        found = read(name)
        for count, ranks in found["runs"].items():
            solve = Solve(found["n"], found["m"], found["d"], int(count))
            steps = ranks[0]["steps"]
            side = f"{solve.x_side() / 2**20:.0f} | {max(one['grown_mib'] for one in ranks):.0f}"
            asked = measured = "–"
            if len(steps) > 1:  # this one has many targets, which hide its x side
                side = "– | –"
                asked = f"{solve.reduced(steps[-1][0], 1, cuda=False):,}"
                measured = f"{steps[-1][1] - steps[-2][1]:,}"
            lines.append(
                f"| {found['n']:,} × {found['m']:,} × {found['d']} | {count} | {side} | {asked} | {measured} |"
            )
    return lines


def predict(per_entry: float, scale: dict[str, float]) -> list[str]:
    """What the model says of 8 and 64 GPUs, scaled by what a million points took and needed."""
    lines = ["| points a side, d = 100 | GPUs | compute | all-reduces | targets passing, if cut | y on every rank: x + y side, GiB | y cut: GiB | limit |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    sweeps = SWEEPS * STEPS
    for n, ranks in ((10**6, 1), (10**7, 8), (10**7, 64), (10**8, 8), (10**8, 64)):
        solve, link = Solve(n, n, 100, ranks), INSIDE if ranks <= 8 else BETWEEN
        ring = 2 * (ranks - 1) / ranks
        compute = scale["seconds"] * solve.seconds(per_entry, STEPS, sweeps)
        reduced = ring * solve.reduced(sweeps, STEPS, cuda=True) / link
        passed = (ranks - 1) / ranks * solve.passed(sweeps, STEPS) / link
        whole, cut = (scale["memory"] * (solve.x_side() + solve.y_side(cut=cut)) for cut in (False, True))
        fits = "–" if whole < DEVICE else "y has to be cut" if cut < DEVICE else "memory, y cut too"
        lines.append(
            f"| {n:,} | {ranks} | {show(compute)} | {show(reduced)} | {show(passed)} | {whole / GIB:.1f} | {cut / GIB:.1f} | {fits} |"
        )
    return lines


def show(seconds: float) -> str:
    if seconds == 0:
        return "–"
    if seconds < 600:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def find_limits(memory: float) -> list[str]:
    """The number of points from which one thing or another is too much, d = 100."""
    per_target = memory * Solve(0, 10**6, 100).y_side() / 10**6
    cut = {ranks: memory * Solve(0, 10**6, 100, ranks).y_side(cut=True) / 10**6 for ranks in (8, 64)}
    lines = [
        f"- y on every rank: {DEVICE / per_target / 1e6:.0f} million targets, with the memory a million points needed."
    ]
    for ranks, one in cut.items():
        lines.append(f"- y cut over {ranks} GPUs: {DEVICE / one / 1e6:.0f} million targets, less the x side.")
    for ranks in (8, 64):
        lines.append(
            f"- Search and verdict use {SAMPLE:,} rows of x on every rank (finalists are divided), as many as the rank's own below "
            f"{SAMPLE * ranks:,} points on {ranks} GPUs: more ranks than n/{SAMPLE:,} do not help."
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for cost_model.md; printed only by default")
    args = parser.parse_args()
    per_entry = seconds_per_entry()
    million = read("million.json")["1000000 auto"]
    solve = Solve(10**6, 10**6, 100)
    scale = {
        "seconds": million["full_seconds"] / solve.seconds(per_entry, million["full_steps"], million["full_sweeps"]),
        "memory": million["peak_gib"] * GIB / (solve.x_side() + solve.y_side()),
    }
    lines = [
        "# The cost model, checked and continued", "", *header("python benchmarks/cost_model.py --out results"),
        f"{per_entry:.2e} s per entry of a half-iteration. The formulas are those of [docs/scale.md](../docs/scale.md).", "",
        "## Against measured runs", "", *check_million(per_entry), "", *check_ranks(), "",
        "## What it predicts", "",
        f"Nothing here was run. {STEPS} steps of {SWEEPS} sweeps on all rows, as a million points took; times and memory scaled by measured over "
        f"model at a million points ({scale['seconds']:.2f} and {scale['memory']:.2f}); collectives at {INSIDE / 1e9:.0f} GB/s in a machine of "
        f"eight, {BETWEEN / 1e9:.0f} GB/s between machines. Search, last corrections and verdict come on top "
        f"({million['seconds'] - million['full_seconds']:.0f} s of the run at a million, kernels compiled in them).", "",
        *predict(per_entry, scale), "", "## Where it breaks first", "", *find_limits(scale["memory"]),
    ]  # fmt: skip
    print("\n".join(lines))
    if args.out is not None:
        write_page(args.out / "cost_model.md", lines)


if __name__ == "__main__":
    main()
