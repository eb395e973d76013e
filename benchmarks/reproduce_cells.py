"""Compute cells of ``invarot reproduce`` on a machine that does not draw: no figure, no manifest, only cells.jsonl.

``python benchmarks/reproduce_cells.py readouts --data DATA --out results/reproduce/europarl --only "en-fr, l_"``; then
``invarot reproduce`` with the same options draws and judges where matplotlib is installed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from invarot.experiments import NAMES, Context, find
from invarot.experiments.run import run_cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results/reproduce"))
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    context = Context(args.out / args.name, quick=args.quick, seed=args.seed, data=args.data, only=tuple(args.only))
    todo, finished = run_cells(find(args.name), context)
    print(f"{len(finished)} of {len(todo)} cells are done")


if __name__ == "__main__":
    main()
