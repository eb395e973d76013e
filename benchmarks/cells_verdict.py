"""Fit and report the rule by which :mod:`invarot.cells` says whether it is right.

    python -m benchmarks.cells_verdict solve --first 100 --draws 40 --out results --jobs 2     # numbers below 1000: to fit
    python -m benchmarks.cells_verdict fit --out results                                       # writes src/invarot/cells/rule.json
    python -m benchmarks.cells_verdict solve --first 1100 --draws 20 --out results             # from 1000 on: to report
    python -m benchmarks.cells_verdict report --out results

For each number: a tissue (its cells in both assays or in different halves, in turn), the same with a type missing from one assay, and
the RNA of one tissue with the chromatin of another of a different form. Right: at least 90 % of the labels that five neighbours could
transfer at all (``reach`` of cells.py), both ways; fine: besides FOSCTTM ≤ 0.05. Unrelated tissues are never right. The resolution
is fitted to the right ones.
"""

from __future__ import annotations

import argparse
import csv
import json
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from benchmarks.cells import Data, run_case
from benchmarks.simulated_cells import simulate
from invarot.cells import verdict

RULE_FILE = Path(verdict.__file__).with_name("rule.json")
FIELDS = ("draw", "mode", "form", "agreement", "lead", "apart", "foscttm", "right", "word", "probability", "resolution")
SIGNS = {"agreement": 1, "lead": 1, "apart": -1}  # what a feature must mean
FINE, LABELS = 0.05, 0.9
WRONG_SOUND = 0.03  # of the wrong ones left out of the fit, what may be called coarse or aligned
PENALTY = 0.5
MODES = ("full", "missing", "unrelated")


