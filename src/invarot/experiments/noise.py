"""Matching accuracy and error of the map against noise, for true maps of F_2 and of F_∞."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import Schedule, Sinkhorn, align
from ..baselines import emd, entropic, oracle
from .clouds import make_cloud, random_map
from .run import Cell, Context, Experiment, Row, held
from .style import footnote, plot_series

FAMILIES = {"F_2": 2.0, "F_∞": math.inf}
SYSTEMS = ("EMD", "Sinkhorn", "l_2", "l_∞", "oracle")
STARTS = ("random", "auto")
EPSILON = 0.01  # of every entropic plan, and the floor of the annealing


def cells(context: Context) -> Sequence[Cell]:
    levels = (0.0, 0.2, 0.5) if context.quick else (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
    repetitions, count = (2, 40) if context.quick else (5, 80)
    starts = 5 if context.quick else 20
    return [
        Cell(f"{family}, noise {level:g}, repetition {k}",
             partial(measure, family, level, k, count, starts, context.seed))
        for family in FAMILIES
        for level in levels
        for k in range(repetitions)
    ]  # fmt: skip


def measure(family: str, noise: float, repetition: int, count: int, n_starts: int, seed: int) -> list[Row]:
    """Run all systems on one draw; the clouds of a repetition are the same at every noise level.

    The cloud is white if the true map is in F_2, as the paper's lemma requires, and not if it is orthogonal.
    """
    rng = np.random.default_rng((seed, repetition))
    x = make_cloud(count, 3, rng, whiten=family == "F_2")
    true = random_map(3, FAMILIES[family], rng)
    order = rng.permutation(count)
    disturbance = noise * rng.normal(size=x.shape)
    y, untransformed = (x @ true + disturbance)[order], (x + disturbance)[order]
    answer = np.argsort(order)
    solver = Sinkhorn(schedule=Schedule(1.0, 0.95, EPSILON))  # the paper's annealing
    rows = []
    found: dict[tuple[str, str], Any] = {
        ("EMD", "-"): emd(x, y),
        ("Sinkhorn", "-"): entropic(x, y, epsilon=EPSILON),
        ("oracle", "-"): oracle(x, untransformed, epsilon=EPSILON),
    }
    for name, p in (("l_2", 2.0), ("l_∞", math.inf)):
        found[name, STARTS[0]] = align(x, y, p=p, start="random", n_starts=n_starts, rng=repetition, solver=solver)
        found[name, STARTS[1]] = align(x, y, p=p, rng=repetition)
    for (system, start), result in found.items():
        mapped = system.startswith("l_")
        error = float(np.linalg.norm(result.map - true) / np.linalg.norm(true)) if mapped else None
        rows.append({
            "family": family, "noise": noise, "repetition": repetition, "system": system, "start": start,
            "accuracy": float(np.mean(np.asarray(result.matches()) == answer)), "map_error": error,
            "verdict": result.verdict.word if mapped else None,
        })  # fmt: skip
    return rows


def pick(rows: list[Row], start: str, **wanted: Any) -> list[Row]:
    """Return the rows of one kind of start; systems without starts belong to both."""
    return [
        row for row in rows if row["start"] in ("-", start) and all(row[key] == value for key, value in wanted.items())
    ]


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(2, 4, figsize=(12.6, 5.6), sharex=True, sharey="row")
    for column, (start, family) in enumerate((start, family) for start in STARTS for family in FAMILIES):
        for number, system in enumerate(SYSTEMS):
            some = pick(rows, start, family=family, system=system)
            plot_series(axes[0, column], some, "noise", "accuracy", system, number, aside=1.5 * (number - 2))
            plot_series(axes[1, column], some, "noise", "map_error", system, number, aside=1.5 * (number - 2))
        axes[0, column].set_title(f"true map in {family}, starts: {start}")
        axes[1, column].set_xlabel("noise (standard deviation; points have 1)")
    axes[0, 0].set_ylabel("matching accuracy")
    axes[1, 0].set_ylabel("error of the map ‖W − P‖ / ‖P‖")
    axes[0, 0].set_ylim(-0.03, 1.05)
    axes[0, 0].legend(fontsize=8.5)
    repetitions = len({row["repetition"] for row in rows})
    footnote(
        figure,
        f"Mean over {repetitions} repetitions, bars of one standard deviation, drawn slightly offset. Oracle: entropic "
        "OT on the noisy points before the transformation.\nEMD and Sinkhorn coincide; they and the oracle "
        "estimate no map. "
        "Random: the best of 20 random starts by objective (quick: of 5).",
    )
    figure.tight_layout()
    return figure


def mean_accuracy(rows: list[Row], start: str, **wanted: Any) -> float:
    return float(np.mean([row["accuracy"] for row in pick(rows, start, **wanted)]))


def conclude(rows: list[Row]) -> str:
    parts = []
    for start in STARTS:
        score = {(family, system): mean_accuracy(rows, start, family=family, system=system)
                 for family in FAMILIES for system in SYSTEMS}  # fmt: skip
        infinity = score["F_∞", "l_∞"] > score["F_∞", "l_2"]
        two = score["F_2", "l_2"] > score["F_2", "l_∞"]
        over = min(score["F_∞", "l_∞"], score["F_∞", "l_2"]) > score["F_∞", "oracle"]
        gap = score["F_2", "oracle"] > score["F_2", "l_2"]
        listing = ", ".join(f"{family} {system} {value:.2f}" for (family, system), value in score.items())
        parts.append(
            f"[{start}] l_∞ better under rotation: {held(infinity)}; l_2 better under F_2: {held(two)}; both above the "
            f"oracle in the F_∞ case: {held(over)}; oracle above l_2 in the F_2 case: {held(gap)} "
            f"(mean accuracy over noise: {listing})"
        )
    return " ".join(parts)


EXPERIMENT = Experiment(
    "noise",
    "l_∞ beats l_2 when the true map is orthogonal and vice versa; there is a gap to the oracle for F_2; both beat the "
    "oracle for F_∞.",
    cells, draw, conclude,
)  # fmt: skip
