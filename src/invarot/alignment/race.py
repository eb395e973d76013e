"""Many starts, one winner: raced in batches on a coarse problem, the best solved in full, the verdict asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Array
from ..starts.portfolio import Wave
from .alternate import Observer
from .challenge import ENOUGH
from .heats import FINALISTS, after_race, batches, run_race, slack
from .jobs import run_batches
from .multiscale import MANY, solve_in_stages
from .outcome import Outcome, Tried, alike, challenged, conclude, finish, mirrored, regrouped, unnoticed
from .problem import Problem
from .result import StartRecord
from .settings import Settings
from .verdict import decide, judge

SHARED = 8  # starts of a batch on the CPU: what n_jobs shares out, always the same
HOPELESS = 0.02  # probability of a map below which it is not solved on many points
EFFORT = {"quick": 1, "normal": 4, "high": 8, "max": 30}  # waves of starts, at most


def solve_all(
    problem: Problem,
    wave: Wave,
    settings: Settings,
    *,
    ordered: bool,
    rng: np.random.Generator,
    on_step: Observer | None,
) -> Outcome:
    """Every start solved in full, in batches that fit memory."""
    tried = Tried(problem, settings, on_step)
    parts, jobs = batches(problem, len(wave.names), settings, most=SHARED)
    solves = [partial(solve_in_stages, problem, wave.maps[part], settings, ordered=ordered) for part in parts]
    for part, run in zip(parts, run_batches(solves, rng=rng, n_jobs=jobs, on_step=on_step), strict=True):
        tried.finishes.extend(finish(run, k, name, settings) for k, name in enumerate(wave.names[part]))
    found = regrouped(tried, conclude(tried))
    return found if len(tried.finishes) >= ENOUGH else challenged(problem, settings, found)


def race(
    problem: Problem,
    coming: Iterator[Wave],
    settings: Settings,
    *,
    effort: int,
    ordered: bool,
    rng: np.random.Generator,
    on_step: Observer | None,
) -> Outcome:
    """Wave after wave of starts until the verdict is sure or ``effort`` waves are spent.

    The best of a wave is solved in full; the next best too while the verdict is below one half, and wherever the race could
    not tell two different maps apart: that is how a symmetry shows. Two waves that end at one map, more likely right than
    not, are enough as well: more of them would only say the same. Of many points, a map that the evidence calls hopeless
    where the race left it is not solved in full, unless all are.
    """
    leaders: list[Array] = []
    tried = Tried(problem, settings, on_step)
    outcome: Outcome | None = None
    for number, wave in zip(range(effort), coming, strict=False):
        maps, values = run_race(problem, wave, settings, rng, ordered, on_step)
        kept: list[int] = []
        contenders = _distinct(problem, maps, values)
        if number < effort - 1 or outcome is not None:
            contenders = [k for k in contenders if not _hopeless(problem, settings, maps[k])]
        for k in contenders:
            close = bool(kept) and values[kept[0]] - values[k] <= slack(problem, settings, values[kept[0]])
            if outcome is not None and outcome.verdict.probability >= 0.5 and kept and not close:
                break
            kept.append(k)
            after = after_race(settings)
            run = solve_in_stages(problem, maps[k][None], after, ordered=ordered, rng=rng, on_step=on_step)
            tried.finishes.append(finish(run, 0, wave.names[k], settings))
            outcome = conclude(tried)
        sign = 1 if settings.larger_is_better else -1
        tried.dropped.extend(
            StartRecord(name, float(sign * values[k]), False) for k, name in enumerate(wave.names) if k not in kept
        )
        if outcome is None:
            continue
        outcome = replace(outcome, starts=tried.records())
        leaders += [one.map for one in tried.finishes[len(tried.finishes) - len(kept) :][:1]]
        agreeing = sum(alike(problem, outcome.winner.map, leader) for leader in leaders)
        likely = agreeing >= 2 and outcome.verdict.probability >= 0.5
        alone = decide(replace(outcome.verdict.evidence, rivals=0)).probability  # several maps may be wrong alike
        if likely or outcome.verdict.word == "aligned" or (outcome.verdict.symmetric and alone >= 0.5):
            break
    assert outcome is not None
    outcome = regrouped(tried, unnoticed(tried, mirrored(tried, outcome)))
    return challenged(problem, replace(settings, proper=False), outcome) if settings.proper else outcome


def _distinct(problem: Problem, maps: Array, values: Any) -> list[int]:
    """The best few by value that are different answers."""
    chosen: list[int] = []
    for k in np.argsort(-values, kind="stable"):
        if not any(alike(problem, maps[int(k)], maps[j]) for j in chosen):
            chosen.append(int(k))
        if len(chosen) == FINALISTS:
            break
    return chosen


def _hopeless(problem: Problem, settings: Settings, w: Array) -> bool:
    """Whether the evidence speaks clearly against a map before it is solved on many points, which is where that costs."""
    if max(problem.x.shape[0], problem.y.shape[0]) <= MANY:
        return False
    verdict = judge(problem, settings, w, None, agreement=1.0, rivals=0, rng=np.random.default_rng(0))
    return verdict.probability < HOPELESS
