"""What came of the starts that were solved: the best of them, improved where it can be, and the verdict on it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy
from ..retrieval.nearest import nearest
from ..transport.plan import EntropicPlan, SparsePlan
from ..transport.schedule import Schedule
from . import mirrors, symmetry
from .alternate import Observer, Run, alternate
from .challenge import better_answers
from .heats import batches, slack
from .history import History
from .problem import Problem
from .regroup import applies, regroup
from .result import StartRecord, Status
from .settings import Settings
from .verdict import Verdict, decide, judge

SAME_MAP = 0.1  # two maps are one if they differ by less than this part of their norm
PROBES = 300  # points on which two maps that differ by more are compared
RIVALS = 3  # that are sharpened beside the winner, at most


@dataclass(frozen=True, eq=False)  # one is known by what it is, not by what it holds
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

    @property
    def ended(self) -> float:
        """The signed objective at the epsilon it ended at: ``value``, unless it was sharpened."""
        return float(self.run.values[self.index])


@dataclass(frozen=True)
class Tried:
    """All that a solve has tried so far: starts solved in full, and what became of those dropped on the way."""

    problem: Problem
    settings: Settings
    on_step: Observer | None
    finishes: list[Finish] = field(default_factory=list)
    dropped: list[StartRecord] = field(default_factory=list)
    sharp: dict[Finish, Finish] = field(default_factory=dict)  # what has been sharpened, and what it became

    def records(self) -> tuple[StartRecord, ...]:
        return (*(StartRecord(one.name, one.objective, True) for one in self.finishes), *self.dropped)


@dataclass(frozen=True)
class Outcome:
    """The best of all starts, the record of each, and the verdict."""

    winner: Finish
    place: int  # of the winner, before it was sharpened, among the finished starts
    starts: tuple[StartRecord, ...]
    verdict: Verdict


def finish(run: Run, index: int, name: str, settings: Settings) -> Finish:
    """Start ``index`` of a run that is over."""
    if run.settled[index]:
        status = Status.SETTLED
    elif run.records[-1]["marginal_error"][index] > settings.plan_tol:
        status = Status.MARGINALS
    else:
        status = Status.NOT_SETTLED
    return Finish(name, run.maps[index], float(run.objectives[index]), float(run.values[index]), status, run, index)


def alike(problem: Problem, one: Array, other: Array) -> bool:
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


def conclude(tried: Tried) -> Outcome:
    """The best of all finished starts, sharpened, and the verdict on it."""
    problem, settings, finishes = tried.problem, tried.settings, tried.finishes
    maps = namespace(finishes[0].map).stack([one.map for one in finishes])
    place, *others = sorted(range(len(finishes)), key=lambda k: -finishes[k].value)
    winner = finishes[place]
    rivals: list[Finish] = []
    same_as_winner = _alike_each(problem, winner.map, maps)
    for k in others:
        one = finishes[k]
        if (
            not same_as_winner[k]
            and winner.value - one.value <= slack(problem, settings, winner.value)
            and not any(alike(problem, one.map, other.map) for other in rivals)
        ):
            rivals.append(one)
    winner, *rivals = _told_apart(tried, [winner, *rivals])
    if winner is not finishes[place]:
        place = finishes.index(winner)
        same_as_winner = _alike_each(problem, winner.map, maps)
    winner = _sharpened(tried, winner)
    verdict = judge(
        problem, settings, winner.map, winner.plan,
        agreement=float(np.mean(same_as_winner)), rivals=len(rivals), rng=np.random.default_rng(0),
    )  # fmt: skip
    return Outcome(winner, place, tried.records(), verdict)


def mirrored(tried: Tried, outcome: Outcome) -> Outcome:
    """The outcome, or where a direction of its map lay the wrong way round the better one, which takes its place."""
    problem, settings, winner = tried.problem, tried.settings, outcome.winner
    if not (mirrors.applies(problem, settings) and isinstance(winner.plan, EntropicPlan)):
        return outcome
    run = mirrors.improve(problem, settings, winner.plan, winner.value, tried.on_step)
    if run is None:
        return outcome
    tried.finishes[outcome.place] = replace(finish(run, 0, winner.name, settings), earlier=winner.history)
    return conclude(tried)


def regrouped(tried: Tried, outcome: Outcome) -> Outcome:
    """The outcome, or a better one from the same start where few points in many dimensions hold wrong matches."""
    problem, settings = tried.problem, tried.settings
    better = regroup(problem, outcome.winner.map, np.random.default_rng(0)) if applies(problem, settings) else None
    if better is None:
        return outcome
    last = replace(settings, schedule=replace(settings.schedule, epsilon=settings.schedule.floor))
    run = alternate(problem, better[None], last, stage="regroup", on_step=tried.on_step)
    found = finish(run, 0, outcome.winner.name, settings)
    if found.value <= outcome.winner.value:
        return outcome
    found = replace(found, earlier=outcome.winner.history)
    return conclude(replace(tried, finishes=[*tried.finishes, found]))


def unnoticed(tried: Tried, outcome: Outcome) -> Outcome:
    """The outcome, with those mirror images of a sure answer among the starts that may be as good."""
    problem, settings = tried.problem, tried.settings
    sure = outcome.verdict.word == "aligned" and not outcome.verdict.evidence.rivals
    if not (sure and symmetry.applies(problem, settings)):
        return outcome
    maps = symmetry.images(problem, outcome.winner.map, proper=settings.proper)
    if not maps.shape[0]:
        return outcome
    last = replace(settings, schedule=replace(settings.schedule, epsilon=settings.schedule.floor))
    for part in batches(problem, maps.shape[0], settings)[0]:
        run = alternate(problem, maps[part], last, stage="symmetry", on_step=tried.on_step)
        tried.finishes.extend(finish(run, k, "symmetry", settings) for k in range(part.stop - part.start))
    return conclude(tried)


def challenged(problem: Problem, settings: Settings, outcome: Outcome) -> Outcome:
    """The outcome, no longer called aligned where plain starts under ``settings`` do better."""
    if outcome.verdict.word != "aligned":
        return outcome
    better = better_answers(problem, settings, outcome.winner.map, np.random.default_rng(0))
    return replace(outcome, verdict=decide(replace(outcome.verdict.evidence, better=better)))


def _told_apart(tried: Tried, equals: list[Finish]) -> list[Finish]:
    """Of finishes that score alike, best first, those that still do at the sharpest epsilon, the best there first.

    What a plan blurs two maps may share, a reflection above all, and its score does not tell them apart.
    """
    few, more = equals[: RIVALS + 1], equals[RIVALS + 1 :]
    if len(few) == 1:
        return equals
    ends = [_sharpened(tried, one) for one in few]
    if any(end is one for end, one in zip(ends, few, strict=True)):
        return equals  # not all of them at one epsilon
    order = sorted(range(len(few)), key=lambda k: -ends[k].ended)
    best = ends[order[0]].ended
    near = slack(tried.problem, tried.settings, best)
    return [few[k] for k in order if best - ends[k].ended <= near] + more


def _sharpened(tried: Tried, one: Finish) -> Finish:
    """``one`` at the sharpest epsilon worth trying, or as it is where its marginals do not come within tolerance in time."""
    if one not in tried.sharp:
        tried.sharp[one] = _sharpen(tried, one)
    return tried.sharp[one]


def _sharpen(tried: Tried, winner: Finish) -> Finish:
    settings = tried.settings
    if settings.sharpest is None or settings.sharpest >= settings.schedule.floor or settings.plan == "exact":
        return winner
    schedule = Schedule(settings.schedule.floor, 0.6, settings.sharpest)
    brief = replace(settings, max_iter=min(20, settings.max_iter), schedule=schedule)
    run = alternate(
        tried.problem, winner.map[None], brief, stage="sharpen", on_step=tried.on_step,
        warm=winner.run.coupler.only(winner.index),
    )  # fmt: skip
    if not run.settled[0]:
        return winner
    finer = finish(run, 0, winner.name, settings)
    return replace(finer, objective=winner.objective, value=winner.value, earlier=winner.history)
