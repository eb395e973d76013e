"""A run on word vectors, step by step: objective, change of map and plan, precision; compared with adversarial training."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..alignment.loop.alternate import alternate
from ..alignment.options import Schatten, Sinkhorn
from ..alignment.problem import pose
from ..arrays import Array, as_like, on_cuda, place, to_numpy
from ..baselines.adversarial import Epoch, adversarial_runs
from ..errors import MissingExtra
from ..retrieval import evaluate
from ..starts import STARTS
from ..transport.schedule import Schedule
from ..words import Gold
from .clouds import core_words
from .findings import Finding, Interval, estimate, is_above, is_below, subtract
from .run import Cell, Context, Experiment, Row
from .style import footnote, look, typeset
from .tasks import Pair, Task, find_tasks
from .tracks import along, found_something, runs_of

VOCABULARY = 5000
KINDS = ("l_∞, random start", "l_∞, signature start", "adversarial")
SERIES = {"objective": "criterion × 100", "precision@1": "precision@1, per cent", "loss": "discriminator's loss × 100"}


def cells(context: Context) -> Sequence[Cell]:
    words = 700 if context.quick else 5000
    starts, games = (1, 1) if context.quick else (3, 3)
    found = [Cell(f"{KINDS[0]} {k}", partial(invariant, words, "random", context, k)) for k in range(starts)]
    found.append(Cell(KINDS[1], partial(invariant, words, "signature", context, 0)))
    found.append(Cell(KINDS[2], partial(opponents, context, games)))
    if context.data is not None or context.muse is not None:
        tasks = find_tasks(context)
        found += [Cell(f"{KINDS[1]}, {task.name}", partial(follow_task, task, context)) for task in tasks]
        found.append(Cell(f"{KINDS[2]}, every other direction", partial(play_tasks, tasks[1:], context, games)))
    return found


def load_pair(context: Context) -> Pair:
    """Load the first pair of ``--data`` or ``--muse``, else the core pair with its whole gold list for testing."""
    if context.data is not None or context.muse is not None:
        return find_tasks(context)[0].load()
    x, y, gold = core_words(1500 if context.quick else 5000)
    return Pair(x, y, [], gold)


class Scorer:
    """Precision of a map at 1, 5 and 10; on a GPU if there is one."""

    def __init__(self, pair: Pair) -> None:
        self.x, self.y = (place(np.ascontiguousarray(side), "auto") for side in (pair.x, pair.y))
        self.targets = pair.gold.targets

    def __call__(self, w: Any) -> dict[str, float]:
        found = evaluate(self.x @ as_like(w, self.x), self.y, self.targets).precision
        return {f"precision@{k}": value for k, value in found.items()}


def invariant(words: int, start: str, context: Context, number: int) -> list[Row]:
    """Run the paper's annealing and record the precision after each outer step; the solver does not see it."""
    pair = load_pair(context)
    few_x, few_y = pair.x[:words], pair.y[:words]
    uniform = np.full(words, 1 / words, dtype=few_x.dtype)
    rng = np.random.default_rng((context.seed, number))
    w = to_numpy(STARTS[start](few_x, few_y, uniform, uniform, rng=rng)[0])
    schedule = [*Schedule(1.0, 0.8 if context.quick else 0.9, 0.015).values(), 0.015, 0.015, 0.015]
    name = KINDS[0] if start == "random" else KINDS[1]
    return [{"system": name, "seed": number, **row} for row in follow(few_x, few_y, w, schedule, Scorer(pair))]


def follow_task(task: Task, context: Context) -> list[Row]:
    """Follow a signature run of one direction over the first 5,000 words of each side, the vocabulary of the paper's figure."""
    pair = task.load()
    x, y = pair.x[:VOCABULARY], pair.y[:VOCABULARY]
    near = {i: kept for i, right in pair.gold.targets.items()
            if i < len(x) and (kept := frozenset(j for j in right if j < len(y)))}  # fmt: skip
    small = Pair(x, y, [], Gold(near, len(near)))
    even = [np.full(len(side), 1 / len(side), dtype=side.dtype) for side in (x, y)]
    w = to_numpy(STARTS["signature"](x, y, *even, rng=np.random.default_rng(context.seed))[0])
    schedule = [*Schedule(1.0, 0.9, 0.015).values(), 0.015, 0.015, 0.015]
    rows = follow(x, y, w, schedule, Scorer(small))
    return [{"system": KINDS[1], "pair": task.name, "seed": 0, **row} for row in rows]


