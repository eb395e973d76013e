"""The translation table: every system, every pair, both directions, with failures, in order and shuffled."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Array, on_cuda, place
from ..errors import MissingExtra
from ..retrieval import evaluate
from ..words import shuffled_order
from .findings import Finding, Interval, both, estimate, is_above, pair_up
from .published import find_published
from .run import Cell, Context, Experiment, Row
from .style import add_legend, dot_rows, footnote, make_panels, typeset
from .systems import SYSTEMS, Job, Maps, Sizes, refine_map, turn
from .tasks import Task, find_tasks
from .tracks import correlate

LEVEL = 2.0  # points: "comparable"
RIVALS = ("adversarial", "adversarial + refine", "Wasserstein–Procrustes", "Gromov–Wasserstein", "self-learning")
OURS = "l_∞-InvarOT"
REFINED = " + refine"  # rows that are refined already
ALIKE = tuple(name for name in SYSTEMS if not name.endswith(REFINED))  # given the shared refinement too
SERIES = (  # of the figure: label, score, whether the rows are shuffled
    ("as published, rows in order of frequency", "precision_csls", False),
    ("the same, rows shuffled", "precision_csls", True),
    ("after one refinement for all, rows in order", "refined_csls", False),
)
FAILED = 0.5  # a run fails if its precision is below this share of supervised Procrustes'


def cells(context: Context) -> Sequence[Cell]:
    tasks = find_tasks(context)
    seeds = 1 if context.quick else 3
    orders = (False,) if context.quick else (False, True)
    return [
        Cell(f"{task.name}, {system}, {'shuffled' if shuffled else 'in order'}, seed {seed}",
             partial(measure, task, system, shuffled, seed, context))
        for task in tasks
        for system in SYSTEMS
        for shuffled in orders
        for seed in range(1 if system == "Procrustes" else seeds)
    ]  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A pair of clouds, in order or shuffled, with known pairs and the gold list."""

    x: Array
    y: Array
    known: np.ndarray[Any, Any]  # (k, 2) rows of both sides
    gold: dict[int, set[int]]
    sizes: Sizes
    row: Row

    @classmethod
    def of(cls, task: Task, system: str, shuffled: bool, seed: int, context: Context) -> Setting:
        pair = task.load()
        first = Sizes.of(context.quick, len(pair.x)).frequent(system)
        orders = [np.arange(len(side)) for side in (pair.x, pair.y)]
        if shuffled:  # only the frequent words are shuffled, among themselves
            orders = [
                shuffled_order(
                    len(order), first=min(first, len(order)), rng=np.random.default_rng((context.seed, seed, k))
                )
                for k, order in enumerate(orders)
            ]
        ranks = [np.argsort(order) for order in orders]
        known = np.asarray([(ranks[0][i], ranks[1][j]) for i, j in pair.train], dtype=np.int64)
        moved = {int(ranks[0][i]): {int(ranks[1][j]) for j in js} for i, js in pair.gold.targets.items()}
        x, y = (
            place(np.ascontiguousarray(side[order]), "auto")
            for side, order in zip((pair.x, pair.y), orders, strict=True)
        )
        sizes = Sizes.of(context.quick, len(pair.x), cuda=on_cuda(x))
        load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
        row: Row = {"load": load, "pair": task.name, "words": len(pair.x), "shuffled": shuffled, "seed": seed}
        return cls(x, y, known, moved, sizes, row)

    def score(self, system: str, maps: Maps, seconds: float) -> Row:
        """Return a row of the table: P@1 with nearest neighbours and with CSLS, and the seconds to find the maps.

        ``refined_csls``, of rows in order, is the score after the refinement that all systems share, from the polar factor of
        their maps; it takes longer than most systems.
        """
        row = {**self.row, "system": system, "seconds": round(seconds, 2)}
        for method, name in (("cosine", "nn"), ("csls", "csls")):
            row[f"precision_{name}"] = 100 * _precision(self.x @ maps[0], self.y @ maps[1], self.gold, method)
        if system in ALIKE and not self.row["shuffled"]:
            w = refine_map(self.x, self.y, turn(maps), self.sizes.rounds)
            row["refined_csls"] = 100 * _precision(self.x @ w, self.y, self.gold, "csls")
        return row | {"queries": len(self.gold), "device": "cuda" if on_cuda(self.x) else "cpu"}


def measure(task: Task, system: str, shuffled: bool, seed: int, context: Context) -> list[Row]:
    """Run one system once: one row, or one per stage."""
    setting = Setting.of(task, system, shuffled, seed, context)
    rows: list[Row] = []
    begun, spent = time.perf_counter(), 0.0
    try:
        for name, maps in SYSTEMS[system](Job(setting.x, setting.y, setting.known, seed, setting.sizes)):
            spent += time.perf_counter() - begun
            rows.append(setting.score(name, maps, spent))
            begun = time.perf_counter()
    except MissingExtra:
        return []
    return rows


def _precision(x: Array, y: Array, gold: dict[int, set[int]], method: str) -> float:
    return evaluate(x, y, gold, method=method).precision[1]


