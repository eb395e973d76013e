"""Recovery of known isometries from ``start="auto"``: clouds × dimensions × sizes × noise × seeds.

    OMP_NUM_THREADS=1 python benchmarks/synthetic.py --seeds 100 --jobs 14 --out results
    python benchmarks/synthetic.py --summarise --out results      # the tables again, from the rows there are

Writes raw/synthetic.csv (a row a run, as each is done; too large to commit), and from it synthetic.csv (a row a cell: case, kind,
dimension, size and noise) and synthetic.md (the tables). A run that was stopped goes on where it was. Three cases:
  exact    y is x turned and shuffled: the share of matches found, all and per cell;
  noisy    the same with noise on y: found, less what a solve started at the true map finds;
  samples  x and y are two samples of one distribution, m = 1.2 n, no point shared: the error of the map over that of a
           solve started at the true map. (The Gaussian and, but for a small skew, the uniform cloud are mirrored by every
           axis: two samples of them have no one right map.)
"""

from __future__ import annotations

import argparse
import csv
import itertools
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header, write_page

import invarot

KINDS = ("gaussian", "uniform", "clustered", "surface")
FIELDS = ("case", "kind", "d", "n", "noise", "seed", "found", "reference", "error", "reference_error", "verdict",
          "probability", "rivals", "twins", "split", "objective", "reference_objective", "starts")  # fmt: skip

# of a cell; reached, as_high and missed leave out symmetric runs, reached_of_all does not
COUNTS = ("runs", "symmetric", "reached", "as_high", "missed", "reached_of_all", "aligned")
CELL = ("case", "kind", "d", "n", "noise", *COUNTS, "median_error", "median_reference_error")


def cloud(kind: str, n: int, d: int, rng: np.random.Generator, shape: np.random.Generator) -> np.ndarray:
    """``n`` points; ``shape`` draws what makes the distribution, so that two samples can share it."""
    axes = np.linspace(1.5, 0.5, d)
    if kind == "gaussian":
        return rng.standard_normal((n, d)) * axes
    if kind == "uniform":
        return rng.uniform(-1, 1, (n, d)) * axes + 0.2 * rng.uniform(0, 1, (n, 1)) ** 2
    if kind == "clustered":
        centres = 2 * shape.standard_normal((8, d))
        weights = shape.dirichlet(np.ones(8))
        return centres[rng.choice(8, n, p=weights)] + 0.4 * rng.standard_normal((n, d))
    flat = rng.uniform(0, 1, (n, max(1, min(d - 1, 2))))  # a curved sheet (a curve in the plane)
    bends = shape.standard_normal((flat.shape[1], d)), shape.uniform(1, 5, (flat.shape[1], d)), shape.uniform(0, 6, d)
    return flat @ bends[0] + np.sin(flat @ bends[1] + bends[2])


def map_error(x: np.ndarray, w: np.ndarray, turn: np.ndarray) -> float:
    """How far the map sends the points from where they belong, relative to their spread."""
    return float(np.linalg.norm(x @ (w - turn)) / np.linalg.norm(x - x.mean(0)))


def run(task: tuple[str, str, int, int, float, int]) -> dict[str, object]:
    case, kind, d, n, noise, seed = task
    rng = np.random.default_rng([seed, n, d, KINDS.index(kind)])
    form = seed * 1000 + d
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    x = cloud(kind, n, d, rng, np.random.default_rng(form))
    if case == "samples":
        y = cloud(kind, int(1.2 * n), d, rng, np.random.default_rng(form)) @ turn
        truth = None
    else:
        order = rng.permutation(n)
        y = (x @ turn)[order]
        y = y + noise * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape)
        truth = np.argsort(order)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = invarot.align(x, y, rng=seed)
        reference = result if case == "exact" else invarot.align(x, y, start=turn, rng=seed)
    row: dict[str, object] = {"case": case, "kind": kind, "d": d, "n": n, "noise": noise, "seed": seed}
    row["found"] = "" if truth is None else np.mean(result.matches() == truth)
    row["reference"] = "" if truth is None else np.mean(reference.matches() == truth)
    row["error"] = map_error(x, result.map, turn)
    row["reference_error"] = map_error(x, reference.map, turn)
    row.update(verdict=result.verdict.word, probability=result.verdict.probability, objective=result.objective,
               reference_objective=reference.objective, starts=len(result.starts))  # fmt: skip
    evidence = result.verdict.evidence
    row.update({name: getattr(evidence, name) for name in ("rivals", "twins", "split")})
    return row


