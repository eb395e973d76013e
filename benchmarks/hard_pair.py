"""The hard pair: English GloVe 100-d against French fastText 300-d, through ``align`` and nothing else.

    python benchmarks/hard_pair.py --part shuffled --seeds 10 [--device cuda]     # nothing known but the rows
    python benchmarks/hard_pair.py --part ordered --seeds 10                      # rows known to be in order of frequency
    python benchmarks/hard_pair.py --part pairs --seeds 10                        # k known pairs, for each of --counts
    python benchmarks/hard_pair.py --part starts                                  # how near each start comes

Tokens that are not words are dropped; unit → centre → unit. The solve sees the first 5,000 words of each language; a seed
leaves out a random part of them (--left-out, a tenth) and (unless ordered) destroys their order; with --then N the map is solved on with as
large a part of the first N words, in any order, nothing else known. P@1 in percent with CSLS over both whole
vocabularies, MUSE test split: after the solve, refitted (``refit=True``: an orthogonal map still, on the words of the solve
alone; the solve goes on from where it ended), and after the refinement by its own pairs among all words. Labels only score,
they never choose. Data: the folder INVAROT_DATA, or shared/data beside the checkout. Writes hard_pair.csv, a row a run.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import invarot
from invarot.arrays import place, to_numpy
from invarot.retrieval import refine
from invarot.retrieval.metrics import evaluate
from invarot.starts import STARTS

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("INVAROT_DATA", ROOT.parent / "shared" / "data"))
ON = invarot.Schedule(0.04, 0.85, 0.02, adaptive=True)  # from about where the first solve ended
FIELDS = ("part", "k", "seed", "start", "words", "left_out", "p_at_1", "refitted", "refined", "objective", "verdict", "probability",
          "seconds", "winner")  # fmt: skip


def words_only(path: Path) -> tuple[list[str], np.ndarray]:
    """Tokens that are words, most frequent first, with unit → centred → unit vectors."""
    file = np.load(path, allow_pickle=False)
    keep = np.asarray([word.isalpha() and len(word) > 1 for word in file["words"]])
    return file["words"][keep].tolist(), unit(file["vectors"][keep].astype(np.float32))


def unit(v: np.ndarray) -> np.ndarray:
    v = v / np.linalg.norm(v, axis=1, keepdims=True)
    v = v - v.mean(axis=0)
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def gold(split: str, words_x: list[str], words_y: list[str]) -> dict[int, list[int]]:
    ix, iy = ({word: i for i, word in enumerate(words)} for words in (words_x, words_y))
    found: dict[int, list[int]] = {}
    for line in (DATA / "muse" / f"en-fr.{split}.txt").read_text(encoding="utf-8").splitlines():
        source, target = line.split()
        if source in ix and target in iy:
            found.setdefault(ix[source], []).append(iy[target])
    return found


class Pair:
    def __init__(self, device: str) -> None:
        self.device = device
        (self.words_x, self.x), (self.words_y, self.y) = (
            words_only(DATA / "glove" / name) for name in ("en-glove100.npz", "fr-fasttext300.npz")
        )
        self.train = gold("0-5000", self.words_x, self.words_y)
        self.test = gold("5000-6500", self.words_x, self.words_y)

    def p_at_1(self, x: Any, y: Any) -> float:
        """Percent right of the test split; both whole vocabularies in one space."""
        asked = {row: set(columns) for row, columns in self.test.items()}
        return round(100 * evaluate(place(x, self.device), place(y, self.device), asked, at=(1,)).precision[1], 2)

    def supervised(self) -> np.ndarray:
        i = [i for i, many in self.train.items() for _ in many]
        j = [j for many in self.train.values() for j in many]
        left, _, right = np.linalg.svd(self.x[i].T @ self.y[j], full_matrices=False)
        return left @ right


def run(pair: Pair, part: str, count: int, seed: int, args: argparse.Namespace) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    kept = round((1 - args.left_out) * args.words)
    rows = [np.sort(rng.permutation(args.words)[:kept]) for _ in range(2)]
    if part != "ordered":
        rows = [rng.permutation(one) for one in rows]
    x, y = unit(pair.x[rows[0]]), unit(pair.y[rows[1]])
    more: dict[str, Any] = {"start": args.start}
    if args.start == "auto":
        more["effort"] = args.effort
    known: dict[str, Any] = {}
    weight = None
    if count:
        where = [{int(row): k for k, row in enumerate(one)} for one in rows]
        pool = [(where[0][i], where[1][j]) for i, js in pair.train.items() for j in js[:1]
                if i in where[0] and j in where[1]]  # fmt: skip
        known["seeds"] = np.asarray(pool)[rng.permutation(len(pool))[:count]]
        weight = min(1.0, args.pair_weight * count / args.words)
    began = time.perf_counter()
    both = [place(x, args.device), place(y, args.device)]
    search = invarot.Search(ordered=part == "ordered", seed_weight=weight)
    result = invarot.align(*both, rng=seed, search=search, **known, **more)
    if args.then:
        rows = [rng.permutation(args.then)[: round((1 - args.left_out) * args.then)] for _ in range(2)]
        both = [place(unit(points[one]), args.device) for points, one in zip((pair.x, pair.y), rows, strict=True)]
        result = invarot.align(*both, start=to_numpy(result.map), rng=seed, solver=invarot.Sinkhorn(schedule=ON))
        known, weight = {}, None
    seconds = time.perf_counter() - began
    w = to_numpy(result.map)
    last = invarot.Sinkhorn(schedule=result.history[-1].epsilon, refit=True)
    search = invarot.Search(seed_weight=weight)
    better = to_numpy(invarot.align(*both, start=w, rng=seed, solver=last, search=search, **known).map)
    found = refine(place(pair.x, args.device), place(pair.y, args.device), place(w, args.device))
    left, right = (to_numpy(one) for one in (found.x_map, found.y_map))
    return {
        "part": part, "k": count, "seed": seed, "start": args.start, "words": max(args.words, args.then), "left_out": args.left_out, "p_at_1": pair.p_at_1(pair.x @ w, pair.y),
        "refitted": pair.p_at_1(pair.x @ better, pair.y), "refined": pair.p_at_1(pair.x @ left, pair.y @ right), "objective": round(result.objective, 4),
        "verdict": result.verdict.word, "probability": round(result.verdict.probability, 4),
        "seconds": round(seconds, 1),
        "winner": max((one for one in result.starts if one.finished), key=lambda one: one.objective).name,
    }  # fmt: skip


def uniform(v: np.ndarray) -> np.ndarray:
    return np.full(len(v), 1 / len(v), v.dtype)


def starts(pair: Pair) -> None:
    """Mean cosine ⟨W, W*⟩/d of each start to the supervised map (labels: to understand, not to choose)."""
    rng = np.random.default_rng(0)
    x, y = unit(pair.x[rng.permutation(3000)]), unit(pair.y[rng.permutation(3000)])
    target = pair.supervised()
    for name, options in (
        ("random", {}), ("axes", {}), ("signature", {}), ("signature", {"match": "mutual"}),
        ("signature", {"powers": (0.5,)}), ("signature", {"standardise": False}), ("clusters", {}),
        ("fused", {"sizes": None, "prior_weight": 0.0}), ("fused", {"sizes": None}),
    ):  # fmt: skip
        maps = STARTS[name](x, y, uniform(x), uniform(y), rng=rng, **options)
        print(name, options, round(max(float(np.sum(w * target)) / 100 for w in maps), 3), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("shuffled", "ordered", "pairs", "starts"), default="shuffled")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first seed")
    parser.add_argument("--words", type=int, default=5000, help="words of each language that the solve sees")
    parser.add_argument("--left-out", type=float, default=0.1, help="share of those words that a seed leaves out")
    parser.add_argument("--then", type=int, default=0, help="words on which that map is solved on (0: none)")
    parser.add_argument("--start", default="auto")
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--counts", type=int, nargs="+", default=[5, 10, 20, 50, 100, 500])
    parser.add_argument("--pair-weight", type=float, default=10.0, help="how many words a known pair counts for")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=ROOT / "results")
    args = parser.parse_args()
    warnings.simplefilter("ignore", invarot.NotConverged)
    pair = Pair(args.device)
    if args.part == "starts":
        starts(pair)
        return
    path = args.out / "hard_pair.csv"
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if fresh:
            writer.writeheader()
        for seed in range(args.first, args.first + args.seeds):
            for count in args.counts if args.part == "pairs" else (0,):
                row = run(pair, args.part, count, seed, args)
                writer.writerow(row)
                file.flush()
                print(row, flush=True)


if __name__ == "__main__":
    main()
