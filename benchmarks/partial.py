"""Clouds that correspond only in part: pairs with a known answer, and what ``align`` makes of them.

    OMP_NUM_THREADS=1 python benchmarks/partial.py --data DATA --kinds shapes clusters snare --seeds 20
    python benchmarks/partial.py --kinds clusters --seeds 5 --overlap none      # all mass matched, for comparison

The pairs are those of partial_pairs.py. Writes a row a run: *rotation*, degrees; *offset*, at the centre of the common part, share of
the extent; *right*, share of the common points matched rightly; *transfer*, accuracy of the labels of five neighbours, cells whose
type is on both sides; *overlap* found and *true*; *orphans*, mean matched weight of points without a counterpart.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from partial_pairs import (
    CASES,
    DIMENSIONS,
    MISSING,
    SHAPES,
    TYPES,
    Pair,
    Truth,
    cell_pair,
    cluster_pair,
    read_shape,
    shape_pair,
)

import invarot
from invarot.arrays import to_numpy

FIELDS = ("kind", "case", "seed", "n", "m", "rotation", "offset", "right", "transfer", "overlap_x", "overlap_y", "true_x",
          "true_y", "orphans", "verdict", "probability", "seconds")  # fmt: skip


def each_pair(args: argparse.Namespace, seed: int) -> Iterator[tuple[str, str, Pair]]:
    """Kind, name and pair of everything asked for."""
    if "shapes" in args.kinds:
        for name, case in itertools.product(args.shapes, args.cases):
            vertices = read_shape(args.data / "shapes" / f"{name}.obj")
            yield "shapes", f"{name} {case}", shape_pair(vertices, case, seed, points=args.points)
    if "clusters" in args.kinds:
        for d, missing, sides in itertools.product(DIMENSIONS, MISSING, ("one", "both")):
            yield "clusters", f"d={d} {missing} {sides}", cluster_pair(d, missing, sides, seed)
    if "snare" in args.kinds:
        for missing, side in itertools.product(TYPES, "xy"):
            yield "snare", f"type {missing} not in {side}", cell_pair(args.data, missing, side, seed)


def rotation_error(found: np.ndarray, truth: np.ndarray) -> float:
    """The angle in degrees between two rotations of 3-space, which may have a scale; 180 where one is mirrored."""
    both = found.T @ truth
    if np.linalg.det(both) <= 0:
        return 180.0
    u, _, vt = np.linalg.svd(both)
    turn = u @ vt
    sine = np.linalg.norm([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
    return float(np.degrees(np.arctan2(sine, (np.trace(turn) - 1) / 2)))


def transfer_labels(moved: np.ndarray, y: np.ndarray, truth: Truth) -> float:
    """Accuracy, for the cells of y whose type is in x, of the majority of their five nearest cells of x."""
    assert truth.labels_x is not None
    assert truth.labels_y is not None
    far = np.sum(moved**2, axis=1)[:, None] + np.sum(y**2, axis=1) - 2 * moved @ y.T
    votes = truth.labels_x[np.argsort(far, axis=0)[:5]]
    voted = np.asarray([np.bincount(some).argmax() for some in votes.T])
    shared = np.isin(truth.labels_y, truth.labels_x)
    return float(np.mean(voted[shared] == truth.labels_y[shared]))


def score(kind: str, x: np.ndarray, y: np.ndarray, truth: Truth, result: invarot.Alignment) -> dict[str, Any]:
    """Errors of an answer, beside what it says of its own overlap (empty where it says nothing)."""
    found: dict[str, Any] = {"true_x": round(truth.overlap[0], 4), "true_y": round(truth.overlap[1], 4)}
    moved = to_numpy(result.transform(x))
    if kind == "shapes":
        at = x[truth.common_x].mean(axis=0)
        away = at @ (to_numpy(result.map) - truth.map) + to_numpy(result.offset) - truth.offset
        found["rotation"] = round(rotation_error(to_numpy(result.map), truth.map), 4)
        found["offset"] = round(float(np.linalg.norm(away)) / truth.extent, 5)
    if kind != "snare" and truth.matches is not None:
        right = to_numpy(result.matches()) == truth.matches
        found["right"] = round(float(np.mean(right[truth.common_x])), 4)
    if kind == "snare":
        found["transfer"] = round(transfer_labels(moved, y, truth), 4)
    if getattr(result, "overlap", None) is not None:
        found["overlap_x"], found["overlap_y"] = (round(float(share), 4) for share in result.overlap)
        weights = np.concatenate(
            [to_numpy(result.matched_x)[~truth.common_x], to_numpy(result.matched_y)[~truth.common_y]]
        )
        found["orphans"] = round(float(np.mean(weights)), 4) if len(weights) else ""
    return found


def solve(kind: str, x: np.ndarray, y: np.ndarray, *, overlap: Any, rng: int) -> invarot.Alignment:
    """``align`` as the kind of data asks for: rotations for shapes, a scale and a translation for cells."""
    options: dict[str, Any] = {} if overlap is None else {"overlap": overlap}
    if kind == "shapes":
        options["p"] = invarot.Rotations()
    return invarot.align(x, y, translate=True, scale=kind == "snare", rng=rng, **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with shapes/ and snare/")
    parser.add_argument(
        "--kinds", nargs="+", choices=("shapes", "clusters", "snare"), default=["shapes", "clusters", "snare"]
    )
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--cases", nargs="+", default=list(CASES))
    parser.add_argument("--points", type=int, default=1000, help="points of a shape before it is cut")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first seed")
    parser.add_argument("--overlap", choices=("auto", "none"), default="auto")
    parser.add_argument("--out", type=Path, default=Path("results/partial.csv"))
    args = parser.parse_args()
    if args.data is None and set(args.kinds) != {"clusters"}:
        parser.error("--data: expected a folder with shapes/ and snare/; only --kinds clusters needs none")
    warnings.simplefilter("ignore", invarot.NotConverged)
    fresh = not args.out.exists()
    with args.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        for seed in range(args.first, args.first + args.seeds):
            for kind, case, (x, y, truth) in each_pair(args, seed):
                began = time.perf_counter()
                result = solve(kind, x, y, overlap=None if args.overlap == "none" else args.overlap, rng=seed)
                seconds = time.perf_counter() - began
                row = {"kind": kind, "case": case, "seed": seed, "n": len(x), "m": len(y), "seconds": round(seconds, 2),
                       "verdict": result.verdict.word, "probability": round(result.verdict.probability, 4),
                       **score(kind, x, y, truth, result)}  # fmt: skip
                writer.writerow(row)
                file.flush()
                print(row, flush=True)


if __name__ == "__main__":
    main()