def tasks(args: argparse.Namespace) -> list[tuple[str, str, int, int, float, int]]:
    noises = [("exact", 0.0), *(("noisy", noise) for noise in args.noise), ("samples", 0.0)]
    found = []
    for seed, n, (case, noise), kind, d in itertools.product(
        range(args.first, args.first + args.seeds), args.sizes, noises, args.kinds, args.dims
    ):
        if case in args.cases:
            found.append((case, kind, d, n, noise, seed))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first seed")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200, 1000])
    parser.add_argument("--dims", type=int, nargs="+", default=[2, 3, 10, 30, 100])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.05, 0.1, 0.2])
    parser.add_argument("--cases", nargs="+", default=["exact", "noisy", "samples"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--summarise", action="store_true", help="only write the tables")
    args = parser.parse_args()
    path = args.out / "raw" / "synthetic.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    if args.summarise:
        if not path.exists():
            parser.error(f"{path}: no rows there; run without --summarise first")
        summarise(path, args.out)
        return
    done = set()
    if path.exists():
        with path.open() as file:
            done = {tuple(row[key] for key in FIELDS[:6]) for row in csv.DictReader(file)}
    todo = [task for task in tasks(args) if tuple(str(part) for part in task) not in done]
    with path.open("a", newline="") as file, ProcessPoolExecutor(args.jobs) as pool:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for number, future in enumerate(as_completed([pool.submit(run, task) for task in todo])):
            writer.writerow(future.result())
            file.flush()
            if number % 200 == 0:
                print(f"{number + 1}/{len(todo)}", flush=True)
    summarise(path, args.out)


def summarise(path: Path, out: Path) -> None:
    """synthetic.csv and synthetic.md of the rows in ``path``."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    cells = count_cells(rows)
    with (out / "synthetic.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, CELL, lineterminator="\n")
        writer.writeheader()
        writer.writerows(cells)
    lines = ["# Synthetic clouds, `start=\"auto\"`", "",
             *header("OMP_NUM_THREADS=1 python benchmarks/synthetic.py --cases exact noisy --seeds 100",
                     "OMP_NUM_THREADS=1 python benchmarks/synthetic.py --cases samples --kinds clustered surface --sizes 50 200 --seeds 20",
                     "python benchmarks/synthetic.py --summarise"),
             "By kind and dimension: [synthetic.csv](synthetic.csv). *symmetric*: the verdict found another map as good (rivals).",
             "*Objective as high*: missed, but the objective is not below that of the solve started at the truth: a better search",
             "could not have found it.", "",
             "| case | n | runs | reached | missed, objective as high | missed by the search | symmetric | called aligned |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    key = lambda cell: (cell["case"], cell["noise"], cell["n"])  # noqa: E731
    for (case, noise, n), group in itertools.groupby(sorted(cells, key=key), key=key):
        some = list(group)
        total = {name: sum(cell[name] for cell in some) for name in COUNTS}
        fair = total["runs"] - total["symmetric"]
        share = f"{total['reached']} of {fair} ({total['reached'] / max(fair, 1):.1%})"
        name = case if case != "noisy" else f"noise {noise}"
        lines.append(f"| {name} | {n} | {total['runs']} | {share} | {total['as_high']} | {total['missed']} "
                     f"| {total['symmetric']} | {total['aligned']} |")  # fmt: skip
    misses = [row for row in rows if not int(row["rivals"]) and not reached(row) and not as_high(row)]
    lines += ["", f"Missed by the search: {len(misses)} runs, the first of them:", "", "| case | kind | d | n | noise | seed | found | reference | verdict |",
              "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for row in misses[:60]:
        lines.append("| " + " | ".join(row[name] if name not in ("found", "reference") else row[name][:6] for name in
                                       ("case", "kind", "d", "n", "noise", "seed", "found", "reference", "verdict")) + " |")  # fmt: skip
    print(write_page(out / "synthetic.md", lines))


def count_cells(rows: list[dict[str, str]]) -> list[dict[str, Any]]:
    """A row a cell: how many runs, and of those that are not symmetric how many reached the truth or did not."""
    key = lambda row: (row["case"], row["kind"], int(row["d"]), int(row["n"]), float(row["noise"]))  # noqa: E731
    cells = []
    for where, group in itertools.groupby(sorted(rows, key=key), key=key):
        some = list(group)
        fair = [row for row in some if not int(row["rivals"])]
        good = sum(reached(row) for row in fair)
        high = sum(not reached(row) and as_high(row) for row in fair)
        errors = [np.median([float(row[name]) for row in some]) for name in ("error", "reference_error")]
        counts = (len(some), len(some) - len(fair), good, high, len(fair) - good - high, sum(reached(row) for row in some),
                  sum(row["verdict"] == "aligned" for row in some))  # fmt: skip
        cells.append(dict(zip(CELL, (*where, *counts, *(f"{error:.4g}" for error in errors)), strict=True)))
    return cells


def as_high(row: dict[str, str]) -> bool:
    """Whether the objective found is that of the solve started at the truth, or better (an exact copy has none better)."""
    return row["case"] != "exact" and float(row["objective"]) >= (1 - 1e-5) * float(row["reference_objective"])


def reached(row: dict[str, str]) -> bool:
    """exact: 99 % of the matches; noisy: within 1 point of the reference; samples: within 10 % of its error."""
    if row["case"] == "exact":
        return float(row["found"]) >= 0.99
    if row["case"] == "noisy":
        return float(row["found"]) >= float(row["reference"]) - 0.01
    return float(row["error"]) <= 1.1 * float(row["reference_error"]) + 1e-3


if __name__ == "__main__":
    main()
