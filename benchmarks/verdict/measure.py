"""Measure the evidence for the maps that solves.py kept: a row a solve.

    OMP_NUM_THREADS=1 python -m benchmarks.verdict.measure --group development --data DATA

Writes results/raw/verdict.GROUP.csv. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from invarot.alignment.judging.degenerate import find_degenerate
from invarot.alignment.judging.judge import measure as measure_evidence

from .families import GROUPS
from .solves import draw, pose_pair

KEPT = ("way", "foscttm", "transfer", "seconds", "word", "probability")


def measure(path: Path, make: Any, family: str, seed: int) -> list[dict[str, Any]]:
    with np.load(path) as file:
        kept = {name: file[name] for name in (*KEPT, "map", "rivals", "better", "name", "related")}
    pair = draw(make, family, seed)
    problem = pose_pair(pair)
    rows = []
    for k, w in enumerate(kept["map"]):
        evidence = measure_evidence(problem, w.astype(np.float64), np.random.default_rng(seed))
        evidence = replace(evidence, rivals=int(kept["rivals"][k]), better=int(kept["better"][k]))
        row = {"family": family, "seed": seed, "problem": str(kept["name"]), "related": int(kept["related"])}
        row |= {name: kept[name][k].item() for name in KEPT}
        row["foscttm"] = row["foscttm"] if row["related"] else 0.5
        degenerate = int(find_degenerate(problem, w.astype(np.float64), evidence) is not None)
        rows.append({**row, **asdict(evidence), "degenerate": degenerate})
    return rows


def measure_file(group: str, data: Path, path: Path) -> list[dict[str, Any]]:
    warnings.simplefilter("ignore")
    families = {name.replace(" ", "_"): (name, make) for name, make in GROUPS[group](data).items()}
    family, make = families[path.name.split(".")[0]]
    return measure(path, make, family, seed_of(path))


def seed_of(path: Path) -> int:
    return int(path.suffixes[-2][1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", choices=tuple(GROUPS), required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("results/raw"))
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args()
    table = args.out / f"verdict.{args.group}.csv"
    done = set()
    if table.exists():
        with table.open(newline="") as file:
            done = {(row["family"].replace(" ", "_"), int(row["seed"])) for row in csv.DictReader(file)}
    paths = sorted((args.out / f"verdict.{args.group}").glob("*.npz"), key=lambda one: (seed_of(one), one.name))
    left = [path for path in paths if (path.name.split(".")[0], seed_of(path)) not in done]
    writer = None
    with (
        table.open("a", newline="") as file,
        ProcessPoolExecutor(args.processes, mp_context=get_context("spawn")) as pool,
    ):
        for rows in pool.map(partial(measure_file, args.group, args.data), left):
            if writer is None:
                writer = csv.DictWriter(file, list(rows[0]))
                if not done:
                    writer.writeheader()
            writer.writerows(rows)
            file.flush()


if __name__ == "__main__":
    main()
