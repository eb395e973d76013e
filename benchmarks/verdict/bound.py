"""What any function of the evidence could reach: gradient boosting, fitted to other problems of the same families.

    python -m benchmarks.verdict.bound

Reads results/raw/verdict.development.csv. A problem is judged by trees that were fitted without it, on all evidence. The threshold lets
through exactly as many of the wrong ones as is allowed: the shares are what no rule fitted elsewhere can be expected to pass.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from zlib import crc32

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from .fit import WRONG_ALIGNED, WRONG_COARSE, Table

FOLDS = 5


def boost(features: np.ndarray, good: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Log-odds of each row by trees fitted to the other folds."""
    odds = np.zeros(len(good))
    for one in range(FOLDS):
        out = fold == one
        trees = HistGradientBoostingClassifier(
            max_iter=120, learning_rate=0.07, max_leaf_nodes=8, min_samples_leaf=15, l2_regularization=3, random_state=0
        ).fit(features[~out], good[~out])
        odds[out] = trees.decision_function(features[out])
    return odds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raw", type=Path, default=Path("results/raw"))
    table = Table(parser.parse_args().raw / "verdict.development.csv")
    names = (
        "split",
        "twins",
        "points",
        "rivals",
        "better",
        "nearer",
        "drift",
        "shape",
        "crowding",
        "density",
        "dimensions",
    )
    features = np.stack([table.number(name) for name in names], axis=1)
    fold = np.asarray([crc32(f"{row['family']} {row['seed']}".encode()) % FOLDS for row in table.rows])
    beaten = (table.number("better") > 0) | (table.number("rivals") > 0)
    wrong, barred = ~table.good, table.degenerate | beaten
    for name, truth, share, asked in (
        ("right ones aligned", table.right, WRONG_ALIGNED, table.right & ~beaten),
        ("coarse ones coarse or aligned", table.good, WRONG_COARSE, table.good & ~table.right & ~beaten),
    ):
        odds = np.where(barred, -np.inf, boost(features, truth, fold))
        edge = np.sort(odds[wrong])[::-1][int(share * wrong.sum())]
        print(f"{name}: {np.mean(odds[asked] > edge):.1%} of {asked.sum()}, at {share:.1%} of {wrong.sum()} wrong ones")


if __name__ == "__main__":
    main()
