"""Calibrate the verdict on problems whose answer is known, and test it on others.

    OMP_NUM_THREADS=1 python benchmarks/calibrate_verdict.py [--data DATA] [--out results]

Good and bad solves are made on purpose: the same problems from ``start="auto"``, from one random start, and between clouds
that have nothing to do with each other. A solve is good when its map is about as near to the truth as one started there
(twice its error, plus 0.1); between word spaces, when its matches are right on 80 % of what a supervised map gets. The rule,
log-odds = bias + Σ weight·evidence, is fitted on the calibration problems alone; dimensions, sizes and, with --data,
language pairs of the test problems are disjoint from them. Writes verdict.csv and verdict.md.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from synthetic import KINDS, cloud, map_error

import invarot
from invarot.alignment.verdict import WEIGHTS, Evidence, features
from invarot.words import Preprocessing, read_vectors

EVIDENCE = ("gain", "split", "mutual", "cycle")
SPLITS = {"calibration": ((3, 60), (3, 300), (10, 150), (40, 200)), "test": ((2, 100), (5, 200), (20, 120), (60, 300))}
WORDS = {
    "calibration": (("europarl100", "en", "fr"), ("europarl300", "en", "fr")),
    "test": (
        ("europarl100", "en", "es"),
        ("europarl100", "en", "de"),
        ("europarl300", "en", "es"),
        ("europarl300", "en", "de"),
    ),
}


def synthetic_solve(task: tuple[str, str, int, int, float, int, str]) -> dict[str, object]:
    split, kind, d, n, noise, seed, how = task
    rng = np.random.default_rng([seed, d, n, KINDS.index(kind)])
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    x = cloud(kind, n, d, rng, np.random.default_rng(seed))
    order = rng.permutation(n)
    y = (x @ turn)[order]
    if how == "unrelated":
        y = cloud(KINDS[(KINDS.index(kind) + 1) % 4], n, d, rng, np.random.default_rng(seed + 1))
    y = y + noise * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape)
    start = {"start": "random"} if how == "random" else {"effort": "quick"}
    result = invarot.align(x, y, rng=seed, **start)
    good = False
    if how != "unrelated":
        best = invarot.align(x, y, start=turn)
        good = map_error(x, result.map, turn) <= 2 * map_error(x, best.map, turn) + 0.1
    return record(split, f"{kind} d={d} n={n} noise={noise} {how}", good, result)


def record(split: str, name: str, good: bool, result: invarot.Alignment) -> dict[str, object]:
    evidence = result.verdict.evidence
    row: dict[str, object] = {
        "part": split,
        "problem": name,
        "good": int(good),
        "symmetric": int(result.verdict.symmetric),
    }
    row.update({feature: getattr(evidence, feature) for feature in EVIDENCE}, rivals=evidence.rivals)
    return row


def word_solves(data: Path, split: str) -> list[dict[str, object]]:
    rows = []
    for folder, left, right in WORDS[split]:
        sides = [read_vectors(data / folder / f"{side}.npz", max_words=2000) for side in (left, right)]
        x, y = (Preprocessing().fit_apply(side.vectors)[1] for side in sides)
        index = [side.index() for side in sides]
        lines = (data / "muse" / f"{left}-{right}.0-5000.txt").read_text().split("\n")
        known = [line.split() for line in lines if len(line.split()) == 2]
        pairs = np.asarray([(index[0][i], index[1][j]) for i, j in known if i in index[0] and j in index[1]])
        u, _, vt = np.linalg.svd(x[pairs[:, 0]].T @ y[pairs[:, 1]])
        truth: dict[int, set[int]] = {}
        for i, j in pairs.tolist():
            truth.setdefault(i, set()).add(j)

        def right_share(
            w: np.ndarray, x: np.ndarray = x, y: np.ndarray = y, truth: dict[int, set[int]] = truth
        ) -> float:
            found = np.argmax(x[list(truth)] @ w @ y.T, axis=1).tolist()
            return float(np.mean([j in truth[i] for i, j in zip(truth, found, strict=True)]))

        bar = 0.8 * right_share(u @ vt)
        for seed in range(4):
            rng = np.random.default_rng(seed)
            order = rng.permutation(2000)
            for how, options in (("auto", {"effort": "quick"}), ("random", {"start": "random"})):
                result = invarot.align(x[order], y, rng=seed, **options)
                rows.append(record(split, f"{folder} {left}-{right} {how}", right_share(result.map) >= bar, result))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--refit", action="store_true", help="fit again to the rows of an earlier run")
    args = parser.parse_args()
    if args.refit:
        with (args.out / "verdict.csv").open() as file:
            report([{**row, "symmetric": int(row["symmetric"])} for row in csv.DictReader(file)], args)
        return
    warnings.simplefilter("ignore")
    tasks = [
        (split, kind, d, n, noise, seed, how)
        for split, shapes in SPLITS.items()
        for kind in KINDS
        for d, n in shapes
        for noise in (0.0, 0.1, 0.2)
        for seed in range(args.seeds)
        for how in ("auto", "random", "unrelated")
    ]
    with ProcessPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(synthetic_solve, tasks, chunksize=4))
    if args.data:
        rows += [row for split in WORDS for row in word_solves(args.data, split)]
    with (args.out / "verdict.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    report(rows, args)


def weighed(row: dict[str, object]) -> list[float]:
    """The features of the rule, in its order."""
    shares = {name: float(row[name]) for name in EVIDENCE}  # type: ignore[arg-type]
    found = features(Evidence(**shares, agreement=1.0, rivals=0, marginal_error=0.0))
    return [found[name] for name in WEIGHTS]


def family(row: dict[str, object]) -> str:
    name = str(row["problem"]).split()[0]
    return name if name in KINDS else "words"


def report(rows: list[dict[str, object]], args: argparse.Namespace) -> None:
    clear = [row for row in rows if not row["symmetric"]]
    part = {split: [row for row in clear if row["part"] == split] for split in SPLITS}
    table = {s: np.asarray([weighed(row) for row in part[s]]) for s in SPLITS}
    good = {s: np.asarray([int(row["good"]) for row in part[s]]) for s in SPLITS}
    families = [family(row) for row in part["calibration"]]
    evenly = np.asarray([len(families) / len(set(families)) / families.count(name) for name in families])
    rule = LogisticRegression(C=100.0, max_iter=5000).fit(
        table["calibration"], good["calibration"], sample_weight=evenly
    )
    before = rule.predict_proba(table["calibration"])[:, 1][good["calibration"] == 0].max()
    weights = dict(zip(WEIGHTS, rule.coef_[0].round(2).tolist(), strict=True))
    chance = rule.predict_proba(table["test"])[:, 1]
    right = good["test"] == 1
    data = " --data DATA" if args.data else ""
    lines = [
        "# The verdict: calibration and test", "",
        f"    OMP_NUM_THREADS=1 python benchmarks/calibrate_verdict.py{data}", "",
        f"bias {rule.intercept_[0]:.2f}, weights {weights}; each family of problems counts alike", "",
        f"The surest bad solve of the calibration problems has probability {before:.3f}.", "",
        "| | solves | good | bad | called symmetric, left out |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for split in SPLITS:
        out = sum(row["part"] == split for row in rows) - len(part[split])
        lines.append(f"| {split} | {len(part[split])} | {good[split].sum()} | {(1 - good[split]).sum()} | {out} |")
    lines += ["", f"Test AUC: {roc_auc_score(right, chance):.4f}", "",
              "| aligned above | bad solves called aligned | good solves called aligned |", "|---|---|---|"]  # fmt: skip
    for level in (0.5, 0.8, 0.88, 0.9, 0.95):
        called = chance >= level
        lines.append(f"| {level} | {int((called & ~right).sum())} of {int((~right).sum())} "
                     f"| {int((called & right).sum())} of {int(right.sum())} ({(called & right).sum() / right.sum():.1%}) |")  # fmt: skip
    wrong = [(row["problem"], round(float(p), 3)) for row, p, ok in zip(part["test"], chance, right, strict=True)
             if not ok and p >= 0.5]  # fmt: skip
    lines += ["", f"Bad solves with a probability above one half: {wrong or 'none'}"]
    text = "\n".join(lines) + "\n"
    (args.out / "verdict.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
