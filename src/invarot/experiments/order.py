"""How much each method depends on the frequency order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import Search, align
from ..arrays import to_numpy
from ..baselines import gromov_wasserstein, learn_maps, wasserstein_procrustes
from ..baselines.procrustes import procrustes_map
from ..retrieval import evaluate
from ..words import shuffled_order
from .clouds import Floats, core_words
from .run import Cell, Context, Experiment, Row
from .style import LOOKS, footnote
from .systems import SOLVER

System = Callable[[Floats, Floats, int], tuple[Floats, Floats]]


def systems(quick: bool) -> dict[str, System]:
    """Return the systems by name; each returns maps of both sides, learned from the given words."""

    def run_invarot(x: Floats, y: Floats, **options: Any) -> tuple[Floats, Floats]:
        found = align(x, y, solver=SOLVER, **options)
        return to_numpy(found.map), np.eye(y.shape[1])

    def rank_start(x: Floats, y: Floats, seed: int) -> tuple[Floats, Floats]:
        rows = np.arange(min(len(x), len(y)))
        return run_invarot(x, y, start=procrustes_map(x, y, np.stack([rows, rows], axis=1)))

    def run_self_learning(x: Floats, y: Floats, seed: int) -> tuple[Floats, Floats]:
        found = learn_maps(x, y, patience=4 if quick else 15, rng=seed)
        return to_numpy(found.x_map), to_numpy(found.y_map)

    def batches(x: Floats, y: Floats, seed: int) -> tuple[Floats, Floats]:
        size = (
            {"batch": 200, "epochs": 1, "iterations": 40, "start_size": 300, "start_iterations": 20}
            if quick
            else {"epochs": 2, "iterations": 400}
        )
        return to_numpy(wasserstein_procrustes(x, y, rng=seed, **size).map), np.eye(y.shape[1])

    return {
        "l_∞, row i with row i as start": rank_start,
        "l_∞, auto, told of the order": lambda x, y, seed: run_invarot(x, y, search=Search(ordered=True), rng=seed),
        "l_∞, auto": lambda x, y, seed: run_invarot(x, y, rng=seed),
        "self-learning": run_self_learning,
        "Gromov–Wasserstein": lambda x, y, seed: (
            to_numpy(gromov_wasserstein(x, y, epsilon=5e-4).map),
            np.eye(y.shape[1]),
        ),
        "Wasserstein–Procrustes": batches,
    }


def cells(context: Context) -> Sequence[Cell]:
    words, seeds = (600, 1) if context.quick else (1000, 3)
    return [
        Cell(f"{name}, {'shuffled' if shuffled else 'in order'}, seed {seed}",
             partial(measure, name, shuffled, seed, words, context))
        for name in systems(context.quick)
        for shuffled in (False, True)
        for seed in range(seeds)
    ]  # fmt: skip


def measure(name: str, shuffled: bool, seed: int, words: int, context: Context) -> list[Row]:
    """Learn on the first words, in order or shuffled on both sides; test on all."""
    x, y, gold = core_words(5000)
    few_x, few_y = x[:words], y[:words]
    if shuffled:
        few_x = few_x[shuffled_order(words, first=words, rng=np.random.default_rng((context.seed, seed, 1)))]
        few_y = few_y[shuffled_order(words, first=words, rng=np.random.default_rng((context.seed, seed, 2)))]
    left, right = systems(context.quick)[name](few_x, few_y, seed)
    score = evaluate(x @ left, y @ right, gold.targets).precision[1]
    return [{"system": name, "shuffled": shuffled, "seed": seed, "words": words, "precision": 100 * score}]


def draw(rows: list[Row], pyplot: Any) -> Any:
    names = list(dict.fromkeys(row["system"] for row in rows))
    figure, axis = pyplot.subplots(figsize=(8.4, 0.62 * len(names) + 1.3))
    for number, shuffled in enumerate((False, True)):
        groups = [[r["precision"] for r in rows if r["system"] == name and r["shuffled"] is shuffled] for name in names]
        places = np.arange(len(names))[::-1] + (0.19 if not shuffled else -0.19)
        axis.barh(places, [np.mean(group) for group in groups], 0.36, xerr=[np.std(group) for group in groups],
                  color=LOOKS[number][0], hatch="" if not shuffled else "////", edgecolor="white", capsize=2.5,
                  error_kw={"elinewidth": 0.9},
                  label="rows shuffled" if shuffled else "rows in order of frequency")  # fmt: skip
    axis.set_yticks(np.arange(len(names))[::-1], names)
    axis.set(xlabel="precision@1, per cent (CSLS)", xlim=(0, 100))
    axis.grid(visible=False, axis="y")
    axis.legend(loc="upper right", facecolor="white", frameon=True, edgecolor="none", framealpha=0.9)
    axis.set_title("Accuracy after shuffling the words")
    footnote(figure, f"Core pair; learned on the first {rows[0]['words']} words, tested on 5,000; mean and one "
                     f"standard deviation over seeds ({len({row['seed'] for row in rows})}).")  # fmt: skip
    figure.tight_layout()
    return figure


def conclude(rows: list[Row]) -> str:
    parts, leaning = [], []
    for name in dict.fromkeys(row["system"] for row in rows):
        mean = [
            np.mean([r["precision"] for r in rows if r["system"] == name and r["shuffled"] is s]) for s in (False, True)
        ]
        parts.append(f"{name} {mean[0]:.1f} → {mean[1]:.1f}")
        if mean[0] - mean[1] > 5:
            leaning.append(name)
    return (
        f"P@1 in order → shuffled: {'; '.join(parts)}. More than 5 points are lost by: {', '.join(leaning) or 'none'}."
    )


EXPERIMENT = Experiment(
    "order",
    "Frequency-ordered vocabularies leak correspondence (a footnote); the method should not depend on the order.",
    cells, draw, conclude,
)  # fmt: skip
