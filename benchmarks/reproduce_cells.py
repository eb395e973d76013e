"""Compute cells of ``invarot reproduce`` on a machine that does not draw: no figure, no manifest, only cells.jsonl.

``python benchmarks/reproduce_cells.py readouts --data DATA --out results/reproduce/europarl --only "en-fr, l_"``; then
``invarot reproduce`` with the same options draws and judges where matplotlib is installed. Cells of the first
``--only`` come first. Several runs may share one folder. ``--jobs N`` runs N cells at once, each in
a process of its own (with one thread each: OMP_NUM_THREADS=1); after ``--minutes`` no further cell is begun, and after ``--stop`` those that
run are given up. ``--merge FILE`` adds the cells of another cells.jsonl, which replace those of the same name.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from invarot.experiments import NAMES, Context, find
from invarot.experiments.finished import append_finished, merge_finished, read_finished
from invarot.experiments.run import run_cell


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--muse", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results/reproduce"))
    parser.add_argument("--only", action="append", default=[], help="part of a cell's name; may be repeated")
    parser.add_argument("--but", action="append", default=[], help="leave out cells whose name contains this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--again", action="store_true", help="run cells that are stored too: they are replaced")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--stop", type=float, default=float("inf"), help="minutes")
    parser.add_argument("--merge", type=Path, action="append", default=[])
    args = parser.parse_args()
    command = shlex.join(["python", "benchmarks/reproduce_cells.py", *sys.argv[1:]])
    context = Context(args.out / args.name, quick=args.quick, seed=args.seed, data=args.data, muse=args.muse,
                      command=command, only=tuple(args.only))  # fmt: skip
    context.out.mkdir(parents=True, exist_ok=True)
    store = context.out / "cells.jsonl"
    done = merge_finished(store, context.identity())
    todo = list(find(args.name).cells(context))
    for other in args.merge:
        merge_finished(store, context.identity(), read_finished(other, context.identity()))
    if not args.merge:
        asked = [cell.name for cell in todo if context.asks(cell) and not any(part in cell.name for part in args.but)]
        asked.sort(key=lambda name: next((k for k, part in enumerate(args.only) if part in name), 0))
        run_all([name for name in asked if args.again or name not in done], args, context, store)
    found = merge_finished(store, context.identity(), order=[cell.name for cell in todo])
    print(f"{len(found)} of {len(todo)} cells are done")


def run_all(names: list[str], args: argparse.Namespace, context: Context, store: Path) -> None:
    begun = time.monotonic()
    pool = ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn"))  # a GPU does not survive a fork
    running: dict[Future[Any], str] = {}
    waiting = iter(names)
    while True:
        spent = (time.monotonic() - begun) / 60
        while len(running) < args.jobs and spent < args.minutes and (name := next(waiting, None)) is not None:
            running[pool.submit(run_one, args.name, context, name)] = name
        if not running or spent > args.stop:
            break
        finished, _ = wait(running, timeout=1, return_when=FIRST_COMPLETED)
        for future in finished:
            name = running.pop(future)
            error = future.exception()  # one system that fails on this machine does not stop the others
            made = None if error else future.result()
            said = (
                f"failed: {type(error).__name__}: {error}" if error else "nothing" if made is None else made["seconds"]
            )
            print(f"{spent:.1f} min · {name}: {said}", flush=True)
            if made is not None:
                append_finished(store, made)
    if running:
        print("given up:", *running.values(), sep="\n  ", flush=True)
        for process in list(pool._processes.values()):
            process.kill()
    pool.shutdown(wait=not running, cancel_futures=True)


def run_one(experiment: str, context: Context, name: str) -> dict[str, Any] | None:
    cell = next(cell for cell in find(experiment).cells(context) if cell.name == name)
    return run_cell(cell, context)


if __name__ == "__main__":
    main()
