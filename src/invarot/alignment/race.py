"""Many starts, one winner: raced in batches on a coarse problem, the best solved in full, the verdict asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy
from ..starts.portfolio import Wave
from ..transport.plan import EntropicPlan, SparsePlan
from ..transport.schedule import Schedule
from . import mirrors
from .alternate import Observer, Run, alternate
from .challenge import ENOUGH, better_answers
from .heats import FINALISTS, after_race, batches, run_race, slack
from .history import History
from .jobs import run_batches
from .multiscale import MANY, solve_in_stages
from .problem import Problem
from .regroup import applies, regroup
from .result import StartRecord, Status
from .settings import Settings
from .verdict import Verdict, decide, judge, nearest

SHARED = 8  # starts of a batch on the CPU: what n_jobs shares out, always the same
HOPELESS = 0.02  # probability of a map below which it is not solved on many points
SAME_MAP = 0.1  # two maps are one if they differ by less than this part of their norm
PROBES = 300  # points on which two maps that differ by more are compared
EFFORT = {"quick": 1, "normal": 4, "high": 8, "max": 30}  # waves of starts, at most


@dataclass(frozen=True)
class Finish:
    """One start solved in full."""

    name: str
    map: Array
    objective: float
    value: float  # the objective, signed so that larger is better
    status: Status
    run: Run
    index: int
    earlier: History = field(default_factory=History)  # of what this start went through before the run

    @property
    def plan(self) -> EntropicPlan | SparsePlan:
        return self.run.plan(self.index)

    @property
    def history(self) -> History:
        return self.earlier + self.run.history(self.index)


@dataclass(frozen=True)
class Outcome:
    """The best of all starts, the record of each, and the verdict."""

    winner: Finish
    starts: tuple[StartRecord, ...]
    verdict: Verdict


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
    finishes: list[Finish] = []
    parts, jobs = batches(problem, len(wave.names), settings, most=SHARED)
    solves = [partial(solve_in_stages, problem, wave.maps[part], settings, ordered=ordered) for part in parts]
    for part, run in zip(parts, run_batches(solves, rng=rng, n_jobs=jobs, on_step=on_step), strict=True):
        finishes += [_finish(run, k, name, settings) for k, name in enumerate(wave.names[part])]
    found = _regrouped(problem, settings, finishes, _conclude(problem, settings, finishes, [], on_step), [], on_step)
    return found if len(finishes) >= ENOUGH else _challenged(problem, settings, found)


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
    finishes: list[Finish] = []
    dropped: list[StartRecord] = []
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
            finishes.append(_finish(run, 0, wave.names[k], settings))
            outcome = _conclude(problem, settings, finishes, dropped, on_step)
        sign = 1 if settings.larger_is_better else -1
        dropped += [
            StartRecord(name, float(sign * values[k]), False) for k, name in enumerate(wave.names) if k not in kept
        ]
        if outcome is None:
            continue
        outcome = replace(outcome, starts=_records(finishes, dropped))
        leaders += [one.map for one in finishes[len(finishes) - len(kept) :][:1]]
        agreeing = sum(_alike(problem, outcome.winner.map, leader) for leader in leaders)
        likely = agreeing >= 2 and outcome.verdict.probability >= 0.5
        alone = decide(replace(outcome.verdict.evidence, rivals=0)).probability  # several maps may be wrong alike
        if likely or outcome.verdict.word == "aligned" or (outcome.verdict.symmetric and alone >= 0.5):
            break
    assert outcome is not None
    outcome = _mirrored(problem, settings, finishes, outcome, dropped, on_step)
    outcome = _regrouped(problem, settings, finishes, outcome, dropped, on_step)
    return _challenged(problem, replace(settings, proper=False), outcome) if settings.proper else outcome


def _finish(run: Run, index: int, name: str, settings: Settings) -> Finish:
    if run.settled[index]:
        status = Status.SETTLED
    elif run.records[-1]["marginal_error"][index] > settings.plan_tol:
        status = Status.MARGINALS
    else:
        status = Status.NOT_SETTLED
    return Finish(name, run.maps[index], float(run.objectives[index]), float(run.values[index]), status, run, index)


def _alike(problem: Problem, one: Array, other: Array) -> bool:
    """Whether two maps are one answer."""
    return bool(_alike_each(problem, one, other[None])[0])


def _alike_each(problem: Problem, one: Array, others: Array) -> Any:
    """For each of others (s, dx, dy), whether it equals ``one`` nearly, or sends most points to the same place; (s,)."""
    xp = namespace(one)
    gap = xp.sqrt(xp.sum((others - one) ** 2, axis=(-2, -1)))
    alike = to_numpy(gap <= SAME_MAP * xp.sqrt(xp.sum(one**2)))
    rest = np.flatnonzero(~alike)
    if rest.size:
        probes = problem.x[:: max(1, problem.x.shape[0] // PROBES)]
        count = probes.shape[0]
        mapped = probes @ others[as_like(rest, one, dtype=xp.int64)]
        there = xp.reshape(nearest(xp.reshape(mapped, (-1, one.shape[1])), problem.y), (-1, count))
        same = xp.astype(there == nearest(probes @ one, problem.y), one.dtype)
        alike[rest] = to_numpy(xp.mean(same, axis=-1)) >= 0.5
    return alike


def _distinct(problem: Problem, maps: Array, values: Any) -> list[int]:
    """The best few by value that are different answers."""
    chosen: list[int] = []
    for k in np.argsort(-values, kind="stable"):
        if not any(_alike(problem, maps[int(k)], maps[j]) for j in chosen):
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


def _records(finishes: list[Finish], dropped: list[StartRecord]) -> tuple[StartRecord, ...]:
    return (*(StartRecord(one.name, one.objective, True) for one in finishes), *dropped)


def _conclude(
    problem: Problem,
    settings: Settings,
    finishes: list[Finish],
    dropped: list[StartRecord],
    on_step: Observer | None,
) -> Outcome:
    """The best of all finished starts, sharpened, and the verdict on it."""
    winner = max(finishes, key=lambda one: one.value)
    rivals = [winner.map]
    alike = _alike_each(problem, winner.map, namespace(winner.map).stack([one.map for one in finishes]))
    for one, same in zip(finishes, alike, strict=True):
        if (
            not same
            and winner.value - one.value <= slack(problem, settings, winner.value)
            and not any(_alike(problem, one.map, other) for other in rivals)
        ):
            rivals.append(one.map)
    winner = _sharpen(problem, settings, winner, on_step)
    verdict = judge(
        problem, settings, winner.map, winner.plan,
        agreement=float(np.mean(alike)), rivals=len(rivals) - 1, rng=np.random.default_rng(0),
    )  # fmt: skip
    return Outcome(winner, _records(finishes, dropped), verdict)


def _mirrored(
    problem: Problem,
    settings: Settings,
    finishes: list[Finish],
    outcome: Outcome,
    dropped: list[StartRecord],
    on_step: Observer | None,
) -> Outcome:
    """The outcome, or where a direction of its map lay the wrong way round the better one, which takes its place."""
    winner = outcome.winner
    if not (mirrors.applies(problem, settings) and isinstance(winner.plan, EntropicPlan)):
        return outcome
    run = mirrors.improve(problem, settings, winner.plan, winner.value, on_step)
    if run is None:
        return outcome
    best = max(range(len(finishes)), key=lambda k: finishes[k].value)
    turned = replace(_finish(run, 0, winner.name, settings), earlier=winner.history)
    found = _conclude(problem, settings, [*finishes[:best], turned, *finishes[best + 1 :]], dropped, on_step)
    if found.winner.history[-1].objective < winner.history[-1].objective:  # its plan could not be sharpened as far
        return outcome
    finishes[best] = turned
    return found


def _regrouped(
    problem: Problem,
    settings: Settings,
    finishes: list[Finish],
    outcome: Outcome,
    dropped: list[StartRecord],
    on_step: Observer | None,
) -> Outcome:
    """The outcome, or a better one from the same start where few points in many dimensions hold wrong matches."""
    better = regroup(problem, outcome.winner.map, np.random.default_rng(0)) if applies(problem, settings) else None
    if better is None:
        return outcome
    last = replace(settings, schedule=replace(settings.schedule, epsilon=settings.schedule.floor))
    run = alternate(problem, better[None], last, stage="regroup", on_step=on_step)
    found = _finish(run, 0, outcome.winner.name, settings)
    if found.value <= outcome.winner.value:
        return outcome
    found = replace(found, earlier=outcome.winner.history)
    return _conclude(problem, settings, [*finishes, found], dropped, on_step)


def _challenged(problem: Problem, settings: Settings, outcome: Outcome) -> Outcome:
    """The outcome, no longer called aligned where plain starts under ``settings`` do better."""
    if outcome.verdict.word != "aligned":
        return outcome
    better = better_answers(problem, settings, outcome.winner.map, np.random.default_rng(0))
    return replace(outcome, verdict=decide(replace(outcome.verdict.evidence, better=better)))


def _sharpen(problem: Problem, settings: Settings, winner: Finish, on_step: Observer | None) -> Finish:
    """The winner at the sharpest epsilon worth trying; kept only where its marginals come within tolerance in time."""
    if settings.sharpest is None or settings.sharpest >= settings.schedule.floor or settings.plan == "exact":
        return winner
    schedule = Schedule(settings.schedule.floor, 0.6, settings.sharpest)
    brief = replace(settings, max_iter=min(20, settings.max_iter), schedule=schedule)
    run = alternate(
        problem, winner.map[None], brief, stage="sharpen", on_step=on_step,
        warm=winner.run.coupler.only(winner.index),
    )  # fmt: skip
    if not run.settled[0]:
        return winner
    finer = _finish(run, 0, winner.name, settings)
    return replace(finer, objective=winner.objective, value=winner.value, earlier=winner.history)
