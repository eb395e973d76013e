"""Real pairs with nothing known, through ``align``: languages, two corpora of one language, two dimensions, two assays.

    python benchmarks/pairs.py --data DATA --pairs navec glove snare --seeds 20 [--device cuda]
    python benchmarks/pairs.py --data DATA --pairs europarl100-es europarl300-es --seeds 20

    europarl100-es, -fr, -de, europarl300-es, -fr, -de   English to another language; the MUSE test split scores
    navec   Russian, 300-d, two corpora; the right answer is the same word
    glove   English, GloVe 50-d against 100-d; the right answer is the same word
    snare   SNARE-seq, the same 1,047 cells by two assays (19-d and 10-d)

Words: unit → centre → unit; the solve sees the first --words of each side, their order destroyed by the seed, and goes on from
that map with the first --then; P@1 in percent with CSLS over both whole vocabularies (Europarl: 20,000 words): of the map
(*score*), of the map refitted (``refit=True``: still orthogonal, on the words of the solve alone; the solve goes on from
where it ended), and after refinement by its own pairs among all words (*refined*).
*supervised* is the orthogonal map of all words that are in both, or of the MUSE training split. Cells: unit length, as SCOT
prepares them, and a scale and a translation allowed; FOSCTTM is the mean share of cells nearer than the true match, both
ways; label transfer is the accuracy of the five nearest cells of the other assay. Writes pairs.csv, a row a run.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import invarot
from invarot.arrays import as_like, place, to_numpy
from invarot.retrieval.metrics import evaluate
from invarot.retrieval.refine import refine
from invarot.words import Preprocessing, Vectors, read_vectors

WORDS = {"navec": ("navec/hudlit", "navec/news"), "glove": ("glove/en-glove50", "glove/en-glove100")} | {
    f"{name}-{language}": (f"{name}/en", f"{name}/{language}")
    for name in ("europarl100", "europarl300")
    for language in ("es", "fr", "de")
}
MOST = 20000  # words of a Europarl vocabulary
FIELDS = ("pair", "seed", "words", "score", "refitted", "refined", "supervised", "label_transfer", "verdict", "probability",
          "objective", "seconds")  # fmt: skip
ON = invarot.Schedule(0.04, 0.85, 0.01, adaptive=True)  # from where the first solve ended, to half its last epsilon
Gold = dict[int, set[int]]


@cache
def spaces(name: str, data: Path) -> tuple[np.ndarray, np.ndarray, Gold, np.ndarray]:
    """Both clouds, what scores, and the supervised map."""
    language = name.split("-")[1] if "-" in name else None
    sides: list[Vectors] = [read_vectors(data / f"{side}.npz", max_words=MOST) for side in WORDS[name]]
    x, y = (Preprocessing().fit_apply(side.vectors)[1] for side in sides)
    index = [side.index() for side in sides]
    found: list[Gold] = []
    for split in ("0-5000", "5000-6500") if language else ("",):
        lines = [(word, word) for word in index[0]]
        if language:
            text = (data / "muse" / f"en-{language}.{split}.txt").read_text(encoding="utf-8")
            lines = [(line.split()[0], line.split()[1]) for line in text.splitlines()]
        gold: Gold = {}
        for source, target in lines:
            if source in index[0] and target in index[1]:
                gold.setdefault(index[0][source], set()).add(index[1][target])
        found.append(gold)
    known = [(i, j) for i, many in found[0].items() for j in many]
    rows, columns = (list(side) for side in zip(*known, strict=True))
    u, _, vt = np.linalg.svd(x[rows].T @ y[columns], full_matrices=False)
    return x, y, found[-1], u @ vt


@cache
def supervised(name: str, data: Path, device: str) -> float:
    x, y, gold, w = spaces(name, data)
    return score(place(x @ w, device), place(y, device), gold)


def score(x: Any, y: Any, gold: Gold) -> float:
    return round(100 * evaluate(x, y, gold, at=(1,)).precision[1], 2)


def words(name: str, seed: int, args: argparse.Namespace) -> dict[str, Any]:
    x, y, gold, _ = spaces(name, args.data)
    rng = np.random.default_rng(seed)
    first = [rng.permutation(min(args.words, len(points))) for points in (x, y)]
    began = time.perf_counter()
    both = [place(points[rows], args.device) for points, rows in zip((x, y), first, strict=True)]
    result = invarot.align(*both, rng=seed)
    if args.then:
        more = [rng.permutation(min(args.then, len(points))) for points in (x, y)]
        both = [place(points[rows], args.device) for points, rows in zip((x, y), more, strict=True)]
        result = invarot.align(*both, start=to_numpy(result.map), rng=seed, solver=invarot.Sinkhorn(schedule=ON))
    seconds = time.perf_counter() - began
    last = invarot.Sinkhorn(schedule=result.history[-1].epsilon, refit=True)
    refitted = invarot.align(*both, start=to_numpy(result.map), rng=seed, solver=last)
    x, y = place(x, args.device), place(y, args.device)
    better = refine(x, y, as_like(result.map, x))
    scores = {
        "words": max(args.words, args.then),
        "score": score(x @ as_like(result.map, x), y, gold),
        "refitted": score(x @ as_like(refitted.map, x), y, gold),
        "refined": score(x @ better.x_map, y @ better.y_map, gold),
        "supervised": supervised(name, args.data, args.device),
    }
    return {**row(name, seed, result, seconds), **scores}


def cells(seed: int, args: argparse.Namespace) -> dict[str, Any]:
    folder = args.data / "snare"
    x, y = (np.load(folder / f"SNAREseq_{assay}_feat.npy").astype(np.float64) for assay in ("atac", "rna"))
    kinds = np.loadtxt(folder / "SNAREseq_rna_types.txt", dtype=int)
    x, y = (points / np.linalg.norm(points, axis=1, keepdims=True) for points in (x, y))
    order = np.random.default_rng(seed).permutation(len(y))
    began = time.perf_counter()
    result = invarot.align(x, y[order], translate=True, scale=True, rng=seed)
    seconds = time.perf_counter() - began
    moved = to_numpy(result.transform(x))
    far = np.sum(moved**2, axis=1)[:, None] + np.sum(y**2, axis=1) - 2 * moved @ y.T
    true = far.diagonal()
    closer = (np.mean(far < true[:, None]) + np.mean(far < true)) / 2
    nearest = kinds[np.argsort(far, axis=0)[:5]]  # of each cell of the target, five cells of the source
    voted = np.asarray([np.bincount(votes).argmax() for votes in nearest.T])
    found = {"score": round(float(closer), 4), "label_transfer": round(float(np.mean(voted == kinds)), 4)}
    return {**row("snare", seed, result, seconds), **found}


def row(name: str, seed: int, result: invarot.Alignment, seconds: float) -> dict[str, Any]:
    verdict = result.verdict
    return {
        "pair": name, "seed": seed, "verdict": verdict.word, "probability": round(verdict.probability, 4),
        "objective": round(result.objective, 5), "seconds": round(seconds, 1),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", nargs="+", choices=(*WORDS, "snare"), default=[*WORDS, "snare"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first seed")
    parser.add_argument("--words", type=int, default=5000, help="words of each side that the solve sees")
    parser.add_argument(
        "--then", type=int, default=0, help="words of each side on which that map is solved on (0: none)"
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    warnings.simplefilter("ignore", invarot.NotConverged)
    path = args.out / "pairs.csv"
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if fresh:
            writer.writeheader()
        for seed in range(args.first, args.first + args.seeds):
            for name in args.pairs:
                found = cells(seed, args) if name == "snare" else words(name, seed, args)
                writer.writerow(found)
                file.flush()
                print(found, flush=True)


if __name__ == "__main__":
    main()
