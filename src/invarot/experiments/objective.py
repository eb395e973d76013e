"""Does the objective follow the accuracy? Across starts at equal epsilon, and within a run without its trend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import on_cuda, to_numpy
from ..baselines.adversarial import adversarial_runs
from ..geometry.orthogonal import polar
from ..retrieval import evaluate
from ..starts import STARTS
from ..transport.schedule import Schedule
from .clouds import core_words, random_orthogonal
from .dynamics import Scorer, follow
from .findings import FEWEST, OPEN, Finding, Interval, both, decide, estimate, is_above, is_below, subtract
from .run import Cell, Context, Experiment, Row
from .style import footnote, look
from .systems import game_options
from .tasks import Pair, find_tasks
from .tracks import along, correlate, found_something, runs_of
from .words import Setting

LEVELS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf)  # weight of a random rotation added to the signature start
STRONG = 0.5  # rank correlation above which we call two quantities strongly correlated
HARM = 0.01  # of the words: less than this lost after the best step is no harm
DRAWS = 1000  # bootstrap samples of the starts
ADVERSARIAL, GAMES = "adversarial", "adversarial games"
GAMES_EACH = 3  # in each direction and order of the rows


def cells(context: Context) -> Sequence[Cell]:
    words, seeds = (400, 2) if context.quick else (1000, 6)
    runs = [
        Cell(f"disturbance {level:g}, seed {seed}", partial(measure, level, seed, words, context))
        for level in LEVELS
        for seed in range(seeds)
    ]
    return runs if context.quick else [*runs, Cell(GAMES, partial(play_games, context))]


def measure(level: float, seed: int, words: int, context: Context) -> list[Row]:
    """Anneal from a signature start that a random rotation disturbs: ∞ leaves only the rotation."""
    x, y, gold = core_words(1500 if context.quick else 3000)
    few_x, few_y = x[:words], y[:words]
    even = np.full(words, 1 / words, dtype=x.dtype)
    rng = np.random.default_rng((context.seed, seed, int(10 * min(level, 100))))
    turn = random_orthogonal(x.shape[1], rng)
    if not math.isinf(level):
        turn = to_numpy(polar(to_numpy(STARTS["signature"](few_x, few_y, even, even, rng=rng)[0]) + level * turn))
    schedule = [*Schedule(1.0, 0.8 if context.quick else 0.9, 0.015).values(), 0.015, 0.015]
    rows = follow(few_x, few_y, turn, schedule, Scorer(Pair(x, y, [], gold)))
    return [{"disturbance": level, "seed": seed, **row} for row in rows]


def play_games(context: Context) -> list[Row]:
    """Play adversarial games side by side at the size of their paper: the best criterion of each and the precision there; needs a GPU."""
    settings = {
        (task.name, shuffled, seed): Setting.of(task, ADVERSARIAL, shuffled, seed, context)
        for task in find_tasks(replace(context, data=None, muse=None))
        for shuffled in (False, True)
        for seed in range(context.seed, context.seed + GAMES_EACH)
    }
    clouds = [(one.x, one.y) for one in settings.values()]
    if not on_cuda(clouds[0][0]):
        return []
    first = next(iter(settings.values()))
    options = game_options(first.sizes, len(first.x))
    games = adversarial_runs(clouds, rngs=[seed for *_, seed in settings], **options)
    rows = []
    for ((pair, shuffled, seed), setting), game in zip(settings.items(), games, strict=True):
        found = evaluate(setting.x @ game.map, setting.y, setting.gold).precision
        rows.append({"system": ADVERSARIAL, "pair": pair, "shuffled": shuffled, "seed": seed,
                     "objective": max(game.history["objective"]), "precision@1": found[1]})  # fmt: skip
    return rows


def across(runs: list[list[Row]], step: int, *, seed: int = 0) -> Interval:
    """Return the rank correlation over runs at one step, with a bootstrap interval."""
    ends = np.asarray([[run[step]["objective"], run[step]["precision@1"]] for run in runs]).reshape(-1, 2)
    if len(ends) < FEWEST:
        return Interval(math.nan, -1.0, 1.0, len(ends))
    rng = np.random.default_rng(seed)
    drawn = [correlate(*ends[rng.integers(len(ends), size=len(ends))].T) for _ in range(DRAWS)]
    low, high = np.nanpercentile(drawn, [2.5, 97.5]) if np.isfinite(drawn).any() else (-1.0, 1.0)
    return Interval(correlate(*ends.T), float(low), float(high), len(ends))


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(1, 3, figsize=(12.0, 3.8))
    runs = runs_of([row for row in rows if row.get("system") != ADVERSARIAL])
    for number, (name, some) in enumerate((("found the answer", [r for r in runs if found_something(r)]),
                                           ("found nothing", [r for r in runs if not found_something(r)]))):  # fmt: skip
        style = {"color": look(number)["color"], "marker": look(number)["marker"], "linestyle": "none", "alpha": 0.7}
        axes[0].plot([run[-1]["objective"] for run in some], [100 * run[-1]["precision@1"] for run in some], label=name,
                     markerfacecolor="none" if number else None, **style)  # fmt: skip
        for axis, detrended in ((axes[1], False), (axes[2], True)):
            values = [along(run, detrended=detrended) for run in some]
            axis.hist([one for one in values if math.isfinite(one)], bins=np.linspace(-1, 1, 21), alpha=0.75,
                      color=look(number)["color"], hatch="///" if number else None, label=name)  # fmt: skip
    axes[0].set(title="across starts, at the last epsilon", xlabel="objective", ylabel="precision@1, per cent")
    axes[1].set(title="within a run, over its steps", xlabel="rank correlation", ylabel="runs", xlim=(-1, 1))
    axes[2].set(title="within a run, changes per step", xlabel="rank correlation", ylabel="runs", xlim=(-1, 1))
    for axis in axes[1:]:
        axis.set_xticks((-1, -0.5, 0, 0.5, 1))
    axes[0].legend()
    footnote(figure, f"{len(runs)} runs on the core pair from signature starts disturbed by a random rotation, and from random "
                     "rotations. Middle: both quantities grow with time, as a step counter does;\nright: their changes from "
                     "step to step, which a step counter cannot follow.")  # fmt: skip
    figure.tight_layout()
    return figure


def judge(rows: list[Row]) -> list[Finding]:
    runs = runs_of([row for row in rows if row.get("system") != ADVERSARIAL])
    games = [[row] for row in rows if row.get("system") == ADVERSARIAL]
    right = [run for run in runs if found_something(run)]
    wrong = [run for run in runs if not found_something(run)]
    last, theirs = across(runs, -1), across(games, -1)
    middle = len(runs[0]) // 2 if runs else 0
    epsilon = runs[0][middle]["epsilon"] if runs else math.nan
    parts = {"all starts, last ε": last, f"all starts, ε = {epsilon:.2g}": across(runs, middle),
             "those that found the answer": across(right, -1), "those that did not": across(wrong, -1)}  # fmt: skip
    text = "; ".join(f"{name} {one.show(2)}, {one.count} runs" for name, one in parts.items())
    raw, bare = (estimate(along(run, detrended=flag) for run in right) for flag in (False, True))
    counter = estimate(along([{**row, "objective": row["step"]} for row in run]) for run in right)
    gains = [np.diff([row["objective"] for row in run]) for run in right]
    first, later = (estimate(float(np.sum(gain[part(len(gain))]) / np.sum(gain)) for gain in gains)
                    for part in (lambda n: slice(0, n // 4), lambda n: slice(n - n // 4, n)))  # fmt: skip
    lost = estimate(max(row["precision@1"] for row in run) - run[-1]["precision@1"] for run in right)
    gap = estimate([min(run[-1]["objective"] for run in right) - max(run[-1]["objective"] for run in wrong)]
                   if right and wrong else [])  # fmt: skip
    told = decide(gap.mean > 0) if min(len(right), len(wrong)) >= FEWEST else OPEN
    return [
        Finding("across starts at equal ε, objective and accuracy are strongly correlated (above 0.5)", text,
                is_above(last, STRONG)),
        Finding("across starts, the objective follows the accuracy better than the adversarial criterion does",
                f"ours {last.show(2)}, {last.count} runs; adversarial criterion {theirs.show(2)}, {theirs.count} games, of which "
                f"{sum(found_something(game) for game in games)} found something", is_above(subtract(last, theirs))),
        Finding("the objective tells runs that found the answer from those that did not",
                f"least objective of {len(right)} that did, less the largest of {len(wrong)} that did not: {gap.mean:+.3f}",
                told),
        Finding("within a run, they are strongly correlated beyond their common trend (above 0.5)",
                f"over steps {raw.show(2)}, a step counter {counter.show(2)}; changes per step {bare.show(2)}; "
                f"{len(right)} runs", both(is_above(raw, STRONG), is_above(bare, STRONG))),
        Finding("little progress at first, then a steep change, then rest (less than a quarter of the gain in the first and "
                "in the last quarter of the steps)", f"shares of the objective's gain {first.show(2)} and {later.show(2)}; "
                f"{len(right)} runs", both(is_below(first, 0.25), is_below(later, 0.25))),
        Finding("over-training does no harm (less than a point lost after the best step)",
                f"{100 * lost.mean:.2f} points lost [{100 * lost.low:.2f}, {100 * lost.high:.2f}], {len(right)} runs",
                is_below(lost, HARM)),
    ]  # fmt: skip


EXPERIMENT = Experiment(
    "objective",
    "Objective and accuracy are strongly correlated, so that the objective can choose models; over-training does no harm.",
    cells, draw, judge,
)  # fmt: skip
