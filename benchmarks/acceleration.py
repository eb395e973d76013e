"""Accelerated against plain Sinkhorn sweeps on 400 random problems: sweeps, kernels built, errors where none finishes.

python benchmarks/acceleration.py --out results/acceleration.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from invarot.experiments.provenance import describe_commit
from invarot.transport.cost import BlockedCost
from invarot.transport.sinkhorn import Potentials, sinkhorn

FRACTIONS = (0.3, 0.05, 0.01, 1e-3, 1e-4)  # epsilon over the mean cost
LIMIT = 1000


class Counting(BlockedCost):
    """Counts the kernels it builds: each costs a matrix product and the exponentials."""

    built = 0

    def _absorb(self, v: Any) -> None:
        self.built += 1
        super()._absorb(v)


def problem(seed: int, dtype: str) -> tuple[Any, ...]:
    """Any sizes and dimensions: two Gaussians, one moved, noisy copies in two places, or points of a sphere."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(5, 200, 2)
    d = rng.integers(1, 20)
    z, y = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + (0.5 if seed % 4 == 1 else 0)
    if seed % 4 == 2:
        y = np.concatenate([z, z + 5])[rng.integers(0, 2 * n, m)] + 0.1 * rng.standard_normal((m, d))
    if seed % 4 == 3:
        z, y = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (z, y))
    a, b = rng.uniform(0.2, 1, n), rng.uniform(0.2, 1, m)
    if seed % 3 == 0:  # weights over many orders of magnitude
        a, b = rng.uniform(0, 1, n) ** 6 + 1e-12, rng.uniform(0, 1, m) ** 6 + 1e-12
    nonsense = 5 * rng.standard_normal((1, m))
    return tuple(part.astype(dtype) for part in (z, y, a / a.sum(), b / b.sum(), nonsense))


def compare(seed: int, dtype: str, fraction: float, nonsense: bool) -> dict[str, Any]:
    z, y, a, b, far = problem(seed, dtype)
    scale = 2 / (fraction * float(np.mean(((z[:, None] - y) ** 2).sum(2))))
    tol = 1e-4 if dtype == "float32" else 1e-6
    row: dict[str, Any] = {"seed": seed, "dtype": dtype, "fraction": fraction, "nonsense": nonsense}
    for name, accelerate in (("plain", False), ("accelerated", True)):
        cost = Counting(z[None], y, scale, a, b)
        warm = Potentials(None, far if nonsense else 0 * far, None, 0)
        found = sinkhorn(cost, a, b, warm=warm, tol=tol, max_iter=LIMIT, accelerate=accelerate)
        row |= {
            f"{name}_sweeps": found.iterations,
            f"{name}_kernels": cost.built,
            f"{name}_error": float(found.error[0]),
        }
    return row


def summarise(rows: list[dict[str, Any]]) -> dict[str, Any]:
    def total(name: str, some: list[dict[str, Any]]) -> int:
        return int(sum(row[name] for row in some))

    both = [row for row in rows if row["plain_sweeps"] < LIMIT]
    slow = [row for row in both if row["plain_sweeps"] >= 100]
    return {
        "problems": len(rows),
        "sweeps, plain and accelerated": [total("plain_sweeps", rows), total("accelerated_sweeps", rows)],
        "kernels, plain and accelerated": [total("plain_kernels", rows), total("accelerated_kernels", rows)],
        f"finished in {LIMIT} sweeps": [len(both), sum(row["accelerated_sweeps"] < LIMIT for row in rows)],
        "median ratio of sweeps where plain took 100 or more and finished": float(
            np.median([row["plain_sweeps"] / row["accelerated_sweeps"] for row in slow])
        ),
        "worst ratio of sweeps (accelerated over plain, plus 2)": max(
            row["accelerated_sweeps"] / (row["plain_sweeps"] + 2) for row in rows
        ),
        "worst ratio of kernels": max(row["accelerated_kernels"] / row["plain_kernels"] for row in rows),
        "most kernels more": max(row["accelerated_kernels"] - row["plain_kernels"] for row in rows),
        "worst ratio of errors where neither finished": max(
            row["accelerated_error"] / row["plain_error"]
            for row in rows
            if min(row["plain_sweeps"], row["accelerated_sweeps"]) == LIMIT
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    rows = [
        compare(seed, dtype, fraction, nonsense)
        for dtype in ("float64", "float32")
        for seed in range(options.seeds)
        for fraction in FRACTIONS
        for nonsense in (False, True)
    ]
    command = f"python benchmarks/acceleration.py --seeds {options.seeds}"
    found = {"command": command, "commit": describe_commit(), **summarise(rows)}
    print(json.dumps(found, indent=1))
    if options.out is not None:
        options.out.write_text(json.dumps({**found, "rows": rows}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
