"""The loop: plan step, map step, a smaller epsilon. Every start is a row of a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, namespace, to_numpy
from ..transport.plan import EntropicPlan, SparsePlan
from .halves import EntropicCoupler, ExactCoupler, PlanStep, best_maps
from .history import History, Step
from .problem import Problem, transport_cost
from .settings import Settings

PATIENCE = 50  # steps at the last epsilon after which only the best start must settle
STUCK = 0.9  # of the marginal error left after all the sweeps of a step: the next step will leave as much
ALIKE = 1.1  # the largest such error over the smallest, up to which starts can be compared all the same

Observer = Callable[[Step], object]
Floats = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Run:
    """Where a batch of s starts ended."""

    maps: Array  # (s, dx, dy)
    coupler: EntropicCoupler | ExactCoupler
    objectives: Floats  # (s,)
    values: Floats  # (s,): the objectives, signed so that larger is better
    settled: Floats  # (s,) bool
    records: list[dict[str, Any]]
    stage: str

    @property
    def best(self) -> int:
        return int(np.argmax(self.values))

    @property
    def epsilon(self) -> float:
        return float(self.records[-1]["epsilon"])

    def plan(self, start: int) -> EntropicPlan | SparsePlan:
        return self.coupler.plan(start)

    def history(self, start: int) -> History:
        return History([_step(record, start, self.stage) for record in self.records])


def alternate(
    problem: Problem,
    maps: Array,
    settings: Settings,
    *,
    on_step: Observer | None = None,
    stage: str = "solve",
    warm: EntropicCoupler | ExactCoupler | None = None,
    lenient: bool = False,
    hold: bool = False,
) -> Run:
    """Algorithm 1 of the paper from ``maps`` (s, dx, dy), all starts together.

    A start has settled when, at the last epsilon, its marginals are within tolerance and either its objective or its
    map has stopped changing. ``warm`` is the coupler of an earlier stage to go on from. ``lenient`` lets marginals be that
    are off alike for all starts and get no nearer: far clusters, whose shares of two samples differ, under any map.
    ``hold`` leaves the maps as they are and solves for their plans alone.
    """
    schedule = settings.schedule
    unit = 1.0 if schedule.absolute else problem.cost_scale
    epsilon = schedule.epsilon
    exact = settings.plan == "exact"
    coupler = warm or (ExactCoupler(problem, settings.memory) if exact else EntropicCoupler(problem, maps, settings))
    w, images = maps, None
    records: list[dict[str, Any]] = []
    floor_steps = 0
    settled = np.zeros(maps.shape[0], dtype=bool)
    for _ in range(settings.max_iter):
        floor_steps += exact or epsilon <= schedule.floor
        tol = settings.plan_tol if floor_steps else 10 * settings.plan_tol
        plan = coupler.couple(w, epsilon * unit, tol=tol)  # lines 8-14: C, Sinkhorn, Γ
        step, moment = best_maps(problem, plan.images, w, settings)  # lines 15-18: SVD, spectrum, P
        found = w if hold else step.map
        record = _measure(problem, settings, plan, images, moment, w, found)
        records.append(
            {"step": len(records), "epsilon": 0.0 if exact else epsilon, "gap": to_numpy(step.gap), **record}
        )
        w, images = found, plan.images
        values = _signed(records[-1]["objective"], settings)
        if on_step is not None:
            leader = int(np.argmax(values))
            on_step(replace(_step(records[-1], leader, stage), map=w[leader]))
        if floor_steps:
            still = record["map_change"] <= settings.tol
            if floor_steps >= 2:
                change = np.abs(records[-1]["objective"] - records[-2]["objective"])
                still = still | (change <= settings.tol * problem.score_scale)
            within = record["marginal_error"] <= settings.plan_tol
            settled = still & (within | (lenient and _stuck(records, settings)))
            if settled.all() or (floor_steps > PATIENCE and settled[np.argmax(values)]):
                break
        epsilon = schedule.after(epsilon, float(np.max(record["map_change"])))  # line 19
    return Run(w, coupler, records[-1]["objective"], values, settled, records, stage)


def _stuck(records: list[dict[str, Any]], settings: Settings) -> bool:
    """Whether the last two steps spent all their sweeps and left marginals off as before, and by as much for every start."""
    if len(records) < 2 or any(record["inner_iterations"] < settings.plan_max_iter for record in records[-2:]):
        return False
    before, now = (record["marginal_error"] for record in records[-2:])
    return bool(np.all(now >= STUCK * before) and np.max(now) <= ALIKE * np.min(now))


def _signed(objective: Floats, settings: Settings) -> Floats:
    return objective if settings.larger_is_better else -objective


def _measure(
    problem: Problem,
    settings: Settings,
    plan: PlanStep,
    last_images: Array | None,
    moment: Array,
    old: Array,
    new: Array,
) -> dict[str, Any]:
    """One record of the history, an entry a start."""
    xp = namespace(new)
    score = xp.sum(moment * new, axis=(-2, -1))
    cost = transport_cost(problem, moment, new)
    if last_images is None:
        plan_change = xp.full_like(score, xp.nan)
    else:
        move = xp.sum((plan.images - last_images) ** 2, axis=-1) / problem.a
        plan_change = xp.sqrt(xp.sum(move, axis=-1) / (problem.mean_square_y or 1.0))
    size = xp.sqrt(xp.sum(new**2, axis=(-2, -1)))
    return {
        "objective": to_numpy(score if settings.larger_is_better else cost),
        "energy": to_numpy((-2 * score if settings.larger_is_better else cost) + plan.divergence),
        "map_change": to_numpy(xp.sqrt(xp.sum((new - old) ** 2, axis=(-2, -1))) / xp.where(size > 0, size, 1 + size)),
        "plan_change": to_numpy(plan_change),
        "marginal_error": to_numpy(plan.error),
        "inner_iterations": plan.iterations,
        "mode": plan.mode,
    }


def _step(record: dict[str, Any], start: int, stage: str) -> Step:
    one = {key: value[start].item() if isinstance(value, np.ndarray) else value for key, value in record.items()}
    return Step(stage=stage, **one)
