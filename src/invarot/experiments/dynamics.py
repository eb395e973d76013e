"""A run on word vectors, step by step: objective, change of map and plan, precision; compared with adversarial training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..alignment.loop.alternate import alternate
from ..alignment.options import Schatten, Sinkhorn
from ..alignment.problem import pose
from ..arrays import Array, as_like, on_cuda, place, to_numpy
from ..baselines.adversarial import Epoch, adversarial_runs
from ..errors import MissingExtra
from ..retrieval import evaluate
from ..starts import STARTS
from ..transport.schedule import Schedule
from .clouds import core_words
from .run import Cell, Context, Experiment, Row
from .style import footnote, look
from .tasks import Pair, find_tasks

KINDS = ("l_∞, random start", "l_∞, signature start", "adversarial")
FOUND = 0.05  # a run whose precision never reached this found nothing
LEVEL = 0.05  # rank correlations closer than this count as equal


def cells(context: Context) -> Sequence[Cell]:
    words = 700 if context.quick else 5000
    starts, games = (1, 1) if context.quick else (3, 3)
    found = [Cell(f"{KINDS[0]} {k}", partial(invariant, words, "random", context, k)) for k in range(starts)]
    found.append(Cell(KINDS[1], partial(invariant, words, "signature", context, 0)))
    found.append(Cell(KINDS[2], partial(opponents, context, games)))
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


def follow(x: Array, y: Array, w: Array, schedule: Sequence[float], score: Scorer) -> list[Row]:
    """Alternate from the map ``w``, one step at each epsilon; return objective, changes and precision of every step."""
    uniform = [np.full(len(side), 1 / len(side), dtype=side.dtype) for side in (x, y)]
    problem = pose(x, y, *uniform, maps=Schatten(), solver=Sinkhorn(plan_tol=5e-3, plan_max_iter=30))
    maps: Array = w[None].astype(x.dtype)
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


def correlation(rows: list[Row], system: str) -> float:
    """Return Spearman's correlation of objective and precision@1 over steps, mean over runs (NaN if precision is constant)."""
    found = []
    for seed in sorted({row["seed"] for row in rows if row["system"] == system}):
        some = [row for row in rows if row["system"] == system and row["seed"] == seed]
        ranks = [rankdata([row[name] for row in some]) for name in ("objective", "precision@1")]
        if np.ptp([row["precision@1"] for row in some]) > 0:
            found.append(float(np.corrcoef(ranks[0], ranks[1])[0, 1]))
    return float(np.mean(found)) if found else math.nan


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(2, 3, figsize=(11.4, 6.0))
    for number, kind in enumerate(KINDS[:2]):
        for seed in sorted({row["seed"] for row in rows if row["system"] == kind}):
            some = [row for row in rows if row["system"] == kind and row["seed"] == seed]
            steps = [row["step"] for row in some]
            style = {**look(number), "markevery": 4, "alpha": 1.0 if seed == 0 else 0.45}
            label = kind if seed == 0 else None
            axes[0, 0].plot(steps, [row["objective"] for row in some], label=label, **style)
            axes[0, 1].plot(steps, [row["map_change"] for row in some], label=label, **style)
            axes[0, 2].plot(steps, [row["plan_change"] for row in some], label=label, **style)
            for column, k in enumerate((1, 10)):
                axes[1, column].plot(steps, [100 * row[f"precision@{k}"] for row in some], label=label, **style)
    for seed in sorted({row["seed"] for row in rows if row["system"] == KINDS[2]}):
        rival = [row for row in rows if row["system"] == KINDS[2] and row["seed"] == seed]
        steps, faint = [row["step"] for row in rival], 1.0 if seed == 0 else 0.45
        for number, (key, label) in enumerate(
            (
                ("objective", "criterion × 100"),
                ("precision@1", "precision@1, per cent"),
                ("loss", "discriminator's loss × 100"),
            )
        ):
            style = {**look(2 + number), "alpha": faint, "label": label if seed == 0 else None}
            axes[1, 2].plot(steps, [100 * row[key] for row in rival], **style)
        axes[1, 2].legend()
    titles = (("objective", "change of the map", "change of the plan's images"),
              ("precision@1, per cent", "precision@10, per cent", "adversarial: criterion, P@1, loss"))  # fmt: skip
    for line, names in zip(axes, titles, strict=True):
        for axis, title in zip(line, names, strict=True):
            axis.set_title(title)
            axis.set_xlabel("outer step")
    axes[1, 2].set_xlabel("epoch")
    axes[0, 0].legend()
    footnote(figure, "English–Spanish; each line is one run (fainter: other seeds). Precision is shown only; "
                     "no method sees it.")  # fmt: skip
    figure.tight_layout()
    return figure


def conclude(rows: list[Row]) -> str:
    ours = [correlation(rows, kind) for kind in KINDS[:2]]
    runs = {(kind, seed): [row for row in rows if row["system"] == kind and row["seed"] == seed]
            for kind in KINDS for seed in sorted({row["seed"] for row in rows if row["system"] == kind})}  # fmt: skip
    final, peak = ({kind: [one(run) for (name, _), run in runs.items() if name == kind] for kind in KINDS}
                   for one in (_last, _best))  # fmt: skip
    # the precision of a run that found nothing is constant
    moving = {seed for (kind, seed), run in runs.items() if kind == KINDS[2] and _best(run) >= FOUND}
    theirs = correlation([row for row in rows if row["seed"] in moving], KINDS[2])
    if not peak[KINDS[2]]:
        verdict = "was not tested (no adversarial run)"
    elif not moving:
        verdict = (f"could not be tested (none of {len(peak[KINDS[2]])} adversarial runs ever got beyond "
                   f"{100 * max(peak[KINDS[2]]):.1f} % of the words)")  # fmt: skip
    else:
        ahead = ours[1] - theirs
        verdict = (
            "held here" if ahead > LEVEL else "did NOT hold here" if ahead < -LEVEL else "was not decided here: level"
        )
        verdict += f" ({len(moving)} of {len(peak[KINDS[2]])} adversarial runs got anywhere)"
    lost = [best - value for best, value in zip(peak[KINDS[1]], final[KINDS[1]], strict=True)]
    return (
        f"That the objective follows the accuracy better than the adversarial criterion {verdict}: "
        f"rank correlation over the steps {ours[0]:.2f} (random start), {ours[1]:.2f} (signature start), adversarial "
        f"{theirs:.2f}; precision@1 at the end {', '.join(_list(final[kind]) for kind in KINDS)}; the "
        f"signature run lost {100 * max(lost, default=0.0):.1f} points after its best step."
    )


def _last(run: list[Row]) -> float:
    return float(max(run, key=lambda row: row["step"])["precision@1"])


def _best(run: list[Row]) -> float:
    return float(max(row["precision@1"] for row in run))


def _list(values: list[float]) -> str:
    return " / ".join(f"{100 * value:.1f} %" for value in values) or "not run (torch is not installed)"


EXPERIMENT = Experiment(
    "dynamics",
    "The objective and the accuracy are strongly correlated, more than for adversarial training; over-training does no "
    "harm.",
    cells, draw, conclude,
)  # fmt: skip
