"""The hard pair: English GloVe 100-d against French fastText 300-d, with nothing paired, or with a few pairs.

    python benchmarks/hard_pair.py                     # one shuffled run of the fused start (minutes on a laptop)
    python benchmarks/hard_pair.py --part shuffled --seeds 10
    python benchmarks/hard_pair.py --part ordered --seeds 10
    python benchmarks/hard_pair.py --part pairs --seeds 10
    python benchmarks/hard_pair.py --part starts       # how near each start comes, before any solve

A seed shuffles the rows and leaves out a random tenth of the words of each language. The objective is the mean
⟨xW, y⟩ of matched words; labels only score, they never choose. Data: the folder INVAROT_DATA, or shared/data beside
the checkout. Writes results/hard_pair.<part>.json.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from invarot.starts import STARTS
from invarot.starts.seeds import check_pairs

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("INVAROT_DATA", ROOT.parent / "shared" / "data"))


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


def precision(x: np.ndarray, y: np.ndarray, w: np.ndarray, test: dict[int, list[int]], k: int = 10) -> float:
    """P@1 in percent with CSLS over both whole vocabularies."""
    moved = x @ w
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    hub = np.concatenate([np.sort(part @ moved.T, axis=1)[:, -k:].mean(axis=1) for part in np.array_split(y, 8)])
    best = np.argmax(2 * (moved[list(test)] @ y.T) - hub[None, :], axis=1)
    return float(100 * np.mean([int(j) in test[i] for i, j in zip(test, best, strict=True)]))


def solve(
    x: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    *,
    epsilon: float,
    floor: float,
    decay: float,
    tail: int,
    known: Any = None,
) -> tuple[np.ndarray, float]:
    """The entropic alternation on unit vectors, plain; ``known`` is a moment of known pairs that is added each step."""
    n, g = x.shape[0], np.zeros(y.shape[0], np.float32)
    steps = int(np.ceil(np.log(floor / epsilon) / np.log(decay)))
    value = 0.0
    for step in range(steps + tail):
        eps = max(epsilon * decay**step, floor)
        z = ((x @ w) @ y.T + g) / np.float32(eps)
        z -= z.max(axis=1, keepdims=True)
        np.exp(z, out=z)
        z /= z.sum(axis=1, keepdims=True)
        u, v = np.ones(n, np.float32), np.ones(y.shape[0], np.float32)
        for _ in range(5):
            v = (n / y.shape[0]) / np.maximum(u @ z, 1e-30)
            u = 1 / np.maximum(z @ v, 1e-30)
        g = g + np.float32(eps) * np.log(v)
        moment = ((x * u[:, None]).T @ z) @ (v[:, None] * y) / n
        left, s, right = np.linalg.svd(moment if known is None else moment + known, full_matrices=False)
        w, value = left @ right, float(s.sum())
    return w, value


class Pair:
    def __init__(self) -> None:
        self.words_x, self.x = words_only(DATA / "glove" / "en-glove100.npz")
        self.words_y, self.y = words_only(DATA / "glove" / "fr-fasttext300.npz")
        self.train = gold("0-5000", self.words_x, self.words_y)
        self.test = gold("5000-6500", self.words_x, self.words_y)

    def first(self, rng: np.random.Generator, count: int, share: float = 0.9) -> tuple[np.ndarray, ...]:
        """A shuffled ``share`` of the first ``count`` words of each language: row numbers, then vectors."""
        ix, iy = (rng.permutation(count)[: int(share * count)] for _ in range(2))
        return ix, iy, unit(self.x[ix]), unit(self.y[iy])

    def finish(self, w: np.ndarray, count: int, epsilon: float) -> dict[str, float]:
        x, y = unit(self.x[:count]), unit(self.y[:count])
        w, value = solve(x, y, w, epsilon=epsilon, floor=0.02, decay=0.85, tail=10)
        return {"objective": round(value, 4), "p_at_1": round(precision(self.x, self.y, w, self.test), 1)}

    def supervised(self) -> np.ndarray:
        i = [i for i, many in self.train.items() for _ in many]
        j = [j for many in self.train.values() for j in many]
        left, _, right = np.linalg.svd(self.x[i].T @ self.y[j], full_matrices=False)
        return left @ right


def uniform(v: np.ndarray) -> np.ndarray:
    return np.full(len(v), 1 / len(v), v.dtype)


def unpaired(pair: Pair, seed: int, args: argparse.Namespace, *, ordered: bool) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    ix, iy, x, y = pair.first(rng, args.size)
    more: dict[str, Any] = {}
    if ordered:  # frequency ranks as side information
        more = {"side": (np.log(ix + 30.0), np.log(iy + 30.0)), "side_weight": 0.2}
    began = time.perf_counter()
    w = STARTS["fused"](x, y, uniform(x), uniform(y), rng=rng, sizes=None, **more)[0]
    took = time.perf_counter() - began
    row = {
        "seed": seed,
        "start_p_at_1": round(precision(pair.x, pair.y, w, pair.test), 1),
        "start_seconds": round(took),
    }
    return {**row, **pair.finish(w, args.words, args.last_epsilon)}


def paired(pair: Pair, seed: int, count: int, args: argparse.Namespace) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    pool = [(i, js[0]) for i, js in pair.train.items() if i < args.size and js[0] < args.size]
    chosen = np.asarray(pool)[rng.permutation(len(pool))[:count]] if count else np.zeros((0, 2), int)
    x, y = unit(pair.x[: args.size]), unit(pair.y[: args.size])
    known = None
    if count:
        i, j, _ = check_pairs(chosen, None, len(x), len(y))
        w = STARTS["seeds"](x, y, uniform(x), uniform(y), rng=rng, pairs=chosen)[0]
        known = args.pair_weight * x[i].T @ y[j] / count
        w, _ = solve(x, y, w, epsilon=0.2, floor=0.02, decay=0.9, tail=4, known=known)
    else:
        w = STARTS["fused"](x, y, uniform(x), uniform(y), rng=rng, sizes=None)[0]
    return {
        "k": count,
        "seed": seed,
        **pair.finish(w, args.words, args.last_epsilon),
    }  # the pairs did their part: all words weigh alike


def starts(pair: Pair, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Mean cosine ⟨W, W*⟩/d of each start to the supervised map (labels: to understand, not to choose)."""
    rng = np.random.default_rng(0)
    _, _, x, y = pair.first(rng, args.size)
    target = pair.supervised()
    rows = []
    for name, options in (
        ("random", {}), ("axes", {}), ("signature", {}), ("signature", {"match": "mutual"}),
        ("signature", {"powers": (0.5,)}), ("signature", {"standardise": False}), ("clusters", {}),
        ("fused", {"sizes": None, "prior_weight": 0.0}), ("fused", {"sizes": None}),
    ):  # fmt: skip
        maps = STARTS[name](x, y, uniform(x), uniform(y), rng=rng, **options)
        near = max(float(np.sum(w * target)) / 100 for w in maps)
        rows.append({"start": name, "options": {k: str(v) for k, v in options.items()}, "best_cosine": round(near, 3)})
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("shuffled", "ordered", "pairs", "starts"), default="shuffled")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first seed")
    parser.add_argument("--size", type=int, default=3000, help="words of the first stage")
    parser.add_argument("--words", type=int, default=5000, help="words of the last stage")
    parser.add_argument("--last-epsilon", type=float, default=0.06, help="first epsilon of the last stage")
    parser.add_argument("--counts", type=int, nargs="+", default=[5, 10, 20, 50, 100, 500])
    parser.add_argument("--pair-weight", type=float, default=0.1)
    args = parser.parse_args()
    pair = Pair()
    rows: list[dict[str, Any]] = []
    if args.part == "starts":
        rows = starts(pair, args)
    for seed in range(args.first, args.first + args.seeds) if args.part != "starts" else ():
        for count in args.counts if args.part == "pairs" else (0,):
            if args.part == "pairs":
                rows.append(paired(pair, seed, count, args))
            else:
                rows.append(unpaired(pair, seed, args, ordered=args.part == "ordered"))
            print(rows[-1], flush=True)
            out = ROOT / "results" / f"hard_pair.{args.part}.json"
            out.write_text(json.dumps({"settings": vars(args), "rows": rows}, indent=1) + "\n", encoding="utf-8")
    if args.part == "starts":
        (ROOT / "results" / "hard_pair.starts.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