def play_tasks(tasks: Sequence[Task], context: Context, games: int) -> list[Row]:
    """Play the adversarial games of every direction side by side, at the size of its paper; needs a GPU."""
    pairs = {task.name: task.load() for task in tasks}
    scores = {name: Scorer(pair) for name, pair in pairs.items()}
    if not all(on_cuda(score.x) for score in scores.values()):
        return []
    runs = [(name, seed) for name in pairs for seed in range(context.seed, context.seed + games)]
    rows: list[Row] = []

    def note(epoch: Epoch) -> None:
        name, seed = runs[epoch.run]
        rows.append({"system": KINDS[2], "pair": name, "seed": seed, "step": epoch.epochs, "objective": epoch.criterion,
                     "loss": epoch.discriminator_loss, **scores[name](epoch.map)})  # fmt: skip

    adversarial_runs([(scores[name].x, scores[name].y) for name, _ in runs], rngs=[seed for _, seed in runs], on_epoch=note,
                     epochs=5, checkpoints=4)  # fmt: skip
    return rows


def follow(x: Array, y: Array, w: Array, schedule: Sequence[float], score: Scorer) -> list[Row]:
    """Alternate from the map ``w``, one step at each epsilon; return objective, changes and precision of every step."""
    uniform = [np.full(len(side), 1 / len(side), dtype=side.dtype) for side in (x, y)]
    problem = pose(x, y, *uniform, maps=Schatten(), solver=Sinkhorn(plan_tol=5e-3, plan_max_iter=30))
    maps: Array = as_like(w, x)[None]
    plan, rows, before = None, [], None
    for step, epsilon in enumerate(schedule):
        run = alternate(problem, maps, problem.budgets.solve.at_epsilon(epsilon).at_most(1), warm=plan)
        plan, maps, record = run.plan(0), run.maps, run.history(0)[-1]
        images = to_numpy(plan.apply(y)) * len(x)
        moved = float("nan") if before is None else float(np.sqrt(np.mean(np.sum((images - before) ** 2, axis=1))))
        before = images
        rows.append({"step": step, "epsilon": epsilon, "objective": record.objective, "map_change": record.map_change,
                     "plan_change": moved, **score(maps[0])})  # fmt: skip
    return rows


