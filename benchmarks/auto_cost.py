"""What ``start="auto"`` costs on easy problems, beside one plain solve of the same problem.

    OMP_NUM_THREADS=1 python benchmarks/auto_cost.py [--seeds 3] [--sizes 1000] [--ways auto signature]

Isometric copies with 5 % noise. A plain solve is one start: ``signature`` (which finds the answer here) or one ``random`` map
(which mostly does not). Processor seconds, one thread, the middle of the seeds; the solves of one problem take turns. Writes
auto_cost.md.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from provenance import header, write_page
from synthetic import KINDS, cloud

import invarot

SHAPES = ((200, 3), (200, 30), (1000, 3), (1000, 30), (2000, 100), (4000, 50))
WAYS = ("auto", "signature", "random")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=sorted({n for n, _ in SHAPES}))
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = ["# `start=\"auto\"` beside one plain solve, easy problems", "",
             *header(f"OMP_NUM_THREADS=1 python benchmarks/auto_cost.py --seeds {args.seeds} --ways {' '.join(args.ways)}"),
             "| cloud | n | d | auto, s | signature, s | random, s | auto / signature | auto / random | called aligned |",
             "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for n, d in (shape for shape in SHAPES if shape[0] in args.sizes):
        for kind in KINDS:
            spent: dict[str, list[float]] = {way: [] for way in args.ways}
            aligned = 0
            for seed in range(args.seeds):
                rng = np.random.default_rng([seed, n, d])
                x = cloud(kind, n, d, rng, np.random.default_rng(seed))
                turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
                y = (x @ turn)[rng.permutation(n)]
                y = y + 0.05 * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape)
                for way in args.ways:
                    began = time.process_time()
                    result = invarot.align(x, y, start=way, rng=seed)
                    spent[way].append(time.process_time() - began)
                    aligned += way == "auto" and result.verdict.word == "aligned"
            middle = {way: statistics.median(spent[way]) if way in spent else math.nan for way in WAYS}
            seconds = " | ".join(_shown(middle[way]) for way in WAYS)
            ratios = " | ".join(_shown(middle["auto"] / middle[way]) for way in WAYS[1:])
            lines.append(f"| {kind} | {n} | {d} | {seconds} | {ratios} | {aligned} of {args.seeds} |")
            print(lines[-1], flush=True)
            write_page(args.out / "auto_cost.md", lines)


def _shown(number: float) -> str:
    return "–" if math.isnan(number) else f"{number:.2f}"


if __name__ == "__main__":
    main()
