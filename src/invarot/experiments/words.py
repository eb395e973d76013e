"""The translation table: every system, every pair, both directions, with times and failures, in order and shuffled."""

from __future__ import annotations

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
from .findings import Finding
from .run import Cell, Context, Experiment, Row
from .style import INK, LOOKS, footnote
from .systems import SYSTEMS, Job, Sizes
from .tasks import Task, find_tasks

RIVALS = ("adversarial", "adversarial + refine", "Wasserstein–Procrustes", "Gromov–Wasserstein", "self-learning")
QUICKEST = 0.01  # seconds; a log axis has no zero
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
        row: Row = {"pair": task.name, "words": len(pair.x), "shuffled": shuffled, "seed": seed}
        return cls(x, y, known, moved, sizes, row)

    def score(self, system: str, maps: tuple[Array, Array], seconds: float) -> Row:
        """Return a row of the table: P@1 with nearest neighbours and with CSLS, and the seconds to find the maps."""
        row = {**self.row, "system": system, "seconds": round(seconds, 2)}
        for method, name in (("cosine", "nn"), ("csls", "csls")):
            row[f"precision_{name}"] = 100 * _precision(self.x @ maps[0], self.y @ maps[1], self.gold, method)
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
            "csls_sd": float(np.std(scores)), "nn": float(np.mean([row["precision_nn"] for row in some])),
            "nn_sd": float(np.std([row["precision_nn"] for row in some])),
            "failed": sum(score < FAILED * bar[0] for score in scores) if bar else 0,
            "seconds": float(np.mean([row["seconds"] for row in some])),
            "device": " and ".join(sorted({row["device"] for row in some})),
        })  # fmt: skip
    return found


def draw(rows: list[Row], pyplot: Any) -> Any:
    lines = summary(rows)
    names = list(dict.fromkeys(line["system"] for line in lines))
    pairs = list(dict.fromkeys(line["pair"] for line in lines))
    figure, axes = pyplot.subplots(1, 2, figsize=(10.8, 0.55 * len(names) + 1.6), sharey=True)
    height = 0.8 / len(pairs)
    level = {(pair, name): len(names) - 0.6 - names.index(name) - height * (number + 0.5)
             for number, pair in enumerate(pairs) for name in names}  # fmt: skip
    for number, pair in enumerate(pairs):
        some = [line for line in lines if line["pair"] == pair and not line["shuffled"]]
        mixed = [line for line in lines if line["pair"] == pair and line["shuffled"]]
        ordered, other = ([level[pair, line["system"]] for line in part] for part in (some, mixed))
        color, hatch = LOOKS[number % len(LOOKS)][0], ("", "////", "....", "xx", "\\\\", "++")[number % 6]
        style = {"height": 0.9 * height, "color": color, "hatch": hatch, "edgecolor": "white", "label": pair}
        axes[0].barh(ordered, [line["csls"] for line in some], xerr=[line["csls_sd"] or np.nan for line in some],
                     capsize=2, error_kw={"elinewidth": 0.8}, **style)  # fmt: skip
        axes[0].plot([line["csls"] for line in mixed], other, "D", color="white", markeredgecolor=INK,
                     markersize=3.4, markeredgewidth=0.8, linestyle="none")  # fmt: skip
        for row in (row for row in rows if row["pair"] == pair and not row["shuffled"]):
            inside = color if row["device"] == "cuda" else "white"
            axes[1].plot(max(row["seconds"], QUICKEST), level[pair, row["system"]], "o", color=color,
                         markerfacecolor=inside, markersize=4.2)  # fmt: skip
    axes[0].set_yticks(range(len(names)), names[::-1])
    axes[0].set_ylim(-0.6, len(names) - 0.4)
    axes[0].set(
        title="precision@1 with CSLS, per cent", xlim=(0, min(100.0, 1.12 * max(line["csls"] for line in lines)))
    )
    axes[1].set(title="seconds to find the map, per run", xscale="log", xlim=(0.8 * QUICKEST, None))
    axes[1].xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    for axis in axes:
        axis.grid(visible=False, axis="y")
    handles, labels = axes[0].get_legend_handles_labels()
    axes[1].legend(handles, labels, fontsize=8.5, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    footnote(figure, "Bars: rows in order of frequency, mean and one standard deviation over seeds; diamonds: rows "
                     "shuffled. Procrustes uses a dictionary, the others do not.\nSeconds: full circles on a "
                     f"GPU, hollow ones on a processor; {QUICKEST:g} or less at the edge. Nearest neighbours and failures: "
                     "summary.csv; each run: data.csv.")  # fmt: skip
    figure.tight_layout()
    return figure


def judge(rows: list[Row]) -> list[Finding]:
    return []


EXPERIMENT = Experiment(
    "words",
    "Accuracy on a par with the state of the art at a fraction of the computational cost.",
    cells,
    draw,
    judge,
    summarise=summary,
)
