"""Why a missing type is not found: every part that :mod:`invarot.cells.lacking` tries, its agreement and its strain.

    python -m benchmarks.cells_parts solve --data DATA --out results      # writes cells_parts.csv; rows that are there are kept
    python -m benchmarks.cells_parts report --out results

Cases: SNARE-seq with nothing or one type missing, and simulated draws (500-518 and 820-827 with a type missing, 820-839 with none). For
the best parts, before and after exchanges: the agreement, and the *strain* at several penalties, which is how far the composition of the
kept cells moves if the marginals of the plan may give way (KL, both sides). A part is right if purity × cover of the missing type > 0.6.
Types are used to say which part is right, and for nothing else.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logsumexp

from benchmarks.cells import read_snare
from benchmarks.simulated_cells import simulate
from invarot.cells import lacking
from invarot.cells.alternation import view_cost
from invarot.cells.coarse import group_cells
from invarot.cells.preparation import VIEWS, choose_rows, length_noise, make_views, scale_rows
from invarot.cells.search import FEW, FIRST_EPSILONS, RANDOM_STARTS, GroupPair, draw_starts, pair_groups, try_exchanges

Floats = np.ndarray[Any, Any]

EPSILON, SWEEPS = 0.05, 200  # of the plan whose marginals give way
PENALTIES = (0.1, 0.2, 0.4, 0.8)
BEST = 8  # parts that are exchanged
FIELDS = (
    "case", "missing", "rank", "side", "size", "right", "stage", "agreement", *(f"strain {rho}" for rho in PENALTIES),
)  # fmt: skip
CASES = (
    [f"s{kind}:{side}" for kind in "1234" for side in (0, 1)]
    + ["s:0"]
    + [f"{draw}:m" for draw in (*range(500, 519), *range(820, 828))]
    + [f"{draw}:n" for draw in range(820, 840)]
)


def take_case(name: str, data: Path) -> tuple[Floats, Floats, Floats, Floats, Any, int]:
    """Both assays, their types, the missing type (None: none is) and the side that lacks it."""
    first, last = name.split(":")
    if first.startswith("s"):
        rna, atac, types = read_snare(data)
        every = np.random.default_rng(0).permutation(len(types))
        if not (kind := first[1:]):
            return rna[every], atac[every[::-1]], types[every], types[every[::-1]], None, 0
        kept = every[types[every] != kind]
        rows, columns = (kept, every) if last == "0" else (every, kept)
        return rna[rows], atac[columns], types[rows], types[columns], kind, int(last)
    draw, lacks = int(first), last == "m"
    rng = np.random.default_rng([draw, int(lacks)])
    n = int(np.exp(rng.uniform(np.log(500), np.log(900))))
    tissue = simulate(draw, n=n)
    rows = columns = rng.permutation(n)
    if draw % 2:
        rows, columns = rows[: n // 2], rows[n // 2 :]
    kind, side = None, 0
    if lacks:
        shares = np.bincount(tissue.types) / n
        kind = rng.choice(np.flatnonzero((shares >= 0.06) & (shares <= 0.5)))
        kept, others = (some[tissue.types[some] != kind] for some in (rows, columns))
        side = int(rng.random() >= 0.5)
        rows, columns = (kept, columns) if side == 0 else (rows, others)
    return tissue.rna[rows], tissue.atac[columns], tissue.types[rows], tissue.types[columns], kind, side


def measure_strain(pair: GroupPair, plan: Floats, penalty: float) -> float:
    """Return how far the compositions move if the marginals may give way: KL from the weights, both sides; 0 if nothing moves.

    The maps are those that fit ``plan`` (n, m); the plan under them pays ``penalty`` × KL for each marginal (Chizat et al. 2018).
    """
    cost = view_cost(pair.left.views, pair.right.views, plan[None].astype(np.float32))[0].astype(np.float64)
    a, b = pair.left.weights, pair.right.weights
    f, g = np.zeros(len(a)), np.zeros(len(b))
    share = penalty * EPSILON / (penalty + EPSILON)
    for _ in range(SWEEPS):
        f = -share * logsumexp((g - cost) / EPSILON + np.log(b), axis=1)
        g = -share * logsumexp((f[:, None] - cost) / EPSILON + np.log(a)[:, None], axis=0)
    relaxed = np.exp((f[:, None] + g - cost) / EPSILON) * np.outer(a, b)
    relaxed /= relaxed.sum()
    rows, columns = relaxed.sum(1), relaxed.sum(0)
    return float(rows @ np.log(np.maximum(rows, 1e-300) / a) + columns @ np.log(np.maximum(columns, 1e-300) / b))


def study(name: str, data: Path) -> list[dict[str, Any]]:
    """The rows of one case; the search is that of :func:`invarot.cells.lacking.find_counterparts`."""
    x, y, *types, kind, side = take_case(name, data)
    rng = np.random.default_rng(0)
    points = [scale_rows(one, choose_rows(one, length_noise(one))) for one in (x, y)]
    views = [make_views(one, VIEWS, rng=rng) for one in points]
    pair = pair_groups(*(group_cells(one, FEW, rng) for one in views))
    starts = draw_starts(pair.left, pair.right, RANDOM_STARTS, rng)
    found = pair.solve(starts, FIRST_EPSILONS)
    tried: list[Any] = [(None, pair, try_exchanges(pair, found, rng))]
    for part in lacking.list_parts(pair.left, pair.right):
        without = lacking.leave_out_part(pair, part)
        some = np.concatenate([[one.plan for one in found], starts[rng.permutation(len(starts))[: lacking.SOME]]])
        tried.append((part, without, without.solve(lacking._without(some, without), FIRST_EPSILONS)))
    tried[1:] = sorted(tried[1:], key=lambda one: -one[2][0].agreement)
    rows = []
    for rank, (part, without, choices) in enumerate(tried):
        size, right = 0.0, kind is None and part is None
        if part is not None:
            inside = np.isin((pair.left, pair.right)[part.side].label, part.groups)
            size = float(inside.mean())
            if kind is not None and part.side != side:
                same = types[part.side] == kind
                right = bool(same[inside].mean() * inside[same].mean() > 0.6)
        if rank > BEST and not right:
            continue
        after = choices if part is None else try_exchanges(without, choices, rng)
        for stage, one in (("starts", choices[0]), ("exchanged", after[0])):
            strains = {f"strain {rho}": round(measure_strain(without, one.plan, rho), 4) for rho in PENALTIES}
            rows.append({
                "case": name, "missing": "" if kind is None else kind, "rank": rank, "side": "" if part is None else part.side,
                "size": round(size, 3), "right": int(right), "stage": stage, "agreement": round(one.agreement, 6), **strains,
            })  # fmt: skip
    return rows


def report(rows: list[dict[str, str]]) -> None:
    """For each stage, price and penalty: how often the best part is the right one, and what it gains where none is missing."""
    cases: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        if int(row["rank"]) <= BEST:
            cases.setdefault(row["case"], []).append(row)
    listed = {row["case"] for row in rows if row["missing"] and row["right"] == "1"}
    snare = [name for name in cases if name.startswith("s") and name != "s:0"]
    lacks, none = [name for name in cases if name.endswith("m")], [name for name in cases if name.endswith("n")]
    count = len(listed.intersection(lacks))
    print(f"a type missing: {len(lacks)} draws, a right part among those tried in {count}; none missing: {len(none)}")
    print(
        "stage | price | penalty | best part right: draws | SNARE | most gained, none missing | right above | wrong above"
    )
    for stage in ("starts", "exchanged"):
        for price, rho in [(0.0, 0.4), *((price, rho) for rho in PENALTIES for price in (0.1, 0.2, 0.4, 0.8))]:
            best = {name: _find_best(cases[name], stage, price, rho) for name in cases}
            most = max([best[name][1] for name in none], default=0.0)
            above = [best[name][0] for name in lacks if best[name][1] > max(most, 0.0)]
            won = [sum(best[name][0] for name in some) for some in (lacks, snare)]
            figures = (won[0], f"{won[1]} of {len(snare)}", f"{most:.3f}", sum(above), len(above) - sum(above))
            print(stage, price, rho, *figures, sep=" | ")


def _find_best(rows: list[dict[str, str]], stage: str, price: float, rho: float) -> tuple[bool, float]:
    """Whether the best part is right, and by how much it beats all cells."""
    some = [row for row in rows if row["stage"] == stage]
    scores = [(float(row["agreement"]) - price * float(row[f"strain {rho}"]), row) for row in some]
    every = next(score for score, row in scores if row["rank"] == "0")
    top, row = max(((score, row) for score, row in scores if row["rank"] != "0"), key=lambda one: one[0])
    return row["right"] == "1", top - every


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("solve", "report"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", nargs="*", default=CASES, help="cases such as s1:0, 500:m, 820:n")
    parser.add_argument("--out", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    path = chosen.out / "cells_parts.csv"
    rows = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []
    if chosen.what == "report":
        report(rows)
        return
    for name in chosen.only:
        if any(row["case"] == name for row in rows):
            continue
        rows += study(name, chosen.data)
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
