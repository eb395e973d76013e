"""Effect of the size k of the first stage on result and time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import Sinkhorn, align
from ..retrieval import evaluate
from .clouds import core_words
from .run import Cell, Context, Experiment, Row
from .style import footnote, plot_series
from .systems import SCHEDULE

FIRST = Sinkhorn(schedule=SCHEDULE, tol=1e-4)
SECOND = Sinkhorn(schedule=SCHEDULE.floor, tol=1e-4, plan_tol=5e-3, max_iter=6)


def cells(context: Context) -> Sequence[Cell]:
    sizes = (200, 400, 800) if context.quick else (250, 500, 1000, 1500, 2000, 3000)
    whole = 1000 if context.quick else 4000
    seeds = 1 if context.quick else 5
    return [Cell(f"k = {k}, seed {s}", partial(measure, k, whole, s, context)) for k in sizes for s in range(seeds)]


def measure(size: int, whole: int, seed: int, context: Context) -> list[Row]:
    """Search on the first ``size`` words (shuffled among themselves), then solve ``whole`` words from its map."""
    x, y, gold = core_words(5000)
    rng = np.random.default_rng((context.seed, seed))
    few_x, few_y = x[:size][rng.permutation(size)], y[:size][rng.permutation(size)]
    begun = time.perf_counter()
    first = align(few_x, few_y, rng=seed, solver=FIRST)
    middle = time.perf_counter()
    second = align(x[:whole], y[:whole], start=first.map, solver=SECOND)
    end = time.perf_counter()
    scores = [evaluate(x @ found.map, y, gold.targets).precision[1] for found in (first, second)]
    row = {"k": size, "seed": seed, "whole": whole, "verdict": first.verdict.word,
            "first_precision": 100 * scores[0], "precision": 100 * scores[1],
            "first_seconds": middle - begun, "seconds": end - begun}  # fmt: skip
    return [row]


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(1, 2, figsize=(8.8, 3.5))
    whole = rows[0]["whole"]
    for number, (prefix, label) in enumerate(
        (("first_", "after the first stage"), ("", f"after a second stage of {whole} words"))
    ):
        plot_series(axes[0], rows, "k", f"{prefix}precision", label, number)
        plot_series(axes[1], rows, "k", f"{prefix}seconds", label, number)
    for axis, title in zip(axes, ("precision@1, per cent", "seconds"), strict=True):
        axis.set(xlabel="k, words of the first stage", title=title, xscale="log")
        axis.set_ylim(bottom=0)
        axis.set_xticks(sorted({row["k"] for row in rows}), [str(k) for k in sorted({row["k"] for row in rows})])
        axis.minorticks_off()
    axes[0].legend(loc="lower right")
    footnote(figure, "English–Spanish core pair, 5,000 words to choose from, CSLS, hand-written gold list; mean and "
                     "one standard deviation over seeds.")  # fmt: skip
    figure.tight_layout()
    return figure


def conclude(rows: list[Row]) -> str:
    sizes = sorted({row["k"] for row in rows})
    mean = {k: np.mean([row["precision"] for row in rows if row["k"] == k]) for k in sizes}
    good = [k for k in sizes if mean[k] >= max(mean.values()) - 2]
    enough = next(k for k in sizes if all(one in good for one in sizes if one >= k)) if sizes[-1] in good else None
    held = "held" if enough == sizes[0] else f"held only from k = {enough} on" if enough else "did NOT hold"
    listing = ", ".join(f"k={k}: {mean[k]:.1f} %" for k in sizes)
    return (
        f"That k hardly matters {held}, over k from {sizes[0]} to {sizes[-1]}: within 2 points of the "
        f"best for k in {good} ({listing})."
    )


EXPERIMENT = Experiment(
    "subsample", "The size of the first, small problem has little influence on the final result.", cells, draw, conclude
)
