"""Fit the rule of the verdict to the development families.

    python -m benchmarks.verdict.fit

Reads results/raw/verdict.development.csv and writes src/invarot/alignment/judging/rule.json. A solve is *right* when at most
5 % of the points lie nearer to an image than its counterpart (FOSCTTM ≤ 0.05), *coarse* when at most 20 % do or 90 % of the
labels (the mean over the labels) are transferred, else *wrong*. Two linear models of the same features: log-odds of right
(``fine``) and log-odds of right or coarse (``right``). Weights have the sign that their evidence must have; every family counts
alike. Copies, which are not compared with reflections, have two models of their own. Thresholds come from predictions of families left out, and so does the resolution: the FOSCTTM that goes with the sum of the
two probabilities.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from invarot.alignment.judging import rule
from invarot.alignment.verdict import Evidence

RULE_FILE = Path(rule.__file__).with_name("rule.json")
COUNTS = ("points", "rivals", "better")
SIGNS = {"nearer": 1, "shape": 1, "crowding": 1, "drift": 1, "density": 1, "near": -1, "better": -1, "rivals": -1}
COMMON = ("near", "better", "rivals")
NAMES = {  # the features of each model; that crowded places meet crowded ones says that a map is right, not how finely
    "fine": ("nearer", "drift", "shape", "crowding", *COMMON),
    "right": ("nearer", "drift", "shape", "crowding", "density", *COMMON),
    "copy fine": COMMON, "copy right": COMMON,
}  # fmt: skip
FINE, COARSE, LABELS = 0.05, 0.2, 0.9
WRONG_ALIGNED, WRONG_COARSE = 0.003, 0.01  # of the wrong ones of families left out, what thresholds may let through
TAIL = 0.04  # share of the wrong ones from which this is extrapolated
PENALTY = 3.0
KNOTS = 20


class Table:
    """The rows of a group: features, truth and families."""

    def __init__(self, rows: Path | list[dict[str, Any]]) -> None:
        if isinstance(rows, Path):
            with rows.open(newline="") as file:
                rows = list(csv.DictReader(file))
        self.rows = rows
        self.evidence = [read_evidence(row) for row in rows]
        self.features = np.asarray([[rule.features(one)[name] for name in SIGNS] for one in self.evidence])
        self.family = np.asarray([row["family"] for row in rows])
        self.foscttm, self.related = self.number("foscttm"), self.number("related") == 1
        labels = np.nan_to_num(self.number("transfer"))
        self.right = self.related & (self.foscttm <= FINE)
        self.good = self.right | self.related & ((self.foscttm <= COARSE) | (labels >= LABELS))
        self.degenerate = self.number("degenerate") == 1
        self.copies = np.asarray([rule.is_copy(one) for one in self.evidence])
        self.target = np.log(self.foscttm + 0.5 / self.number("points"))

    def number(self, name: str) -> np.ndarray:
        return np.asarray([float(row[name]) for row in self.rows])

    def keep(self, rows: np.ndarray) -> Table:
        return Table([self.rows[k] for k in np.flatnonzero(rows)])


def read_evidence(row: dict[str, Any]) -> Evidence:
    names = Evidence.__dataclass_fields__
    return Evidence(**{name: int(float(row[name])) if name in COUNTS else float(row[name]) for name in names})


def even_weights(families: np.ndarray) -> np.ndarray:
    """Weights under which every family counts alike; their mean is 1."""
    _, place, count = np.unique(families, return_inverse=True, return_counts=True)
    return len(families) / len(count) / count[place]


def fit_odds(
    features: np.ndarray, good: np.ndarray, weights: np.ndarray, names: tuple[str, ...], penalty: float = PENALTY
) -> np.ndarray:
    """Bias and weights of the logistic rule, each weight of its sign, 0 for features that are not among ``names``."""
    scale = features.std(axis=0) + 1e-9

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        odds = b[0] + features @ (b[1:] / scale)
        slope = weights * (1 / (1 + np.exp(-odds)) - good)
        value = np.sum(weights * (np.logaddexp(0, odds) - good * odds)) + penalty / 2 * np.sum(b[1:] ** 2)
        value += (
            np.logaddexp(0, b[0]) + np.logaddexp(0, -b[0])
        ) / 2  # half a solve of each kind, so that nothing is certain
        rise = slope.sum() + 1 / (1 + np.exp(-b[0])) - 0.5
        return float(value), np.concatenate([[rise], features.T @ slope / scale + penalty * b[1:]])

    ranges = {1: (0, None), -1: (None, 0)}
    bounds = [(None, None), *(ranges[sign] if name in names else (0, 0) for name, sign in SIGNS.items())]
    found = minimize(loss, np.zeros(1 + features.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds).x
    return np.concatenate([found[:1], found[1:] / scale])


def fit_parts(table: Table, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Bias and weights of the models, "copy" before the names of those of copies."""
    found = {}
    for kind, chosen in (("", rows & ~table.copies), ("copy ", rows & table.copies)):
        weights = even_weights(table.family[chosen])
        for name, good in (("fine", table.right), ("right", table.good)):
            found[kind + name] = fit_odds(table.features[chosen], good[chosen], weights, NAMES[kind + name])
    return found


