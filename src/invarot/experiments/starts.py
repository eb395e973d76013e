"""How many random starts the paper's Algorithm 1 takes, to the letter, on clouds and on words; beside ``start="auto"``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import Search, align, paper
from ..alignment.loop.alternate import alternate
from ..alignment.options import Schatten
from ..alignment.problem import pose
from ..arrays import to_numpy
from ..baselines import algorithm_1
from ..retrieval import evaluate
from ..starts import gaussian
from .clouds import Floats, core_words, make_cloud, random_orthogonal
from .findings import Finding, Interval, estimate_share, is_above
from .run import Cell, Context, Experiment, Row
from .style import footnote, look
from .systems import SOLVER

TASKS = ("3 dimensions", "10 dimensions", "words")
SINGLE, BEST, STAGED, AUTO = SYSTEMS = ("one random start", "best of 20 by objective", "two stages", "auto")
NOISE = 0.05
SUCCESS = 0.5  # share of points matched right, or of the precision of auto
SURE = 0.9  # share of runs that must succeed for "little sensitivity"
BATCH = 4  # starts on words solved together


def cells(context: Context) -> Sequence[Cell]:
    clouds, starts = (5, 20) if context.quick else (30, 20)
    words, draws = (300, 5) if context.quick else (1000, 40)
    found = [
        Cell(f"{task}, cloud {k}", partial(measure_cloud, task, k, starts, context.seed))
        for task in TASKS[:2]
        for k in range(clouds)
    ]
    found.append(Cell("words, auto and two stages", partial(measure_answer, words, context)))
    found += [
        Cell(f"words, starts {k} to {k + BATCH - 1}", partial(measure_words, words, k, context))
        for k in range(0, draws, BATCH)
    ]
    return found


def solve_starts(x: Floats, y: Floats, n_starts: int, rng: np.random.Generator) -> Any:
    """Run Algorithm 1 from each of ``n_starts`` random matrices: what ``align(x, y, **paper())`` does with one."""
    a, b = (np.full(len(side), 1 / len(side), dtype=side.dtype) for side in (x, y))
    problem = pose(x, y, a, b, maps=Schatten(), solver=paper()["solver"])
    maps = problem.maps.fit(gaussian(x, y, a, b, rng=rng, n_starts=n_starts))
    return alternate(problem, maps, problem.budgets.solve)


def measure_cloud(task: str, cloud: int, n_starts: int, seed: int) -> list[Row]:
    d = int(task.split()[0])
    rng = np.random.default_rng((seed, d, cloud))
    x = make_cloud(100, d, rng)
    order = rng.permutation(len(x))
    y, answer = (x @ random_orthogonal(d, rng) + NOISE * rng.normal(size=x.shape))[order], np.argsort(order)
    run = solve_starts(x, y, n_starts, rng)
    scores = [float(np.mean(to_numpy(run.plan(k).matches()) == answer)) for k in range(n_starts)]
    auto = float(np.mean(np.asarray(align(x, y, rng=cloud).matches("plan")) == answer))
    ends = [(SINGLE, k, score) for k, score in enumerate(scores)] + [(BEST, 0, scores[run.best]), (AUTO, 0, auto)]
    return [
        {"task": task, "system": name, "cloud": cloud, "start": k, "score": score,
         "objective": float(run.objectives[k]) if name == SINGLE else None, "success": score > SUCCESS}
        for name, k, score in ends
    ]  # fmt: skip


def measure_answer(words: int, context: Context) -> list[Row]:
    """Solve the words with ``auto``, and once with both stages of the paper: ``words``, then three times as many."""
    x, y, gold = core_words(5000)
    auto = align(x[:words], y[:words], solver=SOLVER, search=Search(ordered=True)).map
    staged = algorithm_1(x[: 3 * words], y[: 3 * words], size=words, rng=context.seed).map
    scores = {name: evaluate(x @ w, y, gold.targets).precision[1] for name, w in ((AUTO, auto), (STAGED, staged))}
    return [{"task": TASKS[2], "system": name, "cloud": 0, "start": 0, "score": score, "objective": None,
             "success": score > SUCCESS * scores[AUTO]} for name, score in scores.items()]  # fmt: skip


def measure_words(words: int, first: int, context: Context) -> list[Row]:
    x, y, gold = core_words(5000)
    run = solve_starts(x[:words], y[:words], BATCH, np.random.default_rng((context.seed, first)))
    scores = [evaluate(x @ w, y, gold.targets).precision[1] for w in to_numpy(run.maps)]
    # auto reaches about 0.8 here, far above what any failed start does
    return [{"task": TASKS[2], "system": SINGLE, "cloud": 0, "start": first + k, "score": score,
             "objective": float(run.objectives[k]), "success": score > 0.8 * SUCCESS}
            for k, score in enumerate(scores)]  # fmt: skip


def share(rows: list[Row], task: str, system: str) -> Interval:
    some = [row["success"] for row in rows if (row["task"], row["system"]) == (task, system)]
    return estimate_share(sum(some), len(some))


def starts_needed(found: Interval) -> str:
    """Return how many starts give a chance of 95 % that one succeeds; a lower bound if none did."""
    if found.count == 0:
        return "an unknown number of"
    if found.mean > 0:
        return f"{math.ceil(math.log(0.05) / math.log1p(-min(found.mean, 0.999)))}"
    return f"more than {math.floor(math.log(0.05) / math.log1p(-found.high))}"


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(1, 2, figsize=(10.6, 3.6), width_ratios=(1.15, 1))
    systems = [name for name in SYSTEMS if any(row["system"] == name for row in rows)]
    for number, name in enumerate(systems):
        shares = [(k, share(rows, task, name)) for k, task in enumerate(TASKS)]
        kept = [(k, one) for k, one in shares if one.count]
        places = [k + 0.16 * (number - (len(systems) - 1) / 2) for k, _ in kept]
        means = [100 * one.mean for _, one in kept]
        # one run has no interval worth drawing
        reach = [[100 * (one.mean - one.low) if one.count > 1 else 0.0 for _, one in kept],
                 [100 * (one.high - one.mean) if one.count > 1 else 0.0 for _, one in kept]]  # fmt: skip
        style = look(number)
        axes[0].errorbar(places, means, yerr=reach, fmt=style["marker"], color=style["color"], capsize=2.5, label=name)
    axes[0].set_xticks(range(len(TASKS)), [f"clouds, {task}" if task != TASKS[2] else task for task in TASKS])
    axes[0].set(title="share of runs that found the answer, per cent", ylim=(-4, 104))
    axes[0].legend(loc="center", bbox_to_anchor=(0.47, 0.42))
    for number, task in enumerate(TASKS):
        some = [row["score"] for row in rows if (row["task"], row["system"]) == (task, SINGLE)]
        if some:
            ordered = np.sort(some)[::-1]
            axes[1].step(np.arange(1, len(ordered) + 1) / len(ordered) * 100, 100 * ordered, where="mid",
                         color=look(number)["color"], linestyle=look(number)["linestyle"], label=task)  # fmt: skip
    axes[1].set(title="one random start: score, best first", xlabel="per cent of starts", ylabel="per cent right")
    axes[1].legend()
    footnote(figure, "Algorithm 1 to the letter: absolute λ from 1, decay 0.95, a random matrix scaled into the ball, matches by "
                     "the largest entry of a row. Lines: 95 % intervals.\nClouds: 100 points, turned, noise 0.05; right means "
                     "more than half of the points. Words: core pair, unit vectors, P@1 with CSLS.")  # fmt: skip
    figure.tight_layout()
    return figure


def judge(rows: list[Row]) -> list[Finding]:
    found = []
    for task in TASKS:
        one = share(rows, task, SINGLE)
        text = f"{one.mean:.1%} of {one.count} starts found the answer; 95 % chance takes {starts_needed(one)} starts"
        found.append(Finding(f"little sensitivity to initialisation ({task})", text, is_above(one, SURE)))
    for system, claim in ((BEST, "the best of 20 random starts finds the answer in more than 90 % of clouds"),
                          (AUTO, "ours: start='auto' finds the answer in more than 90 % of clouds")):  # fmt: skip
        parts = [share(rows, task, system) for task in TASKS[:2]]
        hits = [row["success"] for row in rows if row["system"] == system and row["task"] != TASKS[2]]
        text = "; ".join(f"{task} {one.mean:.0%} of {one.count}" for task, one in zip(TASKS, parts, strict=False))
        found.append(Finding(claim, text, is_above(estimate_share(sum(hits), len(hits)), SURE)))
    return found


EXPERIMENT = Experiment(
    "starts", "Annealing leaves little sensitivity to initialisation.", cells, draw, judge
)  # fmt: skip
