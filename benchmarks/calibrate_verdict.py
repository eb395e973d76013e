"""Calibrate the verdict on problems whose answer is known, and test it on others.

    OMP_NUM_THREADS=1 python benchmarks/calibrate_verdict.py --part synthetic --jobs 12
    OMP_NUM_THREADS=1 python benchmarks/calibrate_verdict.py --part real --data DATA --jobs 12
    python benchmarks/calibrate_verdict.py --part fit              # fits the rule; --part report judges by the one there is

Good and bad solves are made on purpose: turned copies with noise, two samples of one distribution, and word vectors, solved
from ``start="auto"``, from random starts, from starts between the truth and chance, and clouds that have nothing to do with
each other. A solve is good when its map is about as near to the truth as that of a solve started there (twice its error, plus
0.1), or has 80 % of its right matches; between word spaces, 80 % of the right matches of the solve started at the supervised
map; cells, when 95 % get the right type. The rule, log-odds = bias + Σ weight·feature, each weight of the sign its feature
must have, is fitted on the calibration problems alone; dimensions, sizes, seeds and pairs of the test problems are others.
Writes verdict.synthetic.csv and verdict.real.csv (a row a solve, as each is done), and from both the rule that the library
reads (rule.json, or --rule) and verdict.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header, write_page
from scipy.optimize import minimize
from synthetic import KINDS, cloud, map_error

import invarot
from invarot.alignment.judging import rule
from invarot.alignment.judging.rule import RULE, decide, features
from invarot.alignment.verdict import Evidence
from invarot.geometry.orthogonal import polar
from invarot.words import Preprocessing, read_vectors

EVIDENCE = ("gain", "split", "surplus", "twins", "smooth", "points", "rivals", "better")
RULE_FILE = Path(rule.__file__).with_name("rule.json")
COPIES = {  # dimensions and points, seeds
    "calibration": (((3, 60), (3, 300), (10, 150), (40, 200), (80, 40), (2, 100), (5, 200), (20, 120), (60, 300), (100, 50)), (20, 21, 22)),
    "test": (((4, 80), (8, 250), (25, 100), (50, 400), (120, 60)), (40, 41, 42)),
}  # fmt: skip
SAMPLES = {
    "calibration": (((3, 60), (3, 200), (3, 500), (10, 60), (10, 200), (10, 500), (30, 60), (30, 200), (30, 500)), (0, 1, 2)),
    "test": (((5, 100), (5, 400), (20, 100), (20, 400)), (10, 11, 12)),
}  # fmt: skip
WORDS = {  # source, target, dictionary (None: the same word)
    "calibration": (
        ("europarl100/en", "europarl100/fr", "en-fr"), ("europarl300/en", "europarl300/fr", "en-fr"),
        ("europarl300/en", "glove/en-glove100", None), ("europarl100/en", "glove/en-glove50", None),
        ("europarl300/fr", "glove/fr-fasttext300", None), ("europarl100/fr", "glove/fr-fasttext300", None),
    ),
    "test": (
        ("europarl100/en", "europarl100/es", "en-es"), ("europarl100/en", "europarl100/de", "en-de"),
        ("europarl300/en", "europarl300/es", "en-es"), ("europarl300/en", "europarl300/de", "en-de"),
        ("navec/hudlit", "navec/news", None), ("glove/en-glove50", "glove/en-glove100", None),
        ("glove/en-glove100", "glove/fr-fasttext300", "en-fr"),
    ),
}  # fmt: skip
WAYS = ("supervised", "random", "random", "random", "mix 0.25", "mix 0.35", "mix 0.3", "signature", "fused", "auto")
Row = dict[str, Any]


def copies(split: str, kind: str, d: int, n: int, noise: float, seed: int, how: str) -> Row:
    """A turned, shuffled, noisy copy; or a cloud that is none."""
    rng = np.random.default_rng([seed, d, n, KINDS.index(kind)])
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    x = cloud(kind, n, d, rng, np.random.default_rng(seed))
    order = rng.permutation(n)
    y = (x @ turn)[order]
    if how == "unrelated":
        y = cloud(KINDS[(KINDS.index(kind) + seed) % 4], n, d, rng, np.random.default_rng(seed + 1))
    y = y + noise * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape)
    start: Row = {"start": "random"} if how == "random" else {"effort": "quick"}
    result = invarot.align(x, y, rng=seed, **start)
    good = False
    if how != "unrelated":
        best = invarot.align(x, y, start=turn)
        truth = np.argsort(order)
        share, most = (np.mean(one.matches() == truth) for one in (result, best))
        good = map_error(x, result.map, turn) <= 2 * map_error(x, best.map, turn) + 0.1 or share >= 0.8 * most
    return record(split, kind, f"d={d} n={n} noise={noise} {how}", seed, good, result)


def samples(split: str, kind: str, d: int, n: int, seed: int, how: str) -> Row | None:
    """Two samples of one distribution, no point in both; or of two. None where a solve started at the truth leaves it."""
    rng = np.random.default_rng([seed, n, d, KINDS.index(kind)])
    form = seed * 1000 + d
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    x = cloud(kind, n, d, rng, np.random.default_rng(form))
    other = form + 7 if how == "unrelated" else form
    y = cloud(kind, int(1.2 * n), d, rng, np.random.default_rng(other)) @ turn
    starts: dict[str, Row] = {"random": {"start": "random"}, "truth": {"start": turn}}
    result = invarot.align(x, y, rng=seed, **starts.get(how, {"effort": "quick"}))
    good = False
    if how != "unrelated":
        least = map_error(x, invarot.align(x, y, start=turn).map, turn)
        if least >= 0.5:
            return None
        good = map_error(x, result.map, turn) <= 2 * least + 0.1
    return record(split, f"samples {kind}", f"d={d} n={n} {how}", seed, good, result)


def words(
    data: Path, split: str, left: str, right: str, dictionary: str | None, how: str, seed: int, most: int = 2000
) -> Row:
    sides = []
    for side in (left, right):
        whole = read_vectors(data / f"{side}.npz")
        keep = [row for row, word in enumerate(whole.words) if word.isalpha() and len(word) > 1][:most]
        points = Preprocessing().fit_apply(whole.vectors[keep].astype(np.float32))[1]
        sides.append(({whole.words[row]: place for place, row in enumerate(keep)}, points.astype(np.float32)))
    (index_x, x), (index_y, y) = sides
    known = [(word, word) for word in index_x]
    if dictionary is not None:
        lines = (data / "muse" / f"{dictionary}.0-5000.txt").read_text(encoding="utf-8").splitlines()
        known = [(line.split()[0], line.split()[1]) for line in lines]
    truth: dict[int, set[int]] = {}
    for i, j in ((index_x[i], index_y[j]) for i, j in known if i in index_x and j in index_y):
        truth.setdefault(i, set()).add(j)
    rows, columns = (list(side) for side in zip(*((i, j) for i in truth for j in truth[i]), strict=True))
    supervised = polar(x[rows].T @ y[columns])

    def right_share(w: np.ndarray) -> float:
        found = np.argmax(x[list(truth)] @ w @ y.T, axis=1).tolist()
        return float(np.mean([j in truth[i] for i, j in zip(truth, found, strict=True)]))

    rng = np.random.default_rng(seed)
    order, chance = rng.permutation(len(x)), polar(rng.standard_normal(supervised.shape).astype(np.float32))
    start: Row = {"start": how, "rng": seed}
    if how == "auto":
        start = {"effort": "quick", "rng": seed}
    elif how in ("supervised", "random"):
        start = {"start": supervised if how == "supervised" else chance}
    elif how.startswith("mix"):
        share = float(how.split()[1])
        start = {"start": polar(share * supervised + (1 - share) * chance)}
    result = invarot.align(x[order], y, **start)
    bar = right_share(invarot.align(x, y, start=supervised).map)
    good = right_share(result.map) >= 0.8 * bar
    return record(split, f"{left}-{right}", f"{how} {right_share(result.map):.3f} of {bar:.3f}", seed, good, result)


def cells(data: Path, split: str, how: str, seed: int) -> Row:
    folder = data / "snare"
    x, y = (np.load(folder / f"SNAREseq_{assay}_feat.npy").astype(np.float64) for assay in ("atac", "rna"))
    kinds = np.loadtxt(folder / "SNAREseq_rna_types.txt", dtype=int)
    x, y = (points / np.linalg.norm(points, axis=1, keepdims=True) for points in (x, y))
    start: Row = {} if how == "auto" else {"start": how}
    result = invarot.align(x, y, translate=True, scale=True, rng=seed, **start)
    moved = result.transform(x)
    far = np.sum(moved**2, axis=1)[:, None] + np.sum(y**2, axis=1) - 2 * moved @ y.T
    voted = np.asarray([np.bincount(votes).argmax() for votes in kinds[np.argsort(far, axis=0)[:5]].T])
    right = float(np.mean(voted == kinds))
    return record(split, "snare", f"{how} {right:.3f}", seed, right >= 0.95, result)


def record(split: str, family: str, name: str, seed: int, good: bool, result: invarot.Alignment) -> Row:
    verdict = result.verdict
    row: Row = {"part": split, "family": family, "problem": name, "seed": seed, "good": int(good)}
    row.update({feature: getattr(verdict.evidence, feature) for feature in EVIDENCE})
    return {**row, "word": verdict.word, "probability": verdict.probability}


def synthetic_tasks(split: str) -> list[Callable[[], Row | None]]:
    shapes, seeds = COPIES[split]
    found: list[Callable[[], Row | None]] = [
        partial(copies, split, kind, d, n, noise, seed, how)
        for kind in KINDS
        for d, n in shapes
        for noise in (0.0, 0.1, 0.2)
        for seed in seeds
        for how in ("auto", "random", "unrelated")
    ]
    shapes, seeds = SAMPLES[split]
    return found + [
        partial(samples, split, kind, d, n, seed, how)
        for kind in ("clustered", "surface")
        for d, n in shapes
        for seed in seeds
        for how in ("truth", "auto", "random", "unrelated")
    ]


def real_tasks(split: str, data: Path) -> list[Callable[[], Row | None]]:
    found: list[Callable[[], Row | None]] = [
        partial(words, data, split, *pair, how, seed)
        for pair in WORDS[split]
        if all((data / f"{side}.npz").exists() for side in pair[:2])
        for seed, how in enumerate(WAYS)
    ]
    if split == "test" and (data / "snare").exists():
        found += [
            partial(cells, data, split, how, seed) for seed, how in enumerate(["auto", "signature"] + 8 * ["random"])
        ]
    return found


def call(task: Callable[[], Row | None]) -> Row | None:
    warnings.simplefilter("ignore")
    return task()


def write(path: Path, rows: Iterable[Row]) -> None:
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
    parser.add_argument("--part", choices=("synthetic", "real", "fit", "report"), default="report")
    parser.add_argument("--splits", nargs="+", default=["calibration", "test"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=int, help="only so many solves, spread over all")
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--rule", type=Path, default=RULE_FILE, help="where the fitted rule is written")
    args = parser.parse_args()
    if args.part in ("fit", "report"):
        rows: list[Row] = []
        for part in ("synthetic", "real"):
            with (args.out / f"verdict.{part}.csv").open() as file:
                rows += list(csv.DictReader(file))
        if args.part == "fit":
            fit_rule(rows, args.rule)
        report(rows, args.out)
        return
    tasks = [
        task
        for split in args.splits
        for task in (synthetic_tasks(split) if args.part == "synthetic" else real_tasks(split, args.data))
    ]
    tasks = tasks[:: max(1, len(tasks) // args.most)] if args.most else tasks
    with ProcessPoolExecutor(args.jobs) as pool:
        done = (future.result() for future in as_completed([pool.submit(call, task) for task in tasks]))
        write(args.out / f"verdict.{args.part}.csv", (row for row in done if row is not None))


def evidence(row: Row) -> Evidence:
    shares = {name: float(row[name]) for name in EVIDENCE}
    counts = {name: int(float(row[name])) for name in ("points", "rivals", "better")}
    return Evidence(**{**shares, **counts})  # type: ignore[arg-type]


def fit_rule(rows: list[Row], path: Path) -> None:
    """Fit the rule to the calibration rows, write it, and judge by it from here on; the thresholds stay."""
    symmetric = lambda row: row["good"] == "1" and int(row["rivals"])  # noqa: E731 -- right, and one of several
    bias, weights = fit([row for row in rows if row["part"] == "calibration" and not symmetric(row)])
    RULE.update(bias=round(bias, 2), weights=weights)
    path.write_text(json.dumps(RULE, indent=2) + "\n", encoding="utf-8")


def fit(rows: list[Row], penalty: float = 0.01) -> tuple[float, dict[str, float]]:
    """The logistic rule whose weights have the signs of today's; every family of problems counts alike."""
    table = np.asarray([list(features(evidence(row)).values()) for row in rows])
    good = np.asarray([float(row["good"]) for row in rows])
    families = [family(row) for row in rows]
    evenly = np.asarray([len(families) / len(set(families)) / families.count(name) for name in families])

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        odds = b[0] + table @ b[1:]
        slope = evenly * (1 / (1 + np.exp(-odds)) - good)
        value = np.sum(evenly * (np.logaddexp(0, odds) - good * odds)) + penalty / 2 * np.sum(b[1:] ** 2)
        return float(value), np.concatenate([[slope.sum()], table.T @ slope + penalty * b[1:]])

    signs = [(0, None) if weight > 0 else (None, 0) for weight in RULE["weights"].values()]
    best = minimize(loss, np.zeros(1 + len(signs)), jac=True, method="L-BFGS-B", bounds=[(None, None), *signs]).x
    return float(best[0]), dict(zip(RULE["weights"], best[1:].round(2).tolist(), strict=True))