def summary(rows: list[Row]) -> list[Row]:
    """Return one line per pair, system and order: mean and standard deviation over seeds, and failures."""
    found = []
    for key in dict.fromkeys((row["pair"], row["system"], row["shuffled"]) for row in rows):
        some = [row for row in rows if (row["pair"], row["system"], row["shuffled"]) == key]
        bar = [row["precision_csls"] for row in rows if row["pair"] == key[0] and row["system"] == "Procrustes"]
        scores = [row["precision_csls"] for row in some]
        found.append({
            "pair": key[0], "system": key[1], "shuffled": key[2], "runs": len(some), "csls": float(np.mean(scores)),
            "csls_sd": float(np.std(scores)), **_mean_refined(some), "paper": find_published(key[1], key[0]), "nn": float(np.mean([row["precision_nn"] for row in some])),
            "nn_sd": float(np.std([row["precision_nn"] for row in some])),
            "failed": sum(score < FAILED * bar[0] for score in scores) if bar else 0,
            "seconds": float(np.mean([row["seconds"] for row in some])),
            "device": " and ".join(sorted({row["device"] for row in some})),
        })  # fmt: skip
    return found


def _mean_refined(rows: list[Row]) -> Row:
    scores = [row["refined_csls"] for row in rows if row.get("refined_csls") is not None]
    return {
        "refined": float(np.mean(scores)) if scores else None,
        "refined_sd": float(np.std(scores)) if scores else None,
    }


def draw(rows: list[Row], pyplot: Any) -> Any:
    names = list(dict.fromkeys(row["system"] for row in rows))
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    figure, axes = make_panels(pyplot, len(pairs), len(names), margin=2.6, width=3.2, height=0.34)
    for axis, pair in zip(axes.flat, pairs, strict=False):
        series = {
            label: {name: estimate(row[score] for row in rows
                                   if (row["pair"], row["system"], row["shuffled"]) == (pair, name, shuffled)
                                   and row.get(score) is not None)
                    for name in names}
            for label, score, shuffled in SERIES
        }  # fmt: skip
        dot_rows(axis, [typeset(name) for name in names], series, near=0.75)
        axis.set_title(pair)
    for axis in axes[-1]:
        axis.set_xlabel("P@1, per cent (CSLS)")
    add_legend(axes)
    footnote(figure, "Mean over seeds and its 95 % interval (none with one seed). Means far below the others are written at the "
                     "left edge. Procrustes uses\na dictionary, the others do not. Nearest neighbours and failures: summary.csv; each run: data.csv.")  # fmt: skip
    figure.tight_layout()
    return figure


def compare(rows: list[Row], left: str, right: str, score: str = "precision_csls") -> Interval:
    """Return the difference of two systems over directions, rows in order (each direction's mean over seeds)."""
    some = [row for row in rows if not row["shuffled"]]
    return estimate(pair_up(some, lambda row: row["pair"], score, of={"system": left}, less={"system": right}))


def rank_agreement(rows: list[Row]) -> Interval:
    """Return the rank correlation over systems of our scores with the paper's, direction by direction."""
    lines = [line for line in summary(rows) if not line["shuffled"] and line["paper"] is not None]
    by_pair = [
        [line for line in lines if line["pair"] == pair] for pair in dict.fromkeys(line["pair"] for line in lines)
    ]
    return estimate(correlate([line["csls"] for line in some], [line["paper"] for line in some]) for some in by_pair)


def judge(rows: list[Row]) -> list[Finding]:
    systems = {row["system"] for row in rows}
    pairs = dict.fromkeys(row["pair"] for row in rows)
    found = []

    def add(claim: str, gaps: dict[str, Interval]) -> None:
        text = "; ".join(f"− {rival} {one.show(1)}" for rival, one in gaps.items())
        found.append(Finding(f"comparable accuracy: {claim}", f"{text}; {len(pairs)} directions",
                             both(*(is_above(one, -LEVEL) for one in gaps.values()))))  # fmt: skip

    rivals = [rival for rival in RIVALS if rival in systems]
    for name in (OURS, OURS + REFINED):
        if name in systems and rivals:
            add(f"{name} within {LEVEL:g} points of every rival as published",
                {rival: compare(rows, name, rival) for rival in rivals})  # fmt: skip
    alike = [rival for rival in rivals if rival in ALIKE]
    if OURS in systems and alike and any(row.get("refined_csls") is not None for row in rows):
        add(f"{OURS} within {LEVEL:g} points of every rival where all are refined alike",
            {rival: compare(rows, OURS, rival, "refined_csls") for rival in alike})  # fmt: skip
    ranks = rank_agreement(rows)
    found.append(Finding("the systems rank as in the paper's Table 1 (rank correlation above 0.5; other vectors there)",
                         f"{ranks.show(2)}, {ranks.count} directions", is_above(ranks, 0.5)))  # fmt: skip
    return found


EXPERIMENT = Experiment(
    "words",
    "Accuracy on a par with the state of the art.",
    cells,
    draw,
    judge,
    summarise=summary,
)
