"""Registration of real scans and of cut shapes, beside Open3D's FPFH + RANSAC + ICP in the same run.

    python benchmarks/scans.py --data DATA --pairs lidar cars --draws 50 --methods invarot open3d
    python benchmarks/scans.py --data DATA --pairs lidar cars --draws 10 --points 20000     # the time of a pair of this size
    python benchmarks/scans.py --data DATA --pairs shapes --draws 20
    python benchmarks/scans.py --summarise --out results/scans.csv                          # the tables of the rows there are

    lidar   two scans of a street, 69,792 and 69,088 points; the 4×4 that comes with them is the truth
    cars    two scans from a car, 25,193 and 24,989 points; the truth is the reference transform of another library
    shapes  the cut models of partial_pairs.py, 1,000 points before they are cut
A draw turns the target at random (uniform over all rotations), shifts it by up to 10 m each way (a shape by its extent) and mixes all
rows; --points N draws N points of each scan. Rows: *rotation* in degrees; *offset*, of scans in metres at the sensor (the source's
origin), of shapes as a share of the extent at the centre of the common part; *overlap* found, beside the true one: of scans the share
of points that lie as near to the other scan, under the truth, as its own points lie to each other (`measure_reach`); *seconds* of the clock and *cpu*, of all threads (a busy machine slows
the clock). Reached: ≤ 1° and ≤ 0.1 m; shapes ≤ 2° and ≤ 2 % of the extent.
The settings of Open3D come from other draws: open3d_registration.py.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import open3d_registration
from partial import rotation_error
from partial_pairs import CASES, SHAPES, draw_rotation, read_shape, shape_pair
from provenance import header, write_page
from scipy.spatial import cKDTree

import invarot

SCANS = {
    "lidar": ("lidar-source.ply", "lidar-target.ply", "lidar-T_target_source.txt"),
    "cars": ("car_cloud401.csv", "car_cloud400.csv", "car_reference.txt"),
}
SHIFT = 10.0  # metres
REACHED = 0.99  # of the points of a scan lie within its reach
FIELDS = ("pair", "draw", "method", "n", "m", "rotation", "offset", "overlap_x", "overlap_y", "true_x", "true_y", "verdict",
          "seconds", "cpu")  # fmt: skip


@dataclass(frozen=True)
class Truth:
    """The 4×4 from x to y, the overlap of both, where in x the offset is measured, and its unit."""

    matrix: np.ndarray
    overlap: tuple[float, float]
    at: np.ndarray
    unit: float = 1.0


def move(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def measure_reach(points: np.ndarray) -> float:
    """The distance within which a second scan of the same places would have a point, by the scan alone.

    One half of the points, drawn at random, is a second scan of the other half; with all points they lie √2 times as near.
    """
    rows = np.random.default_rng(0).permutation(len(points))
    apart = cKDTree(points[rows[::2]]).query(points[rows[1::2]])[0]
    return float(np.quantile(apart, REACHED)) / 2**0.5


@cache
def read_scans(data: Path, pair: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[float, float]]:
    """Source, target, the true 4×4 between them and their true overlap."""
    source, target, truth = (data / "scans" / name for name in SCANS[pair])
    x, y = (invarot.clouds.read_cloud(path).points for path in (source, target))
    matrix = np.eye(4)
    matrix[:3] = np.loadtxt(truth)[:3]
    moved = move(x, matrix)
    near = [cKDTree(there).query(here)[0] <= measure_reach(there) for here, there in ((moved, y), (y, moved))]
    return x, y, matrix, (float(np.mean(near[0])), float(np.mean(near[1])))


def draw_pair(data: Path, pair: str, seed: int, points: int = 0) -> tuple[np.ndarray, np.ndarray, Truth]:
    """A pair of scans, the target moved at random, or a cut shape ("cow cut-70"); 0 points: all of them (shapes: 1,000)."""
    if pair not in SCANS:
        name, case = pair.split()
        x, y, shape = shape_pair(read_shape(data / "shapes" / f"{name}.obj"), case, seed, points=points or 1000)
        matrix = as_matrix(shape.map.T, shape.offset)
        return x, y, Truth(matrix, shape.overlap, x[shape.common_x].mean(axis=0), shape.extent)
    x, y, matrix, overlap = read_scans(data, pair)
    rng = np.random.default_rng([seed, len(x)])
    motion = as_matrix(draw_rotation(3, rng), rng.uniform(-SHIFT, SHIFT, 3))
    rows_x, rows_y = (rng.permutation(len(cloud))[: points or None] for cloud in (x, y))
    return x[rows_x], move(y[rows_y], motion), Truth(motion @ matrix, overlap, np.zeros(3))


def as_matrix(linear: np.ndarray, offset: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, offset
    return matrix


def measure(matrix: np.ndarray, truth: Truth) -> dict[str, float]:
    """Errors of the rotation in degrees and of the offset in units of the truth."""
    away = move(truth.at[None], matrix) - move(truth.at[None], truth.matrix)
    rotation = rotation_error(matrix[:3, :3], truth.matrix[:3, :3])
    return {"rotation": round(rotation, 4), "offset": round(float(np.linalg.norm(away)) / truth.unit, 5)}


def reached(row: dict[str, Any]) -> bool:
    rotation, offset = (1.0, 0.1) if row["pair"] in SCANS else (2.0, 0.02)
    return float(row["rotation"]) <= rotation and float(row["offset"]) <= offset


def run_invarot(x: np.ndarray, y: np.ndarray, pair: str, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
    found = invarot.clouds.register(x, y, rng=seed)
    shares = {"overlap_x": round(found.overlap[0], 4), "overlap_y": round(found.overlap[1], 4)}
    return found.matrix, {**shares, "verdict": found.verdict.word}


def run_open3d(
    x: np.ndarray, y: np.ndarray, pair: str, seed: int, voxel: float | None = None
) -> tuple[np.ndarray, dict[str, Any]]:
    said = {} if voxel is None else {"method": f"open3d, voxel {voxel:g}"}
    voxel = voxel or open3d_registration.choose_voxel(pair, x)
    return open3d_registration.register(x, y, voxel=voxel, seed=seed), said


METHODS: dict[str, Callable[..., tuple[np.ndarray, dict[str, Any]]]] = {
    "invarot": run_invarot,
    "open3d": run_open3d,
}


def run(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row a method and draw; all methods get the same points."""
    shapes = [f"{name} {case}" for name, case in itertools.product(args.shapes, args.cases)]
    pairs = [name for pair in args.pairs for name in (shapes if pair == "shapes" else [pair])]
    for seed, pair in itertools.product(range(args.first, args.first + args.draws), pairs):
        x, y, truth = draw_pair(args.data, pair, seed, args.points)
        for method in args.methods:
            began, worked = time.perf_counter(), time.process_time()
            options = {"voxel": args.voxel} if method == "open3d" else {}
            matrix, said = METHODS[method](x, y, pair, seed, **options)
            seconds, cpu = time.perf_counter() - began, time.process_time() - worked
            yield {"pair": pair, "draw": seed, "method": method, "n": len(x), "m": len(y), **measure(matrix, truth), **said,
                   "true_x": round(truth.overlap[0], 4), "true_y": round(truth.overlap[1], 4),
                   "seconds": round(seconds, 2), "cpu": round(cpu, 2)}  # fmt: skip


