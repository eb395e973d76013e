"""How far the answers for one, two and four ranks are apart: gloo, float64, small clouds whose plans use all of their sweeps.

    python benchmarks/ranks_agree.py --seeds 6 --out results/ranks_agree.json

Four processes solve every problem on groups of one, two and four of them, by search on a sample of 600 rows and then on all rows.
Writes for each problem the largest difference between entries of the maps, whether verdict and matches are the same, and the sweeps.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import invarot
from invarot import distributed
from invarot.experiments.provenance import describe_commit

RANKS = 4
SIZES = (
    (900, 800, 8, 0.02),
    (900, 400, 5, 0.05),
    (900, 900, 6, 0.03),
    (300, 280, 5, 0.05),
    (300, 200, 10, 1.0),
)  # n, m, d, noise


def make(n: int, m: int, d: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A cloud, and m of its points turned, shuffled, with noise."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(2.0, size=(n, d)) * np.linspace(2.0, 1.0, d)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return x, x[rng.permutation(n)[:m]] @ turn + noise * rng.standard_normal((m, d))


def solve(rank: int, meet: str, first: int, seeds: int) -> list[dict[str, Any]]:
    """One of the processes; the rows of the first."""
    import torch.distributed as dist

    sys.modules["invarot.distributed.align"].SAMPLE = 600  # type: ignore[attr-defined]
    dist.init_process_group("gloo", init_method=f"file://{meet}", rank=rank, world_size=RANKS)
    groups = {count: dist.new_group(list(range(count))) for count in (1, 2, 4)}
    rows = []
    for seed in range(first, first + seeds):
        for size in SIZES:
            x, y = make(*size, seed)
            found, sweeps = {}, {}
            for count, group in groups.items():
                if rank < count:
                    seen: list[int] = []
                    part = distributed.align(
                        x[len(x) * rank // count : len(x) * (rank + 1) // count],
                        y,
                        group=group,
                        on_step=lambda step, seen=seen: seen.append(step.inner_iterations),
                    )
                    found[count], sweeps[count] = distributed.gather(part, group=group), sum(seen)
            if rank == 0:
                one, others = found[1], (found[2], found[4])
                rows.append({
                    "size": size, "seed": seed, "sweeps": sweeps, "verdict": one.verdict.word,
                    "apart": max(float(np.abs(other.map - one.map).max()) for other in others),
                    "same_verdict": all(other.verdict.word == one.verdict.word for other in others),
                    "same_matches": all(np.array_equal(other.matches("plan"), one.matches("plan")) for other in others),
                })  # fmt: skip
                print(rows[-1], file=sys.stderr, flush=True)
    dist.destroy_process_group()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--meet", help=argparse.SUPPRESS)
    args = parser.parse_args()
    warnings.simplefilter("ignore", invarot.NotConverged)
    if args.rank is not None:
        print(json.dumps(solve(args.rank, args.meet, args.first, args.seeds)))
        return
    commit = describe_commit()
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            __file__,
            "--meet",
            f"{folder}/meet",
            "--seeds",
            str(args.seeds),
            "--first",
            str(args.first),
        ]
        running = [
            subprocess.Popen(
                [*command, "--rank", str(rank)],
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(RANKS)
        ]
        printed = [one.communicate()[0] for one in running]
    rows = json.loads(printed[0].splitlines()[-1])
    apart = [row["apart"] for row in rows]
    summary = {
        "commit": commit, "command": f"python benchmarks/ranks_agree.py --seeds {args.seeds}", "problems": len(rows),
        "within 1e-8": sum(one <= 1e-8 for one in apart), "largest": max(apart), "median": float(np.median(apart)),
        "same verdict": sum(row["same_verdict"] for row in rows), "same matches": sum(row["same_matches"] for row in rows),
        "sweeps of one rank": sum(row["sweeps"]["1"] for row in rows), "rows": rows,
    }  # fmt: skip
    print(json.dumps({key: value for key, value in summary.items() if key != "rows"}))
    if args.out is not None:
        args.out.write_text(json.dumps(summary) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
