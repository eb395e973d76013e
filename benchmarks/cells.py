"""Two assays of one tissue, our default call: on simulated tissues and on SNARE-seq.

    python -m benchmarks.cells simulated --draws 50 --first 1000 --out results        # --first 1000 2000: 50 from each
    python -m benchmarks.cells snare --data DATA --out results        # all cells; disjoint halves; a type missing
    python -m benchmarks.cells large                                  # 20,000 × 20,000 cells, 50 features: time and memory
    python -m benchmarks.cells picture --data DATA --out results      # SNARE-seq before and after (needs anndata, matplotlib)
    python -m benchmarks.cells ceiling --data DATA                    # SNARE-seq: what each assay alone tells of the types (scikit-learn)

DATA holds snare/ (SNAREseq_{rna,atac}_{feat.npy,types.txt}). Labels and pairs are used to score alone. Rows go to cells.csv; those
that are there are not run again. ``--jobs N`` runs N problems at once. Times are CPU seconds of the process. Choices were made on
draws below 1000; those reported start there. Nothing but ``picture`` needs anndata, nothing but ``ceiling`` scikit-learn.

``reach_second`` and ``reach_first`` are what five neighbours transfer if every cell lies exactly where its other half does (in the
assay where that is more): types that are cut out of a course without gaps cannot be told apart at their borders.
"""

from __future__ import annotations

import argparse
import csv
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.simulated_cells import simulate
from invarot.cells import foscttm
from invarot.cells.assays import Joined, join_assays, matched_shares
from invarot.cells.embedding import place_cells
from invarot.cells.preparation import VIEWS, scale_rows
from invarot.cells.transfer import vote

FIELDS = (
    "case", "draw", "cells", "foscttm", "to_second", "to_first", "reach_second", "reach_first", "verdict", "probability",
    "resolution", "orphans", "seconds", "agreement", "lead", "apart",
)  # fmt: skip
VOTERS = 5
Floats = np.ndarray[Any, Any]
Data = tuple[Floats, Floats, Floats]  # both assays of the same cells, row by row, and the types