def solve_one(draw: int, mode: str, n: int | None) -> dict[str, Any]:
    rng = np.random.default_rng([draw, MODES.index(mode)])
    n = n or int(np.exp(rng.uniform(np.log(500), np.log(2500))))
    tissue = simulate(draw, n=n)
    data: Data = (tissue.rna, tissue.atac, tissue.types)
    rows = columns = rng.permutation(n)
    if mode == "unrelated":  # the form of a tissue follows from its number modulo 4
        data = (tissue.rna, simulate(draw + 1 + int(rng.integers(3)), n=n).atac, tissue.types)
    elif draw % 2:
        rows, columns = rows[: n // 2], rows[n // 2 :]
    if mode == "missing":
        shares = np.bincount(tissue.types) / n
        kind = rng.choice(np.flatnonzero((shares >= 0.06) & (shares <= 0.5)))
        kept = [some[tissue.types[some] != kind] for some in (rows, columns)]
        rows, columns = (kept[0], columns) if rng.random() < 0.5 else (rows, kept[1])
    row = run_case(data, rows, columns, paired=mode != "missing")
    right = mode != "unrelated" and all(
        row[f"to_{side}"] >= LABELS * row[f"reach_{side}"] for side in ("second", "first")
    )
    return {
        "draw": draw, "mode": mode, "form": tissue.form, **{name: row[name] for name in SIGNS}, "foscttm": row["foscttm"], "right": int(right),
        "word": row["verdict"], "probability": row["probability"], "resolution": row["resolution"],
    }  # fmt: skip


def solve_all(path: Path, draws: range, jobs: int, n: int | None) -> None:
    rows = read(path) if path.exists() else []
    done = {(row["draw"], row["mode"]) for row in rows}
    with ProcessPoolExecutor(jobs) as pool:
        todo = [(draw, mode) for draw in draws for mode in MODES if (str(draw), mode) not in done]
        for future in as_completed([pool.submit(solve_one, *one, n) for one in todo]):
            rows.append(future.result())
            print(*rows[-1].values(), flush=True)
            with path.open("w", encoding="utf-8", newline="") as stream:
                writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


def read(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def weigh(rows: list[dict[str, Any]]) -> np.ndarray[Any, Any]:
    """Features (n, k) of the rows."""
    made = [verdict.Evidence(*(float(row[name]) for name in ("agreement", "lead", "apart"))) for row in rows]
    return np.asarray([list(verdict.features(one).values()) for one in made])


def fit_odds(x: Any, truth: Any) -> Any:
    """Weights and bias (k + 1,) of a logistic rule whose weights have the signs of ``SIGNS``; a small penalty on scaled features."""
    mean, scale = x.mean(0), x.std(0)
    z = (x - mean) / scale

    def loss(w: Any) -> float:
        odds = z @ w[:-1] + w[-1]
        return float(np.logaddexp(0, -np.where(truth, odds, -odds)).sum() + PENALTY * (w[:-1] ** 2).sum())

    bounds = [(0, None) if sign > 0 else (None, 0) for sign in SIGNS.values()] + [(None, None)]
    w = minimize(loss, np.zeros(x.shape[1] + 1), bounds=bounds).x
    return np.append(w[:-1] / scale, w[-1] - w[:-1] @ (mean / scale))


def leave_out(x: Any, truth: Any, draws: Any) -> Any:
    """Probabilities of rows whose tissue took no part in the fit."""
    out = np.zeros(len(x))
    for fold in range(10):
        held = draws % 10 == fold
        if held.any():
            w = fit_odds(x[~held], truth[~held])
            out[held] = 1 / (1 + np.exp(-(x[held] @ w[:-1] + w[-1])))
    return out


def fit(rows: list[dict[str, Any]]) -> dict[str, Any]:
    x, right = weigh(rows), np.array([row["right"] == "1" for row in rows])
    pairs = np.array([float(row["foscttm"] or "nan") for row in rows])
    draws = np.array([int(row["draw"]) for row in rows])
    fine = right & (pairs <= FINE)
    names = list(SIGNS)
    held = {name: leave_out(x, truth, draws) for name, truth in (("right", right), ("fine", fine))}
    known = right & np.isfinite(pairs)
    design = np.column_stack([x[known], np.ones(known.sum())])
    slopes, *_ = np.linalg.lstsq(design, np.log(pairs[known] + 1e-3), rcond=None)
    low, high = np.quantile(np.log(pairs[known] + 1e-3) - design @ slopes, [0.1, 0.9])
    made: dict[str, Any] = {name: pack(names, fit_odds(x, truth)) for name, truth in (("right", right), ("fine", fine))}
    made["coarse"] = round(pass_few(held["right"][~right]), 3)
    made["aligned"] = round(pass_few(held["fine"][~fine]), 3)
    made["failed"] = 0.3
    made["resolution"] = {**pack(names, slopes), "low": round(float(low), 3), "high": round(float(high), 3)}
    made["made_by"] = "python -m benchmarks.cells_verdict fit"
    return made


def pass_few(wrong: Any) -> float:
    """The threshold, at least 0.5, that few of the wrong ones pass."""
    return max(float(np.quantile(wrong, 1 - WRONG_SOUND)), 0.5)


def pack(names: list[str], weights: Any) -> dict[str, Any]:
    return {
        "bias": round(float(weights[-1]), 3),
        "weights": {name: round(float(one), 3) for name, one in zip(names, weights, strict=False)},
    }


def report(rows: list[dict[str, Any]]) -> None:
    """Print words against truth, from the rule as it is now."""
    words: dict[tuple[str, str], int] = {}
    inside = known = 0
    for row in rows:
        given = verdict.Evidence(*(float(row[name]) for name in ("agreement", "lead", "apart")))
        word, _, resolution = verdict.decide(given)
        truth = "unrelated" if row["mode"] == "unrelated" else "right" if row["right"] == "1" else "wrong"
        words[truth, word] = words.get((truth, word), 0) + 1
        if truth == "right" and row["foscttm"]:
            known += 1
            inside += resolution.low <= float(row["foscttm"]) <= resolution.high
    order = ("aligned", "coarse", "doubtful", "failed")
    print("truth", *order, sep=" | ")
    for truth in ("right", "wrong", "unrelated"):
        print(truth, *(words.get((truth, word), 0) for word in order), sep=" | ")
    print(f"FOSCTTM inside its interval: {inside} of {known} right ones (8 of 10 wanted)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("solve", "fit", "report"))
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--cells", type=int, help="of each tissue; 500 to 2,500 by default")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    fitted, reported = chosen.out / "cells_verdict.fit.csv", chosen.out / "cells_verdict.report.csv"
    if chosen.what == "solve":
        draws = range(chosen.first, chosen.first + chosen.draws)
        solve_all(fitted if chosen.first < 1000 else reported, draws, chosen.jobs, chosen.cells)
    elif chosen.what == "fit":
        rows = read(fitted)
        made = {**fit(rows), "solves": len(rows)}
        RULE_FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        verdict.RULE.update(made)
        report(rows)
    else:
        report(read(reported))


if __name__ == "__main__":
    main()
