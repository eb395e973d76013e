"""What ``start="auto"`` costs on easy problems, beside one plain solve of the same problem.

    OMP_NUM_THREADS=1 python benchmarks/auto_cost.py [--seeds 3]

Isometric copies with 5 % noise. A plain solve is one start: ``signature`` (which finds the answer here) or one ``random`` map
(which mostly does not). Processor seconds, one thread, the middle of the seeds; the solves of one problem take turns. Writes
auto_cost.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from synthetic import KINDS, cloud

import invarot
from invarot.alignment import challenge

SHAPES = ((200, 3), (200, 30), (1000, 3), (1000, 30), (2000, 100), (4000, 50))
WAYS = ("auto", "signature", "random")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    challenge.FEW = 0  # a plain solve is one start and no second opinion
    lines = ["# `start=\"auto\"` beside one plain solve, easy problems", "",
             f"    OMP_NUM_THREADS=1 python benchmarks/auto_cost.py --seeds {args.seeds}", "",
             "| cloud | n | d | auto, s | signature, s | random, s | auto / signature | auto / random | called aligned |",
             "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for n, d in SHAPES:
        for kind in KINDS:
            spent: dict[str, list[float]] = {way: [] for way in WAYS}
            aligned = 0
            for seed in range(args.seeds):
                rng = np.random.default_rng([seed, n, d])
                x = cloud(kind, n, d, rng, np.random.default_rng(seed))
                turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
                y = (x @ turn)[rng.permutation(n)]
                y = y + 0.05 * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape)
                for way in WAYS:
                    began = time.process_time()
                    result = invarot.align(x, y, start=way, rng=seed)
                    spent[way].append(time.process_time() - began)
                    aligned += way == "auto" and result.verdict.word == "aligned"
            auto, *others = (statistics.median(spent[way]) for way in WAYS)
            ratios = " | ".join(f"{auto / other:.2f}" for other in others)
            lines.append(f"| {kind} | {n} | {d} | {auto:.2f} | {others[0]:.2f} | {others[1]:.2f} | {ratios} "
                         f"| {aligned} of {args.seeds} |")  # fmt: skip
            print(lines[-1], flush=True)
            (args.out / "auto_cost.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
