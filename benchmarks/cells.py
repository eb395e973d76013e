"""Two assays of one tissue: our default call beside others, on simulated tissues and on SNARE-seq.

    python benchmarks/cells.py simulated --draws 50 --first 1000 --out results
    python benchmarks/cells.py snare --data DATA --out results        # all cells; disjoint halves; a type missing
    python benchmarks/cells.py peers --data DATA --out results        # other methods in one table
    python benchmarks/cells.py large                                  # 20,000 × 20,000 cells, 50 features: time and memory

DATA holds snare/ (SNAREseq_{rna,atac}_{feat.npy,types.txt}). Labels and pairs are used to score alone. Rows go to cells.csv; those that
are there are not run again. Times are CPU seconds of
the process. Choices were made on draws below 1000; those reported start there.
"""

from __future__ import annotations

import argparse
import csv
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import numpy as np
from simulated_cells import KINDS, Tissue, simulate

from invarot import baselines, cells

FIELDS = (
    "case",
    "method",
    "draw",
    "cells",
    "foscttm",
    "to_second",
    "to_first",
    "verdict",
    "probability",
    "resolution",
    "orphans",
    "seconds",
)
Floats = np.ndarray[Any, Any]


def tables(rna: Floats, atac: Floats, types: Floats, rows: Floats, columns: Floats) -> tuple[Any, Any]:
    """Two tables: cells ``rows`` of the first assay, cells ``columns`` of the second, shuffled."""
    made = []
    for key, points, some in (("X_pca", rna, rows), ("X_lsi", atac, columns)):
        table = anndata.AnnData(obsm={key: points[some]}, obs={"type": types[some].astype(str)})
        table.obs_names = [f"cell{i}" for i in some]
        made.append(table)
    return made[0], made[1]


def transfer(source: Any, target: Any) -> float:
    """The share of cells of ``target`` that get their own type from ``source``."""
    labels, _ = cells.transfer_labels(source, target, "type", least=0)
    shared = target.obs["type"].isin(set(source.obs["type"]))  # a type that only one side has cannot be transferred
    return float((labels == target.obs["type"])[shared].mean())


def orphan_weight(first: Any, second: Any) -> Any:
    """The mean matched weight of cells whose type the other side lacks; "" if there are none."""
    found = []
    for one, other in ((first, second), (second, first)):
        alone = ~one.obs["type"].isin(set(other.obs["type"]))
        if "invarot_matched" in one.obs and alone.any():
            found.append(float(one.obs["invarot_matched"][alone].mean()))
    return round(float(np.mean(found)), 3) if found else ""


def score(
    first: Any, second: Any, found: Any, seconds: float, *, paired: tuple[Any, Any] | None = None
) -> dict[str, Any]:
    one, other = paired or (first, second)
    same = one.n_obs == other.n_obs and set(one.obs_names) == set(other.obs_names)
    return {
        "cells": f"{first.n_obs} x {second.n_obs}",
        "foscttm": round(cells.foscttm(one, other), 4) if same else "",
        "to_second": round(transfer(first, second), 4),
        "to_first": round(transfer(second, first), 4),
        "verdict": found.verdict.word if found else "",
        "probability": round(found.verdict.probability, 3) if found else "",
        "resolution": round(found.verdict.resolution.estimate, 3) if found and found.verdict.resolution else "",
        "orphans": orphan_weight(first, second),
        "seconds": round(seconds, 1),
    }


