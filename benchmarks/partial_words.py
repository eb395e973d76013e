"""Vocabularies of which only a part corresponds: Europarl English and Spanish, 40 % of the words of each side removed.

    OMP_NUM_THREADS=1 python benchmarks/partial_words.py --data DATA --seeds 3

``random``: any words; ``region``: whole clusters of k-means, other ones on either side, as a corpus of another domain lacks its own.
Writes a row a run: P@1 (CSLS) on the words whose translation (MUSE) is left, of the map of the whole vocabularies (*full*), of
``align`` on the rest with all mass matched (*none*) and with ``overlap="auto"`` (*auto*), all among the same targets; the estimated
overlap; the mean matched weight of the words of the dictionary with and without a translation that is left.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import invarot
from invarot.retrieval.kmeans import kmeans
from invarot.retrieval.neighbours import neighbours

FIELDS = ("removed", "seed", "n", "m", "queries", "method", "precision", "overlap_x", "overlap_y", "listed", "with", "without",
          "verdict", "cpu")  # fmt: skip
REGIONS = 20
ORDERED = invarot.Search(ordered=True)


def read_words(data: Path, language: str, count: int) -> tuple[list[str], np.ndarray]:
    with np.load(data / "europarl100" / f"{language}.npz", allow_pickle=False) as file:
        return file["words"][:count].tolist(), file["vectors"][:count].astype(np.float64)


def prepare(vectors: np.ndarray) -> np.ndarray:
    """Unit length, centred, unit length."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = unit - unit.mean(axis=0)
    return unit / np.linalg.norm(unit, axis=1, keepdims=True)


def keep_rows(vectors: np.ndarray, removed: str, rng: np.random.Generator) -> np.ndarray:
    """The rows that are left, in order: about 60 %."""
    n = len(vectors)
    if removed == "random":
        return np.sort(rng.permutation(n)[: round(0.6 * n)])
    points = prepare(vectors)
    centres, _ = kmeans(points, np.full(n, 1 / n), REGIONS, rng=rng)
    labels = np.argmax(points @ centres.T - np.sum(centres**2, axis=1) / 2, axis=1)
    gone = np.zeros(n, dtype=bool)
    for region in rng.permutation(REGIONS):
        if np.sum(gone | (labels == region)) <= 0.42 * n:
            gone |= labels == region
    return np.flatnonzero(~gone)


def read_gold(data: Path) -> dict[str, set[str]]:
    gold: dict[str, set[str]] = {}
    for part in ("0-5000", "5000-6500"):
        for line in (data / "muse" / f"en-es.{part}.txt").read_text().splitlines():
            left, right = line.split()
            gold.setdefault(left, set()).add(right)
    return gold


def score(z: np.ndarray, y: np.ndarray, tests: dict[int, set[int]]) -> float:
    queries = np.asarray(list(tests))
    found = neighbours(z, y, method="csls", k=1, queries=queries)[0][:, 0]
    return float(np.mean([int(j) in tests[int(i)] for i, j in zip(queries, found, strict=True)]))


def run(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    (source, e), (target, s), gold = (
        read_words(args.data, "en", args.words),
        read_words(args.data, "es", args.words),
        read_gold(args.data),
    )
    full = invarot.align(prepare(e), prepare(s), search=ORDERED)
    for seed in range(args.first, args.first + args.seeds):
        for removed in args.removed:
            rng = np.random.default_rng([seed, removed == "region"])
            rows_x, rows_y = keep_rows(e, removed, rng), keep_rows(s, removed, rng)
            place = {target[j]: number for number, j in enumerate(rows_y)}
            left = {i: {place[word] for word in gold[source[row]] if word in place}
                    for i, row in enumerate(rows_x) if source[row] in gold}  # fmt: skip
            tests = {i: found for i, found in left.items() if found}
            x, y = prepare(e[rows_x]), prepare(s[rows_y])
            row = {"removed": removed, "seed": seed, "n": len(x), "m": len(y), "queries": len(tests),
                   "listed": round(len(tests) / len(left), 4)}  # fmt: skip
            yield row | {
                "method": "full",
                "precision": round(score(prepare(e)[rows_x] @ full.map, prepare(s)[rows_y], tests), 4),
            }
            for overlap in (None, "auto"):
                began = time.process_time()
                found = invarot.align(x, y, overlap=overlap, search=ORDERED, rng=seed)
                done = {"method": overlap or "none", "verdict": found.verdict.word, "cpu": round(time.process_time() - began, 1),
                        "precision": round(score(x @ found.map, y, tests), 4)}  # fmt: skip
                if found.overlap is not None:
                    orphans = [i for i, words in left.items() if not words]
                    done |= {"overlap_x": round(found.overlap[0], 4), "overlap_y": round(found.overlap[1], 4),
                             "with": round(float(found.matched_x[list(tests)].mean()), 4),
                             "without": round(float(found.matched_x[orphans].mean()), 4)}  # fmt: skip
                yield row | done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with europarl100/ and muse/")
    parser.add_argument("--words", type=int, default=3000, help="of each side, before any are removed")
    parser.add_argument("--removed", nargs="+", choices=("random", "region"), default=["random", "region"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=1, help="number of the first seed; 0 was looked at before")
    parser.add_argument("--out", type=Path, default=Path("results/partial_words.csv"))
    args = parser.parse_args()
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
