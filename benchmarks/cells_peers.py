"""Other methods beside ours, in one table: SNARE-seq, and simulated tissues of 600 cells.

    python -m benchmarks.cells_peers --data DATA --out results [--methods invarot scot moscot unioncom pamona] [--draws 6]

scot: entropic Gromov–Wasserstein between paths in neighbour graphs (POT), at its authors' default k = 50 and ε = 1e-3, both of which
they mean to be tuned. Its outer loop may run 1,000 times with 1,000 Sinkhorn sweeps each, which took more than 20 minutes on a busy core;
here it stops when the plan moves by less than 1e-5, or after ``--scot-iterations``. moscot: TranslationProblem, quadratic (α = 1), ε = 1e-2 of the mean cost, on the embeddings
as they are and on rows of unit length (its users choose). These are scored alike: barycentres of the first assay in the second, rows of unit
length. unioncom 0.4.0 and pamona 0.1.0: at their defaults, on rows of unit length, scored in the joint space that they return. unioncom asks for
``np.int``, which NumPy 1.24 took away, and imports torchvision without using it: both are put in place here. Rows go to cells_peers.csv; times are CPU seconds.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cells import Data, align, read_snare, transfer_both
from benchmarks.simulated_cells import simulate
from invarot import baselines
from invarot.cells import foscttm

Floats = np.ndarray[Any, Any]
FIELDS = ("case", "method", "foscttm", "to_second", "to_first", "seconds")


def unit(points: Floats) -> Floats:
    found: Floats = points / np.linalg.norm(points, axis=1, keepdims=True)
    return found


def place(plan: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Barycentres of the first assay in the second."""
    return plan @ unit(y) / plan.sum(1, keepdims=True), unit(y)


def run_invarot(x: Floats, y: Floats, _: int) -> tuple[Floats, Floats]:
    return align(x, y)[0].spaces


def run_scot(x: Floats, y: Floats, iterations: int) -> tuple[Floats, Floats]:
    found = baselines.graph_gromov_wasserstein(x, y, max_iter=iterations, tol=1e-5)
    return place(np.asarray(found.plan.dense()), y)


def run_moscot(x: Floats, y: Floats, _: int) -> tuple[Floats, Floats]:
    import anndata
    from moscot.problems.cross_modality import TranslationProblem

    first, second = (anndata.AnnData(one, obsm={"points": one}) for one in (x, y))
    problem = TranslationProblem(first, second)
    problem = problem.prepare(src_attr="points", tgt_attr="points").solve(alpha=1.0, epsilon=1e-2)
    (key,) = problem.solutions
    return place(np.asarray(problem.solutions[key].transport_matrix, dtype=np.float64), y)


def run_moscot_unit(x: Floats, y: Floats, iterations: int) -> tuple[Floats, Floats]:
    return run_moscot(unit(x), unit(y), iterations)


def run_unioncom(x: Floats, y: Floats, _: int) -> tuple[Floats, Floats]:
    np.int = int  # type: ignore[attr-defined]  # noqa: NPY001
    stub = ModuleType("torchvision")
    stub.models = ModuleType("torchvision.models")  # type: ignore[attr-defined]
    sys.modules.setdefault("torchvision", stub)
    from unioncom import UnionCom

    first, second = UnionCom.UnionCom().fit_transform(dataset=[unit(x), unit(y)])
    return np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)


def run_pamona(x: Floats, y: Floats, _: int) -> tuple[Floats, Floats]:
    from pamona import Pamona

    (first, second), _ = Pamona.Pamona(verbose=False).run_Pamona([unit(x), unit(y)])
    return np.real(np.asarray(first)).astype(np.float64), np.real(np.asarray(second)).astype(np.float64)


METHODS = {
    "invarot": run_invarot, "scot": run_scot, "moscot": run_moscot, "moscot, unit rows": run_moscot_unit,
    "unioncom": run_unioncom, "pamona": run_pamona,
}  # fmt: skip


def score(data: Data, method: str, iterations: int) -> dict[str, Any]:
    """Both assays of the same cells, shuffled."""
    rna, atac, types = data
    order = np.random.default_rng(0).permutation(len(types))
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = METHODS[method](rna, atac[order], iterations)
    seconds = time.process_time() - start
    labels = transfer_both(first, second, types, types[order])
    return {
        "method": method,
        "foscttm": round(foscttm(first[order], second), 4),
        "to_second": round(labels[0], 4),
        "to_first": round(labels[1], 4),
        "seconds": round(seconds, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--scot-iterations", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    path = chosen.out / "cells_peers.csv"
    rows = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []
    cases: list[tuple[str, Data]] = [("SNARE, all cells", read_snare(chosen.data))]
    for draw in range(chosen.first, chosen.first + chosen.draws):
        tissue = simulate(draw, n=600)
        cases.append((f"simulated {tissue.form}, {tissue.kind}, {draw}", (tissue.rna, tissue.atac, tissue.types)))
    for case, data in cases:
        for method in chosen.methods:
            if any((row["case"], row["method"]) == (case, method) for row in rows):
                continue
            rows.append({"case": case, **score(data, method, chosen.scot_iterations)})
            print(*rows[-1].values(), sep=", ", flush=True)
            with path.open("w", encoding="utf-8", newline="") as stream:
                writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


if __name__ == "__main__":
    main()
