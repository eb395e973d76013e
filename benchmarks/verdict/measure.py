"""Measure the evidence for the maps that solves.py kept: a row a solve.

    OMP_NUM_THREADS=1 python -m benchmarks.verdict.measure --group development --data DATA

Writes results/raw/verdict.GROUP.csv. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from dataclasses import asdict, replace
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", choices=tuple(GROUPS), required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("results/raw"))
    parser.add_argument("--part", nargs=2, type=int, default=(0, 1), help="this part of so many, for several processes")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    families = {name.replace(" ", "_"): (name, make) for name, make in GROUPS[args.group](args.data).items()}
    part, parts = args.part
    table = args.out / (f"verdict.{args.group}.csv" if parts == 1 else f"verdict.{args.group}.{part}.csv")
    done = set()
    if table.exists():
        with table.open(newline="") as file:
            done = {(row["family"], row["seed"]) for row in csv.DictReader(file)}
    with table.open("a", newline="") as file:
        writer = None
        for path in sorted(
            (args.out / f"verdict.{args.group}").glob("*.npz"), key=lambda one: int(one.suffixes[-2][1:])
        ):
            (family, make), seed = families[path.name.split(".")[0]], path.suffixes[-2][1:]
            if (family, seed) in done or int(seed) % parts != part:
                continue
            for row in measure(path, make, family, int(seed)):
                if writer is None:
                    writer = csv.DictWriter(file, list(row))
                    if not done:
                        writer.writeheader()
                writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
