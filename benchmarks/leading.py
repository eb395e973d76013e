"""How many starts of the race in few dimensions end at the right answer: random rotations beside patterns of signs.

    python benchmarks/leading.py --data DATA [--pair minilm-wordllama] [--axes 8 12] [--starts 1000]

DATA/text holds models of 18,000 texts. Centroids of rows 0–7,999 of one and 8,000–15,999 of the other, in their leading axes,
are annealed from every start; the right answer is where the supervised map (16,000 pairs) ends, and a start has found it if its map has a
cosine of 0.9 with that. Prints a table.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header

from invarot.geometry.orthogonal import polar
from invarot.retrieval.kmeans import kmeans
from invarot.starts.axes import top_axes
from invarot.starts.leading import END_EPSILON, RACE_DECAY, RACE_EPSILON, anneal, rank_signs, third_moment


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pair", default="minilm-wordllama")
    parser.add_argument("--axes", type=int, nargs="+", default=[8])
    parser.add_argument("--starts", type=int, default=1000)
    args = parser.parse_args()
    x, y = (load(args.data / "text" / f"{name}.npy") for name in args.pair.split("-"))
    truth = polar(x[:16_000].T @ y[:16_000])
    print("\n".join(header(f"python benchmarks/leading.py --data DATA --pair {args.pair}")))
    print(f"{args.pair}; epsilon falls to {END_EPSILON} by {RACE_DECAY} a step\n")
    print("| axes | starts | number | first epsilon | right | rank of the best right one |\n|---|---|---|---|---|---|")
    for k in args.axes:
        rng = np.random.default_rng(0)
        weights = np.full(8000, 1 / 8000, dtype=np.float32)
        sides = [(points, top_axes(points, weights, k)) for points in (x[:8000], y[8000:16_000])]
        (cx, a), (cy, b) = (kmeans(p @ v, weights, 200, rng=rng, rounds=5, spread=False) for p, v in sides)
        right = anneal(cx, cy, a, b, polar(sides[0][1].T @ truth @ sides[1][1])[None], 0.1, END_EPSILON, least=1).maps[
            0
        ]
        signs = rank_signs(third_moment(cx, a) * third_moment(cy, b))[: args.starts]
        turns = {
            "random rotations": polar(rng.standard_normal((args.starts, k, k)).astype(np.float32)),
            "signs": (signs[:, :, None] * np.eye(k)).astype(np.float32),
        }
        for name, maps in turns.items():
            for first in (0.3, RACE_EPSILON):
                ends = anneal(cx, cy, a, b, maps, first, END_EPSILON, least=len(maps)).maps
                found = np.flatnonzero(np.sum(ends * right, axis=(1, 2)) / k > 0.9)
                rank = found[0] + 1 if len(found) else "–"
                print(f"| {k} | {name} | {len(maps)} | {first} | {len(found)} | {rank} |", flush=True)


def load(path: Path) -> Any:
    rows = np.load(path).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
