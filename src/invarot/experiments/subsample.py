"""Effect of the size k of the first stage, with the paper's second stage: the same annealing again, on more words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import Schedule, Sinkhorn, align
from ..retrieval.metrics import gold_ranks
from .clouds import core_words
from .findings import Finding, both, estimate, is_above, is_within, pair_up
from .readouts import PARTS
from .run import Cell, Context, Experiment, Row
from .style import footnote, plot_series

# λ0 = 1 of the paper is 0.5 of the mean cost of unit vectors
SOLVER = Sinkhorn(schedule=Schedule(0.5, 0.85, 0.02, adaptive=True), tol=1e-4, plan_tol=5e-3)
LEVEL = 2.0  # points


def cells(context: Context) -> Sequence[Cell]:
    sizes = (200, 400, 800) if context.quick else (250, 500, 1000, 2000)
    whole = 1000 if context.quick else 3000
    seeds = 1 if context.quick else 5
    return [Cell(f"k = {k}, seed {s}", partial(measure, k, whole, s, context)) for s in range(seeds) for k in sizes]


def measure(size: int, whole: int, seed: int, context: Context) -> list[Row]:
    """Search on the first ``size`` words (shuffled among themselves), then anneal ``whole`` words from its map."""
    x, y, gold = core_words(5000)
    rng = np.random.default_rng((context.seed, seed))
    few_x, few_y = x[:size][rng.permutation(size)], y[:size][rng.permutation(size)]
    first = align(few_x, few_y, rng=seed, solver=SOLVER)
    second = align(x[:whole], y[:whole], start=first.map, solver=SOLVER)
    hits = [gold_ranks(x @ found.map, y, gold.targets) <= 1 for found in (first, second)]
    shared = {"k": size, "seed": seed, "whole": whole, "verdict": first.verdict.word, "steps": len(second.history)}
    return [
        shared | {"part": part, "first": 100 * float(np.mean(hits[0][part::PARTS])),
                  "second": 100 * float(np.mean(hits[1][part::PARTS]))}
        for part in range(PARTS)
    ]  # fmt: skip


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(1, 2, figsize=(8.8, 3.5))
    runs = [{"k": k, "steps": some[0]["steps"], **{name: float(np.mean([row[name] for row in some])) for name in ("first", "second")}}
            for k, seed in dict.fromkeys((row["k"], row["seed"]) for row in rows)
            if (some := [row for row in rows if (row["k"], row["seed"]) == (k, seed)])]  # fmt: skip
    for number, (name, label) in enumerate(
        (("first", "after the first stage"), ("second", f"after the second, {rows[0]['whole']} words"))
    ):
        plot_series(axes[0], runs, "k", name, label, number)
    plot_series(axes[1], runs, "k", "steps", "second stage", 2)
    for axis, title in zip(axes, ("precision@1, per cent", "outer steps of the second stage"), strict=True):
        axis.set(xlabel="k, words of the first stage", title=title, xscale="log")
        axis.set_ylim(bottom=0)
        axis.set_xticks(sorted({row["k"] for row in rows}), [str(k) for k in sorted({row["k"] for row in rows})])
        axis.minorticks_off()
    axes[0].legend(loc="lower right")
    footnote(figure, "English–Spanish core pair, 5,000 words to choose from, CSLS, hand-written gold list; mean and one standard "
                     "deviation over seeds.\nBoth stages anneal from λ = 1, as in the paper.")  # fmt: skip
    figure.tight_layout()
    return figure


def judge(rows: list[Row]) -> list[Finding]:
    sizes = sorted({row["k"] for row in rows})
    largest = sizes[-1]

    def gap(k: int, value: str, unit: Any) -> Any:
        return estimate(pair_up(rows, unit, value, of={"k": k}, less={"k": largest}))

    found = []
    for stage, text in (("second", "after the second stage"), ("first", "after the first stage alone")):
        gaps = {k: gap(k, stage, lambda row: row["part"]) for k in sizes[:-1]}
        mean = {k: float(np.mean([row[stage] for row in rows if row["k"] == k])) for k in sizes}
        listing = ", ".join(f"k={k} {value:.1f}" for k, value in mean.items())
        worst = min(gaps.values(), key=lambda one: one.mean, default=estimate([]))
        seeds = len({row["seed"] for row in rows})
        found.append(Finding(f"the size k of the first stage hardly matters {text} (within {LEVEL:g} points)",
                             f"{listing} per cent; least {worst.show(1)} against k = {largest}; {seeds} seeds, {PARTS} parts",
                             both(*(is_within(one, LEVEL) for one in gaps.values()))))  # fmt: skip
    more = gap(sizes[0], "steps", lambda row: row["seed"])
    found.append(Finding("a smaller k makes the second stage take more iterations",
                         f"{more.show(1)} steps at k = {sizes[0]} against {largest}; {more.count} seeds",
                         is_above(more)))  # fmt: skip
    return found


EXPERIMENT = Experiment(
    "subsample", "The size of the first, small problem has little influence on the final result.", cells, draw, judge
)
