"""Clouds that correspond only in part: pairs with a known answer, and what ``align`` makes of them.

    OMP_NUM_THREADS=1 python benchmarks/partial.py --data DATA --kinds shapes clusters snare --seeds 20 --jobs 16
    OMP_NUM_THREADS=1 python benchmarks/partial.py --kinds surfaces --seeds 20 --jobs 16 --out results/partial_surfaces.csv
    OMP_NUM_THREADS=1 python benchmarks/partial.py --kinds surfaces --samples cut-50 resampled-50 --variants float32 weights scale few
    python benchmarks/partial.py --summarise
    python benchmarks/partial.py --kinds clusters --seeds 5 --overlap none      # all mass matched, for comparison

The pairs are those of partial_pairs.py and partial_surfaces.py. Writes a row a run: *rotation*, degrees; *offset*, at the centre of the common part, share of
the extent; *right*, share of the common points matched rightly; *transfer*, accuracy of the labels of five neighbours, cells whose
type is on both sides; *overlap* found and *true*; *orphans*, mean matched weight of points without a counterpart.

Variants of surfaces: *float32*; *weights* drawn at random; *scale*, y 1.7 times as large and scale=True; *pairs*, five known ones;
*few* and *many*, 200 and 50,000 points.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
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
from partial_surfaces import SAMPLES, SURFACES, surface_pair
from provenance import header, write_page

import invarot
from invarot.arrays import to_numpy

FIELDS = ("kind", "case", "seed", "n", "m", "rotation", "offset", "right", "transfer", "overlap_x", "overlap_y", "true_x",
          "true_y", "orphans", "verdict", "probability", "seconds", "cpu")  # fmt: skip
RIGID = ("shapes", "surfaces")
POINTS = {"few": 200, "many": 50_000}  # of a surface, instead of --points
SCALE = 1.7  # of y, in the variant of that name

Task = tuple[str, str, int]


def list_tasks(args: argparse.Namespace) -> Iterator[Task]:
    """Kind, case and seed of everything asked for."""
    for seed in range(args.first, args.first + args.seeds):
        if "shapes" in args.kinds:
            yield from (("shapes", f"{name} {case}", seed) for name, case in itertools.product(args.shapes, args.cases))
        if "surfaces" in args.kinds:
            every = itertools.product(args.surfaces, args.samples, args.variants)
            yield from (("surfaces", " ".join(words).removesuffix(" plain"), seed) for words in every)
        if "clusters" in args.kinds:
            every = itertools.product(DIMENSIONS, MISSING, ("one", "both"))
            yield from (("clusters", f"d={d} {missing} {sides}", seed) for d, missing, sides in every)
        if "snare" in args.kinds:
            yield from (("snare", f"{missing} {side}", seed) for missing, side in itertools.product(TYPES, "xy"))


def make_pair(data: Path | None, points: int, task: Task) -> Pair:
    """The pair of a task."""
    kind, case, seed = task
    first, second, *rest = case.split()
    if kind == "clusters":
        return cluster_pair(int(first.removeprefix("d=")), int(second), rest[0], seed)
    if kind == "surfaces":
        x, y, truth = surface_pair(first, second, seed, points=POINTS.get("".join(rest), points))
        if rest == ["scale"]:
            y, truth = SCALE * y, stretch(truth)
        return (x.astype("float32"), y.astype("float32"), truth) if rest == ["float32"] else (x, y, truth)
    assert data is not None
    if kind == "snare":
        return cell_pair(data, int(first), second, seed)
    return shape_pair(read_shape(data / "shapes" / f"{first}.obj"), second, seed, points=points)


def stretch(truth: Truth) -> Truth:
    """The truth of a pair whose y is SCALE times as large."""
    assert truth.map is not None
    return replace(truth, map=SCALE * truth.map, offset=SCALE * truth.offset, extent=SCALE * truth.extent)


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
    if kind in RIGID:
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


def solve(
    kind: str, x: np.ndarray, y: np.ndarray, truth: Truth, *, overlap: Any, rng: int, variant: str
) -> invarot.Alignment:
    """``align`` as the kind of data asks for: rotations for shapes, a scale and a translation for cells; weights, pairs, as a variant."""
    options: dict[str, Any] = {} if overlap is None else {"overlap": overlap}
    if kind in RIGID:
        options["p"] = invarot.Rotations()
    if variant == "weights":
        options |= {name: draw_weights(len(one), rng) for name, one in (("a", x), ("b", y))}
    if variant == "pairs":
        assert truth.matches is not None
        known = np.flatnonzero(truth.common_x)[:5]
        options["seeds"] = np.column_stack([known, truth.matches[known]])
    return invarot.align(x, y, translate=True, scale=kind == "snare" or variant == "scale", rng=rng, **options)


def draw_weights(count: int, seed: int) -> np.ndarray:
    """Weights of very different size."""
    weights = np.random.default_rng([seed, count]).gamma(1.0, size=count)
    return weights / weights.sum()


def run(data: Path | None, points: int, overlap: Any, task: Task) -> dict[str, Any]:
    """The row of a task."""
    warnings.simplefilter("ignore", invarot.NotConverged)
    kind, case, seed = task
    x, y, truth = make_pair(data, points, task)
    began, worked = time.perf_counter(), time.process_time()
    result = solve(
        kind, x, y, truth, overlap=overlap, rng=seed, variant="".join(case.split()[2:]) if kind == "surfaces" else ""
    )
    seconds, cpu = time.perf_counter() - began, time.process_time() - worked
    return {"kind": kind, "case": case, "seed": seed, "n": len(x), "m": len(y), "seconds": round(seconds, 2),
            "cpu": round(cpu, 2), "verdict": result.verdict.word, "probability": round(result.verdict.probability, 4),
            **score(kind, x, y, truth, result)}  # fmt: skip


def run_all(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All rows, in ``--jobs`` processes."""
    work = partial(run, args.data, args.points, None if args.overlap == "none" else args.overlap)
    if args.jobs == 1:
        yield from map(work, list_tasks(args))
        return
    with ProcessPoolExecutor(args.jobs) as pool:
        yield from pool.map(work, list_tasks(args))