def predict(table: Table, parts: dict[str, np.ndarray], rows: np.ndarray) -> dict[str, np.ndarray]:
    odds = {name: part[0] + table.features[rows] @ part[1:] for name, part in parts.items()}
    found = {}
    for name in ("fine", "right"):
        chosen = np.where(table.copies[rows], odds[f"copy {name}"], odds[name])
        found[name] = np.where(table.degenerate[rows], 0.0, 1 / (1 + np.exp(-chosen)))
    found["right"] = np.maximum(found["right"], found["fine"])
    return found


def leave_out(table: Table) -> dict[str, np.ndarray]:
    """Predictions for every row by a rule fitted without its family."""
    found = {name: np.zeros(len(table.rows)) for name in ("fine", "right")}
    for family in np.unique(table.family):
        out = table.family == family
        for name, values in predict(table, fit_parts(table, ~out & ~table.degenerate), out).items():
            found[name][out] = values
    return found


def allow(odds: np.ndarray, share: float) -> float:
    """The probability that at most this share of the log-odds reaches, two digits, rounded up; at least one half.

    Read off an exponential tail fitted to the highest `TAIL` of them: the highest alone would decide else.
    """
    first = int(TAIL * len(odds))
    top = np.sort(odds)[::-1][: first + 1]
    edge = top[-1] + (np.mean(top[:-1]) - top[-1]) * np.log(TAIL / share)
    return max(0.5, float(np.ceil(100 / (1 + np.exp(-edge))) / 100))


def fit_resolution(sure: np.ndarray, target: np.ndarray) -> dict[str, list[float]]:
    """The median of the log of the FOSCTTM, and an interval of four in five, in `KNOTS` equal groups of how sure the rule is.

    The surer, the finer: heights never rise.
    """
    groups = np.array_split(np.argsort(sure, kind="stable"), KNOTS)
    found = {"sure": [float(np.median(sure[one])) for one in groups]}
    found["sure"][0], found["sure"][-1] = 0.0, 2.0
    for name, share in (("low", 0.1), ("middle", 0.5), ("high", 0.9)):
        found[name] = np.minimum.accumulate([np.quantile(target[one], share) for one in groups]).tolist()
    return {name: np.round(values, 4).tolist() for name, values in found.items()}


def make_rule(table: Table) -> dict[str, Any]:
    parts = fit_parts(table, ~table.degenerate)
    left = leave_out(table)
    wrong = ~table.good
    made: dict[str, Any] = {"command": "python -m benchmarks.verdict.fit"}
    for name, part in parts.items():
        weighed = zip(SIGNS, part[1:].round(3).tolist(), strict=True)
        model = {
            "bias": round(float(part[0]), 3),
            "weights": {key: weight for key, weight in weighed if key in NAMES[name]},
        }
        if name.startswith("copy "):
            made.setdefault("copy", {})[name.removeprefix("copy ")] = model
        else:
            made[name] = model
    few = {"below": 25, "twins": 0.98}  # fewer points than almost all families have: only a copy passes
    out = np.asarray([e.better > 0 or (e.points < few["below"] and e.twins < few["twins"]) for e in table.evidence])
    for name, of, share in (("aligned", "fine", WRONG_ALIGNED), ("coarse", "right", WRONG_COARSE)):
        odds = np.log(np.clip(left[of], 1e-9, 1 - 1e-9) / np.clip(1 - left[of], 1e-9, 1))
        made[name] = allow(np.where(out, -20.0, odds)[wrong], share)
    made["failed"] = 0.3
    made["few_points"] = few
    made["resolution"] = fit_resolution(
        (left["fine"] + left["right"])[~table.degenerate], table.target[~table.degenerate]
    )
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raw", type=Path, default=Path("results/raw"))
    parser.add_argument("--rule", type=Path, default=RULE_FILE, help="where the fitted rule is written")
    args = parser.parse_args()
    made = make_rule(Table(args.raw / "verdict.development.csv"))
    args.rule.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(made, indent=1))


if __name__ == "__main__":
    main()
