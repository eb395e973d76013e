"""Which Schatten exponent: recovery of known maps, and precision on words through three read-outs, against p."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import Search, align
from ..arrays import to_numpy
from ..baselines.gromov_wasserstein import mutual_matches
from ..geometry.orthogonal import polar
from ..retrieval.metrics import gold_ranks
from .clouds import core_words, make_cloud, random_map
from .findings import Finding, Interval, both, estimate, is_above, is_within, pair_up
from .readouts import LEVEL, MATCHES, ORTHOGONAL, OWN, PARTS
from .run import Cell, Context, Experiment, Row
from .style import footnote, plot_series, typeset
from .systems import SOLVER

EXPONENTS = (1.2, 1.5, 2.0, 3.0, 4.0, 8.0, math.inf)
TASKS = ("true map in F_∞", "true map in F_2", "words")
CLOUD_SIZE, NOISE = 60, 0.1


def cells(context: Context) -> Sequence[Cell]:
    clouds, words = (6, 600) if context.quick else (30, 1500)
    exponents = (2.0, 4.0, math.inf) if context.quick else EXPONENTS
    return [Cell(f"p = {p:g}", partial(measure, p, clouds, words, context)) for p in exponents]


def measure(p: float, clouds: int, words: int, context: Context) -> list[Row]:
    rows: list[Row] = []
    for task, true_p in zip(TASKS[:2], (math.inf, 2.0), strict=True):
        for cloud in range(clouds):
            rng = np.random.default_rng((context.seed, cloud))
            x = make_cloud(CLOUD_SIZE, 4, rng, whiten=True)
            true, order = random_map(4, true_p, rng), rng.permutation(CLOUD_SIZE)
            y = (x @ true + NOISE * rng.normal(size=x.shape))[order]
            found = align(x, y, p=p, rng=cloud)
            score = float(np.mean(np.asarray(found.matches("plan")) == np.argsort(order)))
            error = float(np.linalg.norm(to_numpy(found.map) - true) / np.linalg.norm(true))
            rows.append({"task": task, "p": p, "inverse": 1 / p, "unit": cloud, "score": 100 * score,
                         "map_error": error})  # fmt: skip
    return rows + measure_words(p, words)


def measure_words(p: float, words: int) -> list[Row]:
    """Solve the first words; score the map itself, its polar factor, and Procrustes on the plan's mutual matches."""
    x, y, gold = core_words(5000)
    found = align(x[:words], y[:words], p=p, effort="quick", solver=SOLVER, search=Search(ordered=True))
    i, j = (to_numpy(rows) for rows in mutual_matches(found.plan))
    maps = {OWN: found.map, ORTHOGONAL: polar(found.map), MATCHES: polar(x[i].T @ y[j])}
    rows: list[Row] = []
    for readout, w in maps.items():
        hits = gold_ranks(x @ w, y, gold.targets) <= 1
        rows += [{"task": TASKS[2], "p": p, "inverse": 1 / p, "unit": part, "readout": readout,
                  "score": 100 * float(np.mean(hits[part::PARTS]))} for part in range(PARTS)]  # fmt: skip
    return rows


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(1, 3, figsize=(11.8, 3.7))
    for number, task in enumerate(TASKS[:2]):
        some = [row for row in rows if row["task"] == task]
        plot_series(axes[0], some, "inverse", "map_error", typeset(task), number, interval=True)
        plot_series(axes[1], some, "inverse", "score", typeset(task), number, interval=True)
    for number, readout in enumerate((OWN, ORTHOGONAL, MATCHES)):
        some = [row for row in rows if row["task"] == TASKS[2] and row["readout"] == readout]
        plot_series(axes[2], some, "inverse", "score", readout, number + 2, bars=False)
    exponents = sorted({row["p"] for row in rows}, reverse=True)
    for axis in axes:
        axis.set_xticks([1 / p for p in exponents], ["∞" if math.isinf(p) else f"{p:g}" for p in exponents])
        axis.set_xlabel("Schatten exponent p (spaced by 1/p)")
        axis.legend()
    axes[0].set(title=r"clouds: error of the map $\|W - P\|/\|P\|$")
    axes[1].set(title="clouds: per cent of points matched right")
    axes[2].set(title="words: precision@1, per cent, by read-out", ylim=(-3, 105))
    axes[0].set_ylim(bottom=0)
    footnote(figure, f"Clouds: {CLOUD_SIZE} white points in 4 dimensions, noise {NOISE:g}; mean and its 95 % interval over "
                     "clouds. Words: core pair, one run, CSLS. As published: the map itself;\northogonal: its polar factor; "
                     "matches: Procrustes on the plan's mutual matches.")  # fmt: skip
    figure.tight_layout()
    return figure


def compare(rows: list[Row], left: float, right: float, value: str, **wanted: Any) -> Interval:
    """Return ``value`` at exponent ``left`` minus that at ``right``, cloud by cloud or part by part."""
    return estimate(pair_up(
        rows, lambda row: row["unit"], value, of={"p": left, **wanted}, less={"p": right, **wanted}
    ))  # fmt: skip


def show(p: float) -> str:
    return "∞" if math.isinf(p) else f"{p:g}"


def judge(rows: list[Row]) -> list[Finding]:
    exponents = sorted({row["p"] for row in rows})
    found = []
    for task, best in zip(TASKS[:2], (math.inf, 2.0), strict=True):
        gaps = {p: compare(rows, p, best, "map_error", task=task) for p in exponents if p != best}
        text = "; ".join(f"p = {show(p)} {one.show(2)}" for p, one in gaps.items())
        count = min((one.count for one in gaps.values()), default=0)
        found.append(Finding(f"p = {show(best)} recovers the map best: {task}", f"error less that of p = {show(best)}: {text}; "
                             f"{count} clouds", both(*map(is_above, gaps.values()))))  # fmt: skip
    words = [row for row in rows if row["task"] == TASKS[2]]
    for readout in (OWN, ORTHOGONAL, MATCHES):
        mean = {p: np.mean([row["score"] for row in words if row["p"] == p and row["readout"] == readout])
                for p in exponents}  # fmt: skip
        gaps = {p: compare(words, math.inf, p, "score", readout=readout) for p in exponents if not math.isinf(p)}
        listing = ", ".join(f"p={show(p)} {value:.0f}" for p, value in mean.items())
        least = min(gaps.values(), key=lambda one: one.mean, default=estimate([]))
        found.append(Finding(f"p = ∞ translates better than every other p, read-out: {readout}",
                             f"{listing} per cent; least gain {least.show(1)} points; {PARTS} parts of the test list",
                             both(*map(is_above, gaps.values()))))  # fmt: skip
    even = compare(words, 2.0, math.inf, "score", readout=ORTHOGONAL)
    found.append(Finding(f"through the same read-out ({ORTHOGONAL}) p = 2 translates as well as p = ∞ (within {LEVEL:g} points)",
                         f"p = 2 less p = ∞ {even.show(1)} points; {PARTS} parts of the test list",
                         is_within(even, LEVEL)))  # fmt: skip
    return found


EXPERIMENT = Experiment(
    "spectrum",
    "l_∞ is the right invariance for rotations (and for words), l_2 for maps of the Frobenius ball.",
    cells, draw, judge,
)  # fmt: skip
