"""Run every experiment with ``--quick``, and compare each printed conclusion with that of the full run.

    python benchmarks/reproduce_quick.py [--full results/reproduce] [--out results/reproduce-quick]

Writes results/reproduce_quick.md: the time, and both verdicts on every claim. Ends with an error if a quick run says what the full one
does not; that it cannot tell is no contradiction.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

from provenance import header, write_page

from invarot.experiments import NAMES, Context, find, reproduce
from invarot.experiments.verdicts import collect, compare_runs

LIMIT = 300  # seconds on two cores


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", type=Path, default=Path("results/reproduce"))
    parser.add_argument("--out", type=Path, default=Path("results/reproduce-quick"))
    parser.add_argument("--page", type=Path, default=Path("results/reproduce_quick.md"))
    args = parser.parse_args()
    shutil.rmtree(args.out, ignore_errors=True)
    begun, worked = time.perf_counter(), time.process_time()
    for name in NAMES:
        reproduce(find(name), Context(args.out / name, quick=True, command=f"invarot reproduce {name} --quick"))
    clock, processor = time.perf_counter() - begun, time.process_time() - worked
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    rows = compare_runs(collect(args.out), collect(args.full))
    wrong = [row for row in rows if row["agrees"] == "no"]
    counts = {word: sum(row["agrees"] == word for row in rows) for word in ("yes", "too small", "no", "not run")}
    lines = [
        "# The quick run beside the full one", "", *header("python benchmarks/reproduce_quick.py"),
        f"`invarot reproduce all --quick`: {clock:.0f} s by the clock, {processor:.0f} s of processor time, {cores} cores, "
        f"load {os.getloadavg()[0]:.1f} at the end (bar: {LIMIT} s on two cores).", "",
        f"Of {len(rows)} claims the quick run agrees on {counts['yes']}, is too small to tell on {counts['too small']}, says what the "
        f"full run does not on {counts['no']}; {counts['not run']} are not in the full run.", "",
        "| experiment | claim | quick | full | agrees |", "|---|---|---|---|---|",
        *(f"| {' | '.join(row.values())} |" for row in rows),
    ]  # fmt: skip
    args.page.parent.mkdir(parents=True, exist_ok=True)
    write_page(args.page, lines)
    print("\n".join(lines[4:9]))
    for row in wrong:
        print(f"{row['experiment']}: {row['claim']}: quick {row['quick']}, full {row['full']}", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
