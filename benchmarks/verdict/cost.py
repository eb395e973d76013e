"""What judging costs beside the solve, in processor time.

OMP_NUM_THREADS=1 python -m benchmarks.verdict.cost

Copies, which are solved at once, and loose pairs, which are not. Writes results/verdict_cost.csv.
"""

from __future__ import annotations

import csv
import time
import warnings
from pathlib import Path

import numpy as np

import invarot
from invarot.alignment import align as door

PROBLEMS = (
    (100, 3, 0.1),
    (300, 10, 0.1),
    (300, 50, 0.1),
    (1000, 20, 0.1),
    (1000, 100, 0.1),
    (300, 10, 0.6),
    (1000, 20, 0.6),
    (100, 3, 1.2),
    (300, 10, 1.2),
)


def main() -> None:
    warnings.simplefilter("ignore")
    judge, spent = door.judge, [0.0]

    def timed(*args: object, **options: object) -> object:
        begin = time.process_time()
        try:
            return judge(*args, **options)  # type: ignore[arg-type]
        finally:
            spent[0] = time.process_time() - begin

    door.judge = timed  # type: ignore[assignment]
    with Path("results/verdict_cost.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["points", "dimensions", "noise", "word", "solve_s", "judging_s", "share"])
        for n, d, noise in PROBLEMS:
            rng = np.random.default_rng([n, d])
            x, turn = rng.gamma(2.0, size=(n, d)), np.linalg.qr(rng.standard_normal((d, d)))[0]
            y = (x @ turn)[rng.permutation(n)] + noise * rng.standard_normal((n, d))
            begin = time.process_time()
            result = invarot.align(x, y, translate=True)
            solve = time.process_time() - begin - spent[0]
            row = [n, d, noise, result.verdict.word, round(solve, 3), round(spent[0], 4), round(spent[0] / solve, 3)]
            writer.writerow(row)
            print(row)


if __name__ == "__main__":
    main()