def align(x: Floats, y: Floats) -> tuple[Joined, float]:
    """Our default call, and its CPU seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = join_assays(x, y, views=VIEWS, rng=np.random.default_rng(0))
    return found, time.process_time() - start


def run_case(data: Data, rows: Floats, columns: Floats, *, paired: bool = True) -> dict[str, Any]:
    """Align cells ``rows`` of the first assay with cells ``columns`` of the second; ``paired``: score FOSCTTM on all cells."""
    rna, atac, types = data
    joined, seconds = align(rna[rows], atac[columns])
    verdict = joined.solved.alignment.verdict
    to_second, to_first = transfer_both(*joined.spaces, types[rows], types[columns])
    reach = [
        reach_labels(assay, types, *sides) for sides in ((rows, columns), (columns, rows)) for assay in (rna, atac)
    ]
    return {
        "cells": f"{len(rows)} x {len(columns)}",
        "foscttm": round(score_pairs(joined, data, rows, columns), 4) if paired else "",
        "to_second": round(to_second, 4),
        "to_first": round(to_first, 4),
        "reach_second": round(max(reach[:2]), 4),
        "reach_first": round(max(reach[2:]), 4),
        "verdict": verdict.word,
        "probability": round(verdict.probability, 3),
        "resolution": round(verdict.resolution.estimate, 3),
        "orphans": weigh_orphans(joined, types[rows], types[columns]),
        "seconds": round(seconds, 1),
        **{name: round(one, 4) for name, one in asdict(joined.solved.evidence).items()},
    }


def transfer_both(first: Floats, second: Floats, types: Floats, others: Floats) -> tuple[float, float]:
    """The share of cells that get their own type from the other side, of those whose type the other side has."""
    found = []
    for source, labels, target, truth in ((first, types, second, others), (second, others, first, types)):
        shared = np.isin(truth, labels)
        found.append(float((vote(source, labels, target, VOTERS)[0] == truth)[shared].mean()))
    return found[0], found[1]


def reach_labels(assay: Floats, types: Floats, source: Floats, target: Floats) -> float:
    """What five neighbours transfer from cells ``source`` to cells ``target`` within one assay; no cell votes for itself."""
    points = assay - assay.mean(0)
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    right = []
    for cell in target[np.isin(types[target], types[source])]:
        others = source[source != cell]
        near = others[np.argpartition(-(points[others] @ points[cell]), VOTERS)[:VOTERS]]
        names, counts = np.unique(types[near], return_counts=True)
        right.append(names[counts.argmax()] == types[cell])
    return float(np.mean(right))


def score_pairs(joined: Joined, data: Data, rows: Floats, columns: Floats) -> float:
    """FOSCTTM over all cells; cells that were not aligned are placed by their neighbours."""
    spaces = []
    for points, some, space, how in zip(data[:2], (rows, columns), joined.spaces, joined.rows, strict=True):
        placed = place_cells(points, points[some], space, rows=how)
        placed[some] = space
        spaces.append(placed)
    return foscttm(*spaces)


def weigh_orphans(joined: Joined, types: Floats, others: Floats) -> Any:
    """The mean matched weight of cells whose type the other side lacks; "" if there are none."""
    matched = matched_shares(joined.solved.alignment)
    alone = ~np.isin(types, others), ~np.isin(others, types)
    found = [float(weight[some].mean()) for weight, some in zip(matched, alone, strict=True) if some.any()]
    return round(float(np.mean(found)), 3) if found else ""


def run_simulated(draw: int) -> dict[str, Any]:
    """Even draws: both assays of the same cells; odd ones: of different cells."""
    tissue = simulate(draw)
    order = np.random.default_rng(draw).permutation(len(tissue.types))
    half = len(order) // 2
    rows, columns = (order, order[::-1]) if draw % 2 == 0 else (order[:half], order[half:])
    row = run_case((tissue.rna, tissue.atac, tissue.types), rows, columns)
    return {"case": f"simulated {tissue.form}, {tissue.kind}", **row}


def read_snare(data: Path) -> Data:
    folder = data / "snare"
    rna, atac = (np.load(folder / f"SNAREseq_{name}_feat.npy", allow_pickle=False) for name in ("rna", "atac"))
    return rna, atac, np.loadtxt(folder / "SNAREseq_rna_types.txt", dtype=str, delimiter="\t").astype(str)


def run_all(data: Data) -> dict[str, Any]:
    every = np.arange(len(data[2]))
    return run_case(data, every, every[::-1])


def run_halves(data: Data, draw: int) -> dict[str, Any]:
    """Fit on disjoint halves of the cells; FOSCTTM on every pair."""
    order = np.random.default_rng(draw).permutation(len(data[2]))
    half = len(order) // 2
    return run_case(data, order[:half], order[half:])


def run_missing(data: Data, kind: str, side: int) -> dict[str, Any]:
    """One type is left out of one assay; scored on the types that both have."""
    every = np.random.default_rng(0).permutation(len(data[2]))
    kept = every[data[2][every] != kind]
    return run_case(data, *((kept, every) if side == 0 else (every, kept)), paired=False)


def list_snare(data: Data, only: list[str]) -> Iterator[tuple[str, str, Callable[[], dict[str, Any]]]]:
    if "all" in only:
        yield "SNARE, all cells", "0", partial(run_all, data)
    if "missing" in only:
        for kind in np.unique(data[2]):
            for side, name in enumerate(("first", "second")):
                yield "SNARE, a type missing", f"{kind} not in {name}", partial(run_missing, data, kind, side)
    if "halves" in only:
        for draw in range(10):
            yield "SNARE, disjoint halves", str(draw), partial(run_halves, data, draw)


def run_large(n: int) -> None:
    d = 50
    rng = np.random.default_rng(0)
    centres = 3 * rng.standard_normal((12, d))
    types = rng.choice(12, 2 * n, p=rng.dirichlet(np.full(12, 2.0)))
    state = centres[types] + rng.standard_normal((2 * n, d)) * np.linspace(1.5, 0.3, d)
    turned = np.tanh(state / 4) @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    start = time.perf_counter()
    joined, busy = align(state[:n], turned[n:])
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    labels = transfer_both(*joined.spaces, types[:n], types[n:])
    print(f"{n:,} x {n:,} x 50: {seconds:.0f} s, CPU {busy:.0f} s, peak {peak:.2f} GiB, "
          f"{joined.solved.alignment.verdict.word}, labels {labels[0]:.3f} and {labels[1]:.3f}")  # fmt: skip


def draw_picture(data: Data, out: Path) -> None:
    import anndata

    from invarot import cells

    tables = []
    for key, points in (("X_pca", data[0]), ("X_lsi", data[1])):
        tables.append(anndata.AnnData(obsm={key: points}, obs={"type": data[2]}))
        tables[-1].obs_names = [f"cell{i}" for i in range(len(points))]
    cells.align(*tables)
    cells.plot(*tables, color="type").savefig(out / "cells.png", dpi=80)


def print_ceiling(data: Data) -> None:
    """Print how well classifiers that are given the true types learn them from one assay (10-fold cross-validation)."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    models = {
        "5 neighbours": KNeighborsClassifier(VOTERS), "linear discriminant": LinearDiscriminantAnalysis(), "SVM": SVC(C=10),
        "random forest": RandomForestClassifier(300, random_state=0),
    }  # fmt: skip
    for name, assay in zip(("RNA", "ATAC"), data, strict=False):
        for how in ("as is", "unit"):
            points = scale_rows(assay, how)
            found = {one: cross_val_score(model, points, data[2], cv=folds).mean() for one, model in models.items()}
            print(name, how, ", ".join(f"{one} {100 * share:.1f} %" for one, share in found.items()), sep=" | ")


