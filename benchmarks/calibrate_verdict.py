"""Calibrate the verdict on problems whose answer is known, and test it on others.

    OMP_NUM_THREADS=1 python benchmarks/calibrate_verdict.py --part synthetic --seeds 3 --jobs 14
    OMP_NUM_THREADS=1 python benchmarks/calibrate_verdict.py --part words --data DATA --jobs 9
    python benchmarks/calibrate_verdict.py --part fit

Good and bad solves are made on purpose: the same problems from ``start="auto"``, from one random start, and between clouds
that have nothing to do with each other (another distribution, or another sample of a distribution of the kind). A solve is good when its map is about as near to the truth as one started there
(twice its error, plus 0.1), or when it has 80 % of its matches; between word spaces, when its matches are right on 80 % of
what a supervised map gets. The rule,
log-odds = bias + Σ weight·evidence, is fitted on the calibration problems alone; dimensions, sizes and, with --data,
language pairs of the test problems are disjoint from them. Writes verdict.synthetic.csv, verdict.words.csv (a row a solve,
as each is done), and from both verdict.md.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np
from synthetic import KINDS, cloud, map_error

import invarot
from invarot.alignment.verdict import WEIGHTS, Evidence, features
from invarot.words import Preprocessing, read_vectors

EVIDENCE = ("gain", "split", "surplus", "twins", "smooth", "mutual", "cycle")
SPLITS = {  # dimensions and points
    "calibration": ((3, 60), (3, 300), (10, 150), (40, 200), (80, 40)),
    "test": ((2, 100), (5, 200), (20, 120), (60, 300), (100, 50)),
}
WORDS = {  # source, target, dictionary (None: the same word)
    "calibration": (("europarl100/en", "europarl100/fr", "en-fr"), ("europarl300/en", "europarl300/fr", "en-fr")),
    "test": (
        ("europarl100/en", "europarl100/es", "en-es"),
        ("europarl100/en", "europarl100/de", "en-de"),
        ("europarl300/en", "europarl300/es", "en-es"),
        ("europarl300/en", "europarl300/de", "en-de"),
        ("navec/hudlit", "navec/news", None),
        ("glove/en-glove50", "glove/en-glove100", None),
        ("glove/en-glove100", "glove/fr-fasttext300", "en-fr"),
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
        y = cloud(KINDS[(KINDS.index(kind) + seed) % 4], n, d, rng, np.random.default_rng(seed + 1))
    y = y + noise * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape)
    start = {"start": "random"} if how == "random" else {"effort": "quick"}
    result = invarot.align(x, y, rng=seed, **start)
    good = False
    if how != "unrelated":
        best = invarot.align(x, y, start=turn)
        truth = np.argsort(order)
        share, most = (np.mean(one.matches() == truth) for one in (result, best))
        good = map_error(x, result.map, turn) <= 2 * map_error(x, best.map, turn) + 0.1 or (share >= 0.8 * most)
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


def word_solves(data: Path, jobs: int) -> Iterator[dict[str, object]]:
    tasks = [(data, split, *pair) for split, pairs in WORDS.items() for pair in pairs]
    with ProcessPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(pair_solves, *task) for task in tasks]):
            yield from done.result()


def pair_solves(
    data: Path, split: str, left: str, right: str, dictionary: str | None, words: int = 2000
) -> list[dict[str, object]]:
    """From ``auto``, from random starts, and from the supervised map, which must be known for right."""
    sides = [read_vectors(data / f"{side}.npz", max_words=words) for side in (left, right)]
    x, y = (Preprocessing().fit_apply(side.vectors)[1] for side in sides)
    index = [side.index() for side in sides]
    if dictionary is None:
        known = [(word, word) for word in index[0]]
    else:
        lines = (data / "muse" / f"{dictionary}.0-5000.txt").read_text(encoding="utf-8").splitlines()
        known = [(line.split()[0], line.split()[1]) for line in lines]
    pairs = np.asarray([(index[0][i], index[1][j]) for i, j in known if i in index[0] and j in index[1]])
    u, _, vt = np.linalg.svd(x[pairs[:, 0]].T @ y[pairs[:, 1]], full_matrices=False)
    truth: dict[int, set[int]] = {}
    for i, j in pairs.tolist():
        truth.setdefault(i, set()).add(j)

    def right_share(w: np.ndarray) -> float:
        found = np.argmax(x[list(truth)] @ w @ y.T, axis=1).tolist()
        return float(np.mean([j in truth[i] for i, j in zip(truth, found, strict=True)]))

    warnings.simplefilter("ignore")
    rows = []
    bar = 0.8 * right_share(u @ vt)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(x))
        ways = {"auto": {"effort": "quick"}, "random": {"start": "random"}, "supervised": {"start": u @ vt}}
        for how, options in ways.items():
            if how == "supervised" and seed:
                continue
            result = invarot.align(x[order], y, rng=seed, **options)
            rows.append(record(split, f"{left}-{right} {how}", right_share(result.map) >= bar, result))
    return rows


def write(path: Path, rows: Iterable[dict[str, object]]) -> None:
    """Row by row, as they come."""
    with path.open("w", newline="") as file:
        writer = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row))
                writer.writeheader()
            writer.writerow(row)
            file.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("synthetic", "words", "fit"), default="fit")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("results"))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.part == "synthetic":
        tasks = [
            (split, kind, d, n, noise, seed, how)
            for split, shapes in SPLITS.items()
            for kind in KINDS
            for d, n in shapes
            for noise in (0.0, 0.1, 0.2)
            for seed in range(args.first, args.first + args.seeds)
            for how in ("auto", "random", "unrelated")
        ]
        with ProcessPoolExecutor(args.jobs) as pool:
            write(args.out / "verdict.synthetic.csv", pool.map(synthetic_solve, tasks))
    elif args.part == "words":
        write(args.out / "verdict.words.csv", word_solves(args.data, args.jobs))
    else:
        rows: list[dict[str, object]] = []
        for part in ("synthetic", "words"):
            with (args.out / f"verdict.{part}.csv").open() as file:
                rows += [{**row, "symmetric": int(row["symmetric"])} for row in csv.DictReader(file)]
        report(rows, args.out)


def weighed(row: dict[str, object]) -> list[float]:
    """The features of the rule, in its order."""
    shares = {name: float(row[name]) for name in EVIDENCE}  # type: ignore[arg-type]
    found = features(Evidence(**shares, agreement=1.0, rivals=0, marginal_error=0.0))
    return [found[name] for name in WEIGHTS]


def family(row: dict[str, object]) -> str:
    name = str(row["problem"]).split()[0]
    return name if name in KINDS else "words"


def report(rows: list[dict[str, object]], out: Path) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

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
    lines = [
        "# The verdict: calibration and test", "",
        "    OMP_NUM_THREADS=1 python benchmarks/calibrate_verdict.py --part synthetic --seeds 3 --jobs 14",
        "    OMP_NUM_THREADS=1 python benchmarks/calibrate_verdict.py --part words --data DATA --jobs 9",
        "    python benchmarks/calibrate_verdict.py --part fit", "",
        f"bias {rule.intercept_[0]:.2f}, weights {weights}; each family of problems counts alike", "",
        f"The surest bad solve of the calibration problems has probability {before:.3f}.", "",
        "| | solves | good | bad | called symmetric, left out |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for split in SPLITS:
        left_out = sum(row["part"] == split for row in rows) - len(part[split])
        lines.append(f"| {split} | {len(part[split])} | {good[split].sum()} | {(1 - good[split]).sum()} | {left_out} |")
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
    (out / "verdict.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