def reached(row: dict[str, str]) -> bool:
    """Whether a row reaches its bound: 2° and 2 % of the extent; 95 % of the points, or of the labels."""
    if row["kind"] in RIGID:
        return float(row["rotation"]) <= 2 and float(row["offset"]) <= 0.02
    return float(row["right"] or row["transfer"]) >= 0.95


def estimated(row: dict[str, str]) -> bool:
    """Whether the estimated overlap is within 0.1 of the truth, on both sides."""
    return all(abs(float(row[f"overlap_{side}"]) - float(row[f"true_{side}"])) <= 0.1 for side in "xy")


def summarise(path: Path, commands: list[str]) -> str:
    """Write the table of the rows in ``path`` beside it."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    lines = ["# Clouds that correspond in part", "", *header(*commands),
             "Reached: shapes and surfaces ≤ 2° and ≤ 2 % of the extent; clusters and cells ≥ 95 % of the common points, or labels, right. Overlap: within 0.1 of",
             "the truth on both sides. Called: of the answers that reach the bound, those called aligned or coarse; of the others, those called",
             "neither. Orphans: mean matched weight of points without a counterpart.", "",
             "| | case | runs | reached | rotation, °: median, 90 % | share right: median, least | overlap | called, right | called, wrong | orphans | CPU s |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    key = lambda row: (row["kind"], " ".join(row["case"].split()[1:]) if row["kind"] in RIGID else row["case"])  # noqa: E731
    for (kind, case), group in itertools.groupby(sorted(rows, key=key), key=key):
        some = list(group)
        right = [row for row in some if reached(row)]
        wrong = [row for row in some if not reached(row)]
        sound = [sum(row["verdict"] in ("aligned", "coarse") for row in part) for part in (right, wrong)]
        turns = [float(row["rotation"]) for row in some if row["rotation"]]
        shares = [float(row["right"] or row["transfer"]) for row in some if row["right"] or row["transfer"]]
        orphans = [float(row["orphans"]) for row in some if row["orphans"]]
        cells = [
            f"{np.median(turns):.3g}, {np.quantile(turns, 0.9):.3g}" if turns else "–",
            f"{np.median(shares):.3f}, {min(shares):.3f}" if shares else "–",
            f"{sum(map(estimated, some))} of {len(some)}", f"{sound[0]} of {len(right)}",
            f"{len(wrong) - sound[1]} of {len(wrong)}", f"{np.mean(orphans):.3f}" if orphans else "–",
            f"{np.median([float(row['cpu']) for row in some]):.2g}",
        ]  # fmt: skip
        lines.append(f"| {kind} | {case} | {len(some)} | {len(right)} | {' | '.join(cells)} |")
    return write_page(path.with_suffix(".md"), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with shapes/ and snare/")
    parser.add_argument(
        "--kinds",
        nargs="+",
        choices=("shapes", "surfaces", "clusters", "snare"),
        default=["shapes", "clusters", "snare"],
    )
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--cases", nargs="+", default=list(CASES))
    parser.add_argument("--surfaces", nargs="+", choices=SURFACES, default=list(SURFACES))
    parser.add_argument("--samples", nargs="+", default=list(SAMPLES), help="cases of surfaces")
    parser.add_argument(
        "--variants",
        nargs="+",
        choices=("plain", "float32", "weights", "scale", "pairs", "few", "many"),
        default=["plain"],
    )
    parser.add_argument("--points", type=int, default=1000, help="points of a shape before it is cut")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first seed")
    parser.add_argument("--overlap", choices=("auto", "none"), default="auto")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("results/partial.csv"))
    parser.add_argument("--summarise", action="store_true", help="only write the table")
    parser.add_argument("--commands", nargs="+", default=[], help="the commands that the page names")
    args = parser.parse_args()
    if args.summarise:
        print(summarise(args.out, args.commands))
        return
    if args.data is None and set(args.kinds) & {"shapes", "snare"}:
        parser.error("--data: expected a folder with shapes/ and snare/; --kinds clusters surfaces need none")
    fresh = not args.out.exists()
    with args.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        for row in run_all(args):
            writer.writerow(row)
            file.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main()