def summarise(path: Path, commands: list[str]) -> str:
    """Write the table of the rows in ``path`` beside it: scans by pair and size, shapes by how they were cut."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    key = lambda row: (row["pair"].split()[-1], int(row["n"]) if row["pair"] in SCANS else 0, row["method"])  # noqa: E731
    lines = ["# Registration of scans and cut shapes", "", *header(*commands),
             "Reached: ≤ 1° and ≤ 0.1 m; shapes ≤ 2° and ≤ 2 % of the extent. Medians of all draws; overlap: share of the draws whose",
             "estimate is within 0.1 of the truth on both sides.", "",
             "| pair | points of x | method | draws | reached | rotation, ° | offset, m or extent | overlap | seconds | CPU s |",
             "|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for (pair, _, method), group in itertools.groupby(sorted(rows, key=key), key=key):
        some = list(group)
        medians = [np.median([float(row[name]) for row in some]) for name in ("n", "rotation", "offset", "seconds")]
        cpu = [float(row["cpu"]) for row in some if row["cpu"]]
        shares = [row for row in some if row["overlap_x"]]
        close = sum(
            all(abs(float(row[f"overlap_{side}"]) - float(row[f"true_{side}"])) <= 0.1 for side in "xy")
            for row in shares
        )
        lines.append(f"| {pair} | {medians[0]:.0f} | {method} | {len(some)} | {sum(map(reached, some))} | {medians[1]:.3g} "
                     f"| {medians[2]:.3g} | {f'{close} of {len(shares)}' if shares else '–'} "
                     f"| {medians[3]:.3g} | {np.median(cpu) if cpu else np.nan:.3g} |")  # fmt: skip
    return write_page(path.with_suffix(".md"), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with scans/ and shapes/")
    parser.add_argument("--pairs", nargs="+", choices=(*SCANS, "shapes"), default=list(SCANS))
    parser.add_argument("--methods", nargs="+", choices=tuple(METHODS), default=list(METHODS))
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--cases", nargs="+", default=list(CASES))
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--points", type=int, default=0, help="points drawn of each cloud (0: all; shapes: 1,000)")
    parser.add_argument("--voxel", type=float, help="of Open3D, in units of the data, instead of the chosen one")
    parser.add_argument("--out", type=Path, default=Path("results/scans.csv"))
    parser.add_argument("--summarise", action="store_true", help="only write the tables")
    parser.add_argument("--commands", nargs="+", default=[], help="the commands that the page names")
    args = parser.parse_args()
    if args.summarise:
        print(summarise(args.out, args.commands))
        return
    if args.data is None:
        parser.error("--data: expected a folder with scans/ and shapes/")
    warnings.simplefilter("ignore", invarot.NotConverged)
    fresh = not args.out.exists()
    with args.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        for row in run(args):
            writer.writerow(row)
            file.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main()