def opponents(context: Context, games: int) -> list[Row]:
    """Record criterion and precision at checkpoints of the adversarial baseline; no rows without torch.

    At the size of its paper on a GPU; on a CPU, which would take days, at a fiftieth of it.
    """
    pair = load_pair(context)
    score = Scorer(pair)
    rows: list[Row] = []

    def note(epoch: Epoch) -> None:
        rows.append({
            "system": KINDS[2], "seed": epoch.run, "step": epoch.epochs, "objective": epoch.criterion,
            "loss": epoch.discriminator_loss, **score(epoch.map),
        })  # fmt: skip

    options: dict[str, Any] = {"epochs": 5, "checkpoints": 4}
    if context.quick:
        options = {"epochs": 3, "epoch_size": 1600, "hidden": 128}
    elif not on_cuda(score.x):
        options |= {"epoch_size": 64_000, "hidden": 512}
    seeds = [context.seed + k for k in range(games)]
    try:
        adversarial_runs([(score.x, score.y)] * games, rngs=seeds, on_epoch=note,
                         criterion_words=1000 if context.quick else 10_000, **options)  # fmt: skip
    except MissingExtra:
        return []
    return sorted(rows, key=lambda row: (row["seed"], row["step"]))


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(2, 3, figsize=(11.8, 6.2))
    panels = ((axes[0, 0], "objective", 1), (axes[0, 1], "map_change", 1), (axes[0, 2], "plan_change", 1),
              (axes[1, 0], "precision@1", 100), (axes[1, 1], "precision@10", 100))  # fmt: skip
    shown = [row for row in rows if "pair" not in row]
    for run in runs_of([row for row in shown if row["system"] in KINDS[:2]]):
        number = KINDS.index(run[0]["system"])
        style = {**look(number), "markevery": 4, "alpha": 1.0 if run[0]["seed"] == 0 else 0.45}
        label = typeset(run[0]["system"]) if run[0]["seed"] == 0 else None
        for axis, key, factor in panels:
            axis.plot([row["step"] for row in run], [factor * row[key] for row in run], label=label, **style)
    for run in runs_of([row for row in shown if row["system"] == KINDS[2]]):
        first = run[0]["seed"] == min(row["seed"] for row in shown if row["system"] == KINDS[2])
        for number, (key, label) in enumerate(SERIES.items()):
            style = {**look(2 + number), "alpha": 1.0 if first else 0.45, "label": label if first else None}
            axes[1, 2].plot([row["step"] for row in run], [100 * row[key] for row in run], **style)
    titles = (("objective (score)", "relative change of the map", "change of the plan's images (rms)"),
              ("precision@1, per cent", "precision@10, per cent", "adversarial training, per cent or × 100"))  # fmt: skip
    for line, names in zip(axes, titles, strict=True):
        for axis, title in zip(line, names, strict=True):
            axis.set_title(title)
            axis.set_xlabel("outer step")
            if axis.get_legend_handles_labels()[0]:
                axis.legend(fontsize=8.5)
    axes[1, 2].set_xlabel("epoch")
    footnote(figure, "English–Spanish; each line is one run (fainter: other seeds). Precision is shown only; "
                     "no method sees it.")  # fmt: skip
    figure.tight_layout()
    return figure


def judge(rows: list[Row]) -> list[Finding]:
    runs = {kind: runs_of([row for row in rows if row["system"] == kind]) for kind in KINDS}
    ours, theirs = ([run for run in runs[kind] if found_something(run)] for kind in KINDS[1:])

    def follow_up(some: list[list[Row]], value: str = "objective", *, detrended: bool = True) -> Interval:
        return estimate(along(run, value=value, detrended=detrended) for run in some)

    parts = {"ours": follow_up(ours), "adversarial criterion": follow_up(theirs), "its loss": follow_up(theirs, "loss")}
    whole = {"ours": follow_up(ours, detrended=False), "a step counter": follow_up(ours, "step", detrended=False),
             "adversarial criterion": follow_up(theirs, detrended=False)}  # fmt: skip
    count = f"{len(ours)} runs of ours, {len(theirs)} of {len(runs[KINDS[2]])} games found something"

    def show(some: dict[str, Interval]) -> str:
        return "; ".join(f"{name} {one.show(2)}" for name, one in some.items())

    lost = [estimate(100 * (max(row["precision@1"] for row in run) - run[-1]["precision@1"]) for run in some)
            for some in (ours, theirs)]  # fmt: skip
    return [
        Finding("the objective follows the accuracy better than the adversarial criterion, beyond the common trend",
                f"changes per step: {show(parts)}; with the trend: {show(whole)}; {count}",
                is_above(subtract(parts["ours"], parts["adversarial criterion"]))),
        Finding("the objective follows the accuracy better than the adversarial loss, beyond the common trend",
                f"changes per step: {show(parts)}; {count}", is_above(subtract(parts["ours"], parts["its loss"]))),
        Finding("adversarial training is harmed by over-training (a point or more lost after the best checkpoint)",
                f"{lost[1].show(1, sign=False)} points; {count}", is_above(lost[1], 1.0)),
        Finding("ours is not (less than a point lost after the best step)", f"{lost[0].show(1, sign=False)} points; {count}",
                is_below(lost[0], 1.0)),
    ]  # fmt: skip


EXPERIMENT = Experiment(
    "dynamics",
    "The objective and the accuracy are strongly correlated, more than for adversarial training; over-training does no "
    "harm.",
    cells, draw, judge,
)  # fmt: skip
