"""What each part of the refinement gains: P@1 with CSLS on gold dictionaries, from an unsupervised start.

    python benchmarks/refinement.py --data DATA --pairs 100-es 100-fr 100-de --seeds 1

DATA holds europarl100/, europarl300/ and muse/ (.npz of words and vectors; dictionaries ``source target`` a line).
Choices were made on the train split; the test split is only reported. Rows are shuffled by the seed before any fit.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import invarot
from invarot.arrays import Array, place
from invarot.retrieval import evaluate, refine

RECIPES: dict[str, dict[str, Any]] = {
    "start": {"rounds": 0},
    "whitened, s^0.5, de-whitened": {"weight": "uniform", "power": 0.5, "dewhiten": 1.0, "ridge": 0.0},
    "half de-whitened, s^1": {"weight": "uniform", "ridge": 0.0},
    "+ pairs weighted by rank of score": {"ridge": 0.0},
    "+ ridge 2 d/n": {},
}


def read(path: Path, words: int) -> tuple[list[str], np.ndarray[Any, Any]]:
    held = np.load(path, allow_pickle=False)
    return [str(w) for w in held["words"][:words]], held["vectors"][:words].astype(np.float32)


def unit(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9))


def prepare(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    x = unit(x)
    return unit(x - x.mean(axis=0))


def gold(path: Path, source: list[str], target: list[str]) -> dict[int, set[int]]:
    rows, columns = ({w: i for i, w in enumerate(words)} for words in (source, target))
    found: dict[int, set[int]] = {}
    for line in path.read_text(encoding="utf8").splitlines():
        parts = line.split()
        if len(parts) == 2 and parts[0] in rows and parts[1] in columns:
            found.setdefault(rows[parts[0]], set()).add(columns[parts[1]])
    return found


def scores(a: Array, b: Array, held: list[dict[int, set[int]]]) -> list[float]:
    """P@1 in %: train →, train ←, test →, test ←."""
    ways = [(a, b), (b, a), (a, b), (b, a)]
    return [100 * evaluate(*way, pairs, at=(1,)).precision[1] for way, pairs in zip(ways, held, strict=True)]


def measure(data: Path, pair: str, args: argparse.Namespace, seed: int) -> list[dict[str, Any]]:
    size, lang = pair.split("-")
    sides = [read(data / f"europarl{size}" / f"{name}.npz", args.fit_words) for name in ("en", lang)]
    rng = np.random.default_rng(seed)
    # frequent words first, their order destroyed: those the solve sees, the rest of the test vocabulary, the rest
    cuts = [0, args.start_words, args.words, args.fit_words]
    for side, (words, vectors) in enumerate(sides):
        parts = [np.arange(lo, max(lo, min(hi, len(words)))) for lo, hi in pairwise(cuts)]
        order = np.concatenate([rng.permutation(part) for part in parts])
        sides[side] = [words[k] for k in order], vectors[order]
    (source, raw_x), (target, raw_y) = sides
    top = args.words
    ways = [("en", lang, source[:top], target[:top]), (lang, "en", target[:top], source[:top])]
    splits = ("0-5000", "5000-6500")
    held = [gold(data / "muse" / f"{s}-{t}.{split}.txt", a, b) for split in splits for s, t, a, b in ways]
    x, y = (place(prepare(z[:top]), args.device) for z in (raw_x, raw_y))
    clock = time.perf_counter()
    start = invarot.align(x[: args.start_words], y[: args.start_words], rng=seed)
    solved = time.perf_counter() - clock
    rows = []
    for name, options in RECIPES.items():
        clock = time.perf_counter()
        found = refine(x, y, start.map, **options)
        seconds = time.perf_counter() - clock if name != "start" else solved
        rows.append((name, seconds, scores(x @ found.x_map, y @ found.y_map, held), len(found.history)))
    if args.fit_words > top:
        x, y = (place(prepare(z), args.device) for z in (raw_x, raw_y))
        lengths = [place(np.linalg.norm(z, axis=1), args.device) for z in (raw_x, raw_y)]
        for name, trust in (("the same on all words", None), ("+ lengths", (lengths[0], lengths[1]))):
            clock = time.perf_counter()
            found = refine(x, y, start.map, trust=trust)
            seconds = time.perf_counter() - clock
            mapped = x[:top] @ found.x_map, y[:top] @ found.y_map
            rows.append((f"{name} (≤ {args.fit_words})", seconds, scores(*mapped, held), len(found.history)))
    return [{"pair": pair, "seed": seed, "recipe": n, "seconds": t, "p@1": s, "rounds": r} for n, t, s, r in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", nargs="+", default=["100-es", "100-fr", "100-de"])
    parser.add_argument("--words", type=int, default=20_000, help="vocabulary retrieved from, each side")
    parser.add_argument("--fit-words", type=int, default=20_000, help="vocabulary fitted on, each side")
    parser.add_argument("--start-words", type=int, default=5_000, help="words the unsupervised start is solved on")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found: list[dict[str, Any]] = []
    for pair in args.pairs:
        for seed in range(args.seeds):
            found += measure(args.data, pair, args, seed)
            print(f"{pair} seed {seed} done", file=sys.stderr, flush=True)
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))
    print("| pair | recipe | train en→x | x→en | test en→x | x→en | sd of test | rounds | seconds |\n|" + "---|" * 9)
    for pair in args.pairs:
        for name in dict.fromkeys(row["recipe"] for row in found):
            rows = [row for row in found if (row["pair"], row["recipe"]) == (pair, name)]
            if not rows:
                continue
            p = np.array([row["p@1"] for row in rows])
            spread = " / ".join(f"{v:.2f}" for v in p[:, 2:].std(axis=0))
            cells = [
                *(f"{v:.1f}" for v in p.mean(axis=0)),
                spread,
                f"{np.mean([r['rounds'] for r in rows]):.1f}",
                f"{np.mean([r['seconds'] for r in rows]):.1f}",
            ]
            print(f"| {pair} | {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
