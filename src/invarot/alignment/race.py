"""Many starts, one winner: raced in batches on a coarse problem, the best solved in full, the verdict asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy
from ..starts.portfolio import Wave
from ..transport.choice import SHARE_OF_FREE, free_memory
from .alternate import Observer, Run, alternate
from .problem import Problem
from .result import StartRecord
from .settings import Settings
from .verdict import SAME_MAP, SAME_VALUE, Verdict, judge

RACE_POINTS = 1000  # a race is run on at most so many points of each cloud
RACE_FLOOR = 0.03  # and only down to this epsilon
FINALISTS = 2  # of each race go on to the full problem
EFFORT = {"quick": 1, "normal": 3, "high": 8, "max": 30}  # waves of starts, at most


@dataclass(frozen=True)
class Outcome:
    """The winner of all starts."""

    run: Run
    index: int
    starts: tuple[StartRecord, ...]
    verdict: Verdict


def solve_batch(problem: Problem, maps: Array, names: list[str], settings: Settings, on_step: Observer | None,
                rng: np.random.Generator) -> Outcome:
    """Every start solved in full, in batches that fit memory."""
    runs = []
    for part in _batches(problem, maps.shape[0], settings):
        runs.append(alternate(problem, maps[part], settings, on_step=on_step))
    return _conclude(problem, settings, runs, names, [], rng)


def race(problem: Problem, coming: Iterator[Wave], settings: Settings, on_step: Observer | None, effort: int,
         rng: np.random.Generator, ordered: bool) -> Outcome:
    """Waves of starts until the verdict is sure or ``effort`` waves are spent."""
    runs: list[Run] = []
    finalists: list[str] = []
    dropped: list[StartRecord] = []
    outcome = None
    for number, wave in zip(range(effort), coming):
        maps, names = wave.maps, wave.names
        if maps.shape[0] > FINALISTS:
            short, scale = _short(problem, settings, rng, ordered)
            order = []
            values = np.empty(maps.shape[0])
            reached = []
            for part in _batches(short, maps.shape[0], settings):
                run = alternate(short, maps[part], scale, stage="race", on_step=on_step)
                values[part] = run.values
                reached.append(run.maps)
            moved = namespace(maps).concat(reached, axis=0)
            order = _distinct(moved, values, FINALISTS)
            dropped += [StartRecord(names[i], float(abs(values[i])), False) for i in range(len(names)) if i not in order]
            maps, names = moved[as_like(np.asarray(order), maps, dtype=namespace(maps).int64)], [names[i] for i in order]
        runs.append(alternate(problem, maps, settings, on_step=on_step))
        finalists += names
        outcome = _conclude(problem, settings, runs, finalists, dropped, rng)
        if outcome.verdict.word == "aligned" or outcome.verdict.evidence.rivals:
            break
    assert outcome is not None
    return outcome


def _short(problem: Problem, settings: Settings, rng: np.random.Generator, ordered: bool) -> tuple[Problem, Settings]:
    """The problem a race is run on: fewer points, a higher last epsilon, looser tolerances."""
    schedule = settings.schedule
    quick = replace(
        settings, schedule=replace(schedule, floor=max(RACE_FLOOR if not schedule.absolute else 0, schedule.floor),
                                   epsilon=max(schedule.epsilon, RACE_FLOOR), decay=min(schedule.decay, 0.8)),
        tol=10 * settings.tol, plan_tol=10 * settings.plan_tol, plan_max_iter=20, max_iter=min(40, settings.max_iter),
    )
    return subproblem(problem, RACE_POINTS, rng, ordered), quick


def subproblem(problem: Problem, size: int, rng: np.random.Generator, ordered: bool) -> Problem:
    """At most ``size`` points of each cloud: the first where rows are ordered, else drawn at random by weight."""
    parts = []
    for points, weights in ((problem.x, problem.a), (problem.y, problem.b)):
        n = points.shape[0]
        if n <= size:
            parts.append((points, weights))
            continue
        rows = np.arange(size) if ordered else np.sort(rng.choice(n, size, replace=False))
        index = as_like(rows, points, dtype=namespace(points).int64)
        weight = weights[index]
        parts.append((points[index], weight / namespace(weight).sum(weight)))
    (x, a), (y, b) = parts
    return replace(problem, x=x, a=a, y=y, b=b)


def _batches(problem: Problem, count: int, settings: Settings) -> list[slice]:
    """Slices of the starts whose kernels fit memory together."""
    bound = settings.memory if settings.memory is not None else int(SHARE_OF_FREE * free_memory(problem.x))
    each = problem.x.shape[0] * problem.y.shape[0] * problem.x.dtype.itemsize + 1
    size = max(1, min(count, bound // (2 * each)))
    return [slice(i, min(i + size, count)) for i in range(0, count, size)]


def _difference(one: Array, other: Array) -> float:
    xp = namespace(one)
    return float(xp.sqrt(xp.sum((one - other) ** 2) / xp.sum(one**2)))


def _distinct(maps: Array, values: np.ndarray, count: int) -> list[int]:  # type: ignore[type-arg]
    """The best ``count`` by value whose maps differ."""
    chosen: list[int] = []
    for i in np.argsort(-values, kind="stable"):
        if all(_difference(maps[int(i)], maps[j]) > SAME_MAP for j in chosen):
            chosen.append(int(i))
        if len(chosen) == count:
            break
    return chosen


def _conclude(problem: Problem, settings: Settings, runs: list[Run], names: list[str], dropped: list[StartRecord],
              rng: np.random.Generator) -> Outcome:
    """The best of all finished starts, and the verdict on it."""
    best = max(runs, key=lambda run: float(run.values.max()))
    index = best.best
    winner = best.maps[index]
    same, rivals, total = 0, [], 0
    for run in runs:
        for k in range(run.maps.shape[0]):
            total += 1
            if _difference(winner, run.maps[k]) <= SAME_MAP:
                same += 1
            elif run.values[k] >= best.values[index] - SAME_VALUE * problem.score_scale:
                if all(_difference(run.maps[k], other) > SAME_MAP for other in rivals):
                    rivals.append(run.maps[k])
    verdict = judge(problem, settings, winner, best.plan(index), agreement=same / total, rivals=len(rivals), rng=rng)
    finished = [StartRecord(name, float(value), True)
                for name, value in zip(names, np.concatenate([run.objectives for run in runs]), strict=True)]
    return Outcome(best, index, (*finished, *dropped), verdict)