def align(first: Any, second: Any) -> tuple[Any, float]:
    """Our default call, and its CPU seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cells.align(first, second)
    return found, time.process_time() - start


def run_simulated(draw: int, tissue: Tissue, run: Callable[[Any, Any], tuple[Any, float]]) -> dict[str, Any]:
    """Even draws: both assays of the same cells; odd ones: of different cells."""
    order = np.random.default_rng(draw).permutation(len(tissue.types))
    half = len(order) // 2
    rows, columns = (order, order[::-1]) if draw % 2 == 0 else (order[:half], order[half:])
    first, second = tables(tissue.rna, tissue.atac, tissue.types, rows, columns)
    found, seconds = run(first, second)
    return score(first, second, found, seconds)


def read_snare(data: Path) -> tuple[Floats, Floats, Floats]:
    folder = data / "snare"
    rna, atac = (np.load(folder / f"SNAREseq_{name}_feat.npy", allow_pickle=False) for name in ("rna", "atac"))
    return rna, atac, np.loadtxt(folder / "SNAREseq_rna_types.txt", dtype=str, delimiter="\t").astype(str)


def run_halves(data: tuple[Floats, Floats, Floats], draw: int) -> dict[str, Any]:
    """Fit on disjoint halves of the cells; score every pair: cells of the other half are placed by their neighbours."""
    rna, atac, types = data
    order = np.random.default_rng(draw).permutation(len(types))
    half = len(order) // 2
    first, second = tables(rna, atac, types, order[:half], order[half:])
    found, seconds = align(first, second)
    whole = tables(rna, atac, types, np.arange(len(types)), np.arange(len(types)))
    for table, like in zip(whole, (first, second), strict=True):
        cells.embed(table, like=like)
    return score(first, second, found, seconds, paired=whole)


def run_missing(data: tuple[Floats, Floats, Floats], kind: str, side: int) -> dict[str, Any]:
    """One type is left out of one assay; scored on the types that both have."""
    rna, atac, types = data
    every = np.random.default_rng(0).permutation(len(types))
    kept = every[types[every] != kind]
    first, second = tables(rna, atac, types, *((kept, every) if side == 0 else (every, kept)))
    found, seconds = align(first, second)
    return score(first, second, found, seconds)


def place_by_plan(first: Any, second: Any, plan: Floats) -> None:
    """Write the joint space of a method that gives a plan: barycentres in the second assay, rows of unit length."""
    y = np.asarray(second.obsm["X_lsi"])
    y = y / np.linalg.norm(y, axis=1, keepdims=True)
    first.obsm["X_invarot"] = plan @ y / plan.sum(1, keepdims=True)
    second.obsm["X_invarot"] = y


def scot(first: Any, second: Any) -> tuple[Any, float]:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = baselines.graph_gromov_wasserstein(first.obsm["X_pca"], second.obsm["X_lsi"])
    place_by_plan(first, second, np.asarray(found.plan.dense()))
    return found, time.process_time() - start


METHODS = {"invarot": align, "SCOT's method (POT)": scot}


def run_large() -> None:
    n, d = 20_000, 50
    rng = np.random.default_rng(0)
    centres = 3 * rng.standard_normal((12, d))
    types = rng.choice(12, 2 * n, p=rng.dirichlet(np.full(12, 2.0)))
    state = centres[types] + rng.standard_normal((2 * n, d)) * np.linspace(1.5, 0.3, d)
    turned = np.tanh(state / 4) @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    first, second = tables(state, turned, types, np.arange(n), np.arange(n, 2 * n))
    start = time.perf_counter()
    found, busy = align(first, second)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"20,000 x 20,000 x 50: {seconds:.0f} s, CPU {busy:.0f} s, peak {peak:.2f} GiB, {found.verdict.word}, "
          f"labels {transfer(first, second):.3f} and {transfer(second, first):.3f}")  # fmt: skip


class Table:
    """Rows of cells.csv, written as each is done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []

    def add(self, case: str, method: str, draw: Any, run: Callable[[], dict[str, Any]]) -> None:
        if any((row["case"], row["method"], row["draw"]) == (case, method, str(draw)) for row in self.rows):
            return
        row = {"case": case, "method": method, "draw": str(draw), **run()}
        self.rows.append(row)
        with self.path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        print(*(row.get(name, "") for name in FIELDS), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("simulated", "snare", "peers", "large"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--methods", default="invarot,SCOT's method (POT)")
    parser.add_argument("--only", default="all,halves,missing")
    parser.add_argument("--out", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    if chosen.what == "large":
        run_large()
        return
    table = Table(chosen.out / "cells.csv")
    draws = range(chosen.first, chosen.first + chosen.draws)
    if chosen.what == "simulated":
        for draw in draws:
            tissue = simulate(draw)
            table.add(f"simulated {tissue.kind}", "invarot", draw, lambda: run_simulated(draw, tissue, align))  # noqa: B023
        return
    data = read_snare(chosen.data)
    every = np.arange(len(data[2]))
    if chosen.what == "peers":
        for name in chosen.methods.split(","):
            run = METHODS[name]
            for draw in draws:
                tissue = simulate(draw, n=600, kind=KINDS[draw % 3])
                table.add(f"peers: simulated {tissue.kind}", name, draw, lambda: run_simulated(draw, tissue, run))  # noqa: B023
            first, second = tables(*data, every, every[::-1])
            table.add("peers: SNARE, all cells", name, 0, lambda: score(first, second, *run(first, second)))  # noqa: B023
        return
    only = chosen.only.split(",")
    if "all" in only:
        first, second = tables(*data, every, every[::-1])
        table.add("SNARE, all cells", "invarot", 0, lambda: score(first, second, *align(first, second)))
        if "X_invarot" in first.obsm:  # it was run now
            cells.plot(first, second, color="type").savefig(chosen.out / "cells.png", dpi=80)
    if "halves" in only:
        for draw in range(10):
            table.add("SNARE, disjoint halves", "invarot", draw, lambda: run_halves(data, draw))  # noqa: B023
    if "missing" in only:
        for kind in np.unique(data[2]):
            for side in (0, 1):
                name = f"{kind} not in {'first' if side == 0 else 'second'}"
                table.add("SNARE, a type missing", "invarot", name, lambda: run_missing(data, kind, side))  # noqa: B023


if __name__ == "__main__":
    main()
