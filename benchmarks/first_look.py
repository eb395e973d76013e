"""What the first look of a signature start takes, and whether it is right: clouds of 3,000 points whose answer is known.

    OMP_NUM_THREADS=1 python benchmarks/first_look.py --seeds 2 --out results/first_look.csv

Each cloud is looked at beside turned, shuffled copies of itself (noise 0, 0.1 and 0.2 of its standard deviation), a second sample of
its distribution and a cloud of another kind: no map of the last two can be plainly right. A row a look: ``twins`` is the share of
points whose nearest target under the map is their own, ``most`` the same under the true map.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from synthetic import KINDS, cloud

from invarot.retrieval.nearest import nearest
from invarot.starts.glance import PROFILED_ROWS, try_quick_map
from invarot.starts.profiles import subsample

POINTS = 2 * PROFILED_ROWS


def looks(kind: str, d: int, seed: int) -> Iterator[dict[str, Any]]:
    """One cloud, five targets."""
    number = KINDS.index(kind)
    rng = np.random.default_rng([seed, d, number])
    x = cloud(kind, POINTS, d, rng, np.random.default_rng(seed))
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    order = rng.permutation(POINTS)
    spread = np.sqrt(np.mean(np.var(x, axis=0)))
    targets = {
        f"copy, noise {noise}": (x @ turn)[order] + noise * spread * rng.standard_normal(x.shape)
        for noise in (0.0, 0.1, 0.2)
    }
    targets["second sample"] = cloud(kind, POINTS, d, rng, np.random.default_rng(seed)) @ turn
    targets["unrelated"] = cloud(KINDS[(number + 1 + seed) % 4], POINTS, d, rng, np.random.default_rng(seed + 1))
    for name, y in targets.items():
        left, right = (points.astype(np.float32) for points in (x, y))
        even = np.full(POINTS, 1 / POINTS, np.float32)
        (xs, a, _), (ys, b, _) = (subsample(points, even, None) for points in (left, right))
        w = try_quick_map(xs, ys, a, b, quantiles=128, epsilon=0.05)
        row: dict[str, Any] = {"kind": kind, "d": d, "seed": seed, "target": name, "taken": int(w is not None)}
        if w is not None and name.startswith("copy"):
            row["twins"], row["most"] = (
                round(float(np.mean(nearest(left @ one, right) == np.argsort(order))), 4)
                for one in (w, turn.astype(np.float32))
            )
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    rows = [
        row
        for seed in range(options.seeds)
        for d in (2, 3, 10, 30, 100)
        for kind in KINDS
        for row in looks(kind, d, seed)
    ]
    copies = [row for row in rows if row["target"].startswith("copy")]
    taken = [row for row in copies if row["taken"]]
    print(f"copies taken: {len(taken)} of {len(copies)}, of their points at their twins at least "
          f"{min(row['twins'] for row in taken):.0%}; others taken: {sum(row['taken'] for row in rows) - len(taken)} of "
          f"{len(rows) - len(copies)}")  # fmt: skip
    if options.out is not None:
        with options.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["kind", "d", "seed", "target", "taken", "twins", "most"])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