def family(row: Row) -> str:
    name = str(row["family"])
    return name if name in KINDS or name.startswith("samples") else "real"


def report(rows: list[Row], out: Path) -> None:
    from sklearn.metrics import roc_auc_score

    lines = [
        "# The verdict: calibration and test", "",
        *header("OMP_NUM_THREADS=1 python benchmarks/calibrate_verdict.py --part synthetic --jobs 12",
                "OMP_NUM_THREADS=1 python benchmarks/calibrate_verdict.py --part real --data DATA --jobs 12",
                "python benchmarks/calibrate_verdict.py --part fit"),
        "Every solve: [verdict.synthetic.csv](verdict.synthetic.csv), [verdict.real.csv](verdict.real.csv).", "",
        f"The rule: bias {RULE['bias']}, weights {RULE['weights']}; "
        f"*aligned* from {RULE['aligned']}, *failed* below {RULE['failed']}.", "",
    ]  # fmt: skip
    part = {split: [row for row in rows if row["part"] == split] for split in COPIES}
    lines += ["| | solves | good | bad | AUC | bad called aligned | good called aligned | good called symmetric |",
              "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    wrong, missed = [], []
    for split, those in part.items():
        if not those:
            continue
        groups = {"all": those} | {
            name: [row for row in those if family(row) == name] for name in sorted({family(row) for row in those})
        }
        groups |= {
            name: [row for row in those if row["family"] == name]
            for name in sorted({str(row["family"]) for row in those if family(row) == "real"})
        }
        for name, group in groups.items():
            good = np.asarray([row["good"] == "1" for row in group])
            verdicts = [decide(evidence(row)) for row in group]
            chance = np.asarray([verdict.probability for verdict in verdicts])
            called = np.asarray([verdict.word == "aligned" for verdict in verdicts])
            symmetric = np.asarray([verdict.symmetric for verdict in verdicts])
            auc = f"{roc_auc_score(good, chance):.4f}" if 0 < good.sum() < len(good) else "–"
            fair = good & ~symmetric
            lines.append(f"| {split}: {name} | {len(group)} | {good.sum()} | {(~good).sum()} | {auc} | {(called & ~good).sum()} "
                         f"| {(called & fair).sum()} of {fair.sum()} ({(called & fair).sum() / max(fair.sum(), 1):.1%}) | {(good & symmetric).sum()} |")  # fmt: skip
            if name == "all":
                text = [
                    f"{row['family']} {row['problem']} seed {row['seed']}: {p:.2f}"
                    for row, p in zip(group, chance, strict=True)
                ]
                wrong += [f"{split}: {one}" for one, bad in zip(text, called & ~good, strict=True) if bad]
                missed += [
                    f"{split}: {one}" for one, low in zip(text, fair & (chance < RULE["failed"]), strict=True) if low
                ]
    lines += ["", "Bad solves called aligned:", "", *(f"- {one}" for one in wrong or ["none"]), ""]
    lines += ["Good solves called failed:", "", *(f"- {one}" for one in missed or ["none"])]
    print(write_page(out / "verdict.md", lines))


if __name__ == "__main__":
    main()