class Table:
    """Rows of cells.csv, written as each is done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []

    def run(self, todo: list[tuple[str, str, Callable[[], dict[str, Any]]]], jobs: int) -> None:
        """Run what is not there yet; a case may name itself."""
        done = {(row["case"].split(" ")[0], row["draw"]) for row in self.rows} | {
            (row["case"], row["draw"]) for row in self.rows
        }
        with ProcessPoolExecutor(jobs) as pool:
            waiting = {pool.submit(run): (case, draw) for case, draw, run in todo if (case, draw) not in done}
            for future in as_completed(waiting):
                case, draw = waiting[future]
                self.add({"case": case, "draw": draw, **future.result()})

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        with self.path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, FIELDS, lineterminator="\n", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(self.rows)
        print(*(row.get(name, "") for name in FIELDS), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("simulated", "snare", "large", "picture", "ceiling"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--first", type=int, nargs="+", default=[1000])
    parser.add_argument("--cells", type=int, default=20_000, help="of each assay, for large")
    parser.add_argument("--only", default="all,halves,missing")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    if chosen.what == "large":
        run_large(chosen.cells)
    elif chosen.what == "picture":
        draw_picture(read_snare(chosen.data), chosen.out)
    elif chosen.what == "ceiling":
        print_ceiling(read_snare(chosen.data))
    elif chosen.what == "simulated":
        draws = [first + i for first in chosen.first for i in range(chosen.draws)]
        todo = [("simulated", str(draw), partial(run_simulated, draw)) for draw in draws]
        Table(chosen.out / "cells.csv").run(todo, chosen.jobs)
    else:
        todo = list(list_snare(read_snare(chosen.data), chosen.only.split(",")))
        Table(chosen.out / "cells.csv").run(todo, chosen.jobs)


if __name__ == "__main__":
    main()
