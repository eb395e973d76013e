"""What a verdict says of a map that is right but for some mirrored directions, and what would tell: the map refitted to its matches.

    python benchmarks/mirrored.py [--n 20000] [--d 100] [--out results]

The true map of the clouds of `million.py` with k directions mirrored sends most points to their right targets. *Refit*: the best map for the
mutual neighbours of 2,000 points.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from million import make
from provenance import header, write_page

from invarot.alignment.judging.judge import judge_map
from invarot.alignment.options import Schatten, Sinkhorn
from invarot.alignment.problem import pose, same_answer
from invarot.retrieval.nearest import find_mutual_nearest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--d", type=int, default=100)
    parser.add_argument("--mirrored", type=int, nargs="+", default=[0, 5, 10, 15, 20])
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    n, d = args.n, args.d
    x, y, turn, right = (one.numpy() for one in make(n, d, 0.3, "cpu")[:4])
    weights = np.full(n, 1 / n, np.float32)
    problem = pose(x, y, weights, weights, maps=Schatten(), solver=Sinkhorn())
    rng = np.random.default_rng(0)
    some = np.sort(rng.choice(n, 2000, replace=False))
    command = f"python benchmarks/mirrored.py --n {n} --d {d} --out results"
    lines = ["# A map that is right but for some mirrored directions", "", *header(command),
             "| directions mirrored | nearest targets right | map off | refit off | refit from the map | refit is another answer | verdict | split |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for k in args.mirrored:
        q = np.linalg.qr(rng.standard_normal((d, k)))[0]
        w = (turn - 2 * q @ (q.T @ turn)).astype(np.float32)
        there, mutual = find_mutual_nearest(x @ w, y, some)
        u, _, vt = np.linalg.svd(x[some[mutual]].T @ y[there[mutual]])
        refit = (u @ vt).astype(np.float32)
        verdict = judge_map(problem, w, np.random.default_rng(1))
        off, left, moved = (
            float(np.linalg.norm(one - two)) / d**0.5 for one, two in ((w, turn), (refit, turn), (refit, w))
        )
        lines.append(
            f"| {k} | {np.mean(there == right[some]):.1%} | {off:.2f} | {left:.2f} | {moved:.2f} | "
            f"{'no' if same_answer(problem, w, refit) else 'yes'} | {verdict.word} ({verdict.probability:.2f}) | {verdict.evidence.split:.2f} |"
        )
        print(lines[-1], flush=True)
    if args.out is not None:
        write_page(args.out / "mirrored.md", lines)


if __name__ == "__main__":
    main()
