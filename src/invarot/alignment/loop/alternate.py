"""The loop: plan step, map step, a smaller epsilon. Every start is a row of a batch, and ends as a candidate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import Array, namespace, to_numpy
from ...transport.plan import EntropicPlan
from ...transport.sparse_plan import SparsePlan
from ..budget import Budget
from ..candidate import Candidate
from ..history import History, Status, Step
from ..problem import Problem, transport_cost
from ..tuning import BRIEF_STEPS, LOOSER, ROUGH_STEPS
from .momentum import Momentum
from .partial import PartialCoupler, fit_matched
from .steps import EntropicCoupler, ExactCoupler, PlanStep, best_maps, make_coupler

Floats = np.ndarray[Any, Any]
Coupler = EntropicCoupler | ExactCoupler | PartialCoupler


@dataclass(frozen=True)
class Run:
    """The result of a batch of s starts."""

    maps: Array  # (s, dx, dy)
    coupler: Coupler
    objectives: Floats  # (s,)
    values: Floats  # (s,): the objectives, signed so that larger is better
    settled: Floats  # (s,) bool
    records: list[dict[str, Any]]
    stage: str

    @property
    def best(self) -> int:
        return int(np.argmax(self.values))

    @property
    def errors(self) -> Floats:
        """l_1 errors of the marginals (s,)."""
        return np.asarray(self.records[-1]["marginal_error"])

    @property
    def epsilon(self) -> float:
        return float(self.records[-1]["epsilon"])

    def plan(self, start: int) -> EntropicPlan | SparsePlan:
        return self.coupler.plan(start)

    def matched(self, start: int) -> tuple[Array, Array] | None:
        """Return the matched share of each point of x and of y; None where all mass is matched."""
        return self.coupler.matched(start) if isinstance(self.coupler, PartialCoupler) else None

    def history(self, start: int) -> History:
        return History([_step(record, start, self.stage) for record in self.records])


def alternate(
    problem: Problem,
    maps: Array,
    budget: Budget,
    *,
    stage: str = "solve",
    warm: EntropicPlan | SparsePlan | None = None,
    hold_map: bool = False,
    earlier: History | None = None,
) -> Run:
    """Run Algorithm 1 of the paper from ``maps`` (s, dx, dy), all starts together.

    A start has settled when, at the last epsilon, its marginals are within tolerance and either its objective or its map has
    stopped changing. ``warm`` is a plan to start from. ``hold_map`` keeps the maps fixed and solves only for their plans.
    ``earlier`` are the steps that led to the maps, where this run goes on at their last epsilon.
    """
    schedule = budget.schedule
    epsilon, floor = (0.0, 0.0) if schedule is None else (schedule.epsilon, schedule.floor)
    unit = 1.0 if schedule is None or schedule.absolute or problem.overlap else problem.cost_scale
    coupler: Coupler
    if problem.overlap is None:
        coupler = make_coupler(problem, maps.shape[0], budget, warm)
    else:
        coupler = PartialCoupler(problem, budget, moving=not hold_map)
    w, images, momentum = maps, None, Momentum(maps)
    smooth = schedule is not None and problem.orthogonal and problem.overlap is None and not hold_map
    records: list[dict[str, Any]] = []
    floor_steps = 0
    trail = [np.array([[one.objective], [one.energy]]) for one in earlier or () if one.epsilon == floor]
    settled = np.zeros(maps.shape[0], dtype=bool)
    for _ in range(budget.max_iter):
        floor_steps += epsilon <= floor
        tol = budget.plan_tol if floor_steps else LOOSER * budget.plan_tol
        ahead = momentum.look_ahead(w) if smooth and len(trail) >= BRIEF_STEPS else w
        plan = coupler.couple(ahead, epsilon * unit, tol=tol)  # lines 8-14: C, Sinkhorn, Γ
        # lines 15-18: SVD, spectrum, P
        step, moment = best_maps(problem, plan, w) if plan.mass is None else fit_matched(problem, plan)
        found = w if hold_map else step.map
        record = _measure(problem, plan, images, moment, w, found)
        records.append({"step": len(records), "epsilon": epsilon, "gap": to_numpy(step.gap), **record})
        if floor_steps:
            trail.append(np.stack([record["objective"], record["energy"]]))
        if len(trail) >= BRIEF_STEPS:  # most solves have settled by then
            momentum.follow(w, ahead, found)
        w, images = found, plan.images
        values = problem.sign * record["objective"]
        coming = 0.0 if schedule is None else schedule.after(epsilon, float(np.max(record["map_change"])))  # line 19
        if problem.on_step is not None:
            leader = int(np.argmax(values))
            left = count_left(epsilon, coming, floor)
            problem.on_step(replace(_step(records[-1], leader, stage), map=w[leader], left=left))
        if floor_steps:
            still = record["map_change"] <= budget.tol
            if floor_steps >= 2:
                still = still | _stands_still(trail, budget.tol * problem.score_scale, flat=smooth)
            settled = still & (record["marginal_error"] <= budget.plan_tol)
            done = settled | _stalled(problem, records[-floor_steps:], budget)
            if done.all() or (floor_steps > ROUGH_STEPS and done[np.argmax(values)]):
                break
        epsilon = coming
    return Run(w, coupler, records[-1]["objective"], values, settled, records, stage)


def make_candidate(problem: Problem, run: Run, index: int, name: str, earlier: History | None = None) -> Candidate:
    """Return start ``index`` of a finished run as a candidate; ``earlier`` is its history before the run."""
    if run.settled[index]:
        status = Status.SETTLED
    elif run.errors[index] > problem.budgets.solve.plan_tol:
        status = Status.MARGINALS
    else:
        status = Status.NOT_SETTLED
    return Candidate(
        name=name,
        map=run.maps[index],
        plan=run.plan(index),
        objective=float(run.objectives[index]),
        value=float(run.values[index]),
        epsilon=run.epsilon,
        status=status,
        history=(earlier or History()) + run.history(index),
        matched=run.matched(index),
    )


def solve_from(
    problem: Problem, w: Array, budget: Budget, name: str, *, stage: str, after: Candidate | None = None,
    hold_map: bool = False,
) -> Candidate:  # fmt: skip
    """Solve from the map w (dx, dy) alone; ``after`` another candidate, whose plan is a warm start.

    From its own map the solve goes on where that one ended: its steps count.
    """
    warm, earlier = (None, None) if after is None else (after.plan, after.history)
    onward = earlier if after is not None and w is after.map else None
    run = alternate(problem, w[None], budget, stage=stage, warm=warm, hold_map=hold_map, earlier=onward)
    return make_candidate(problem, run, 0, name, earlier)


def continue_from(
    problem: Problem, candidate: Candidate, w: Array, budget: Budget, *, stage: str, hold_map: bool = False
) -> Candidate:
    """Continue ``candidate`` from the map w (dx, dy), with its plan as a warm start."""
    found = solve_from(problem, w, budget, candidate.name, stage=stage, after=candidate, hold_map=hold_map)
    unsettled = hold_map and not candidate.settled  # a plan that settles does not settle the map it is for
    return replace(found, status=candidate.status) if unsettled else found


def _stands_still(trail: list[Floats], tol: float, *, flat: bool) -> Floats:
    """Return for each start whether objective and energy, rows of ``trail`` at the last epsilon, have stopped changing.

    The energy too: the objective moves with the error of the marginals, and may stand still by chance. On ground that may be
    ``flat`` one small step is no sign, since where momentum begins again every step is small: what the later half of all steps
    has gained bounds what is left to gain (docs/method.md).
    """
    last, half = (np.abs(trail[-1] - trail[-1 - back]).max(axis=0) for back in (1, len(trail) // 2))
    return np.asarray((last <= tol) & (not flat or half <= LOOSER * LOOSER * tol))


def _stalled(problem: Problem, records: list[dict[str, Any]], budget: Budget) -> Floats:
    """Return for each start whether further steps at the last epsilon, whose ``records`` these are, promise nothing.

    Its objective has not risen in the later half of these steps, and its marginal error falls too slowly to be within
    tolerance by the last step that the budget allows: rounding, or weights and costs of very different size, hold it up.
    """
    half = ROUGH_STEPS
    errors = np.stack([record["marginal_error"] for record in records[-2 * half :]])
    if len(errors) < 2 * half:
        return np.zeros(errors.shape[1], dtype=bool)
    values = problem.sign * np.stack([record["objective"] for record in records])
    risen = values[-half:].max(axis=0) > values[:-half].max(axis=0) + budget.tol * problem.score_scale
    before, now = errors[:half].min(axis=0), errors[half:].min(axis=0)
    left = max(budget.max_iter - records[-1]["step"], 0) / half
    with np.errstate(divide="ignore", invalid="ignore"):
        reached = np.log(now) + left * np.minimum(np.log(now / before), 0.0)
    return np.asarray(~risen & ~(reached <= np.log(max(budget.plan_tol, 1e-300))))


def count_left(epsilon: float, coming: float, floor: float) -> int:
    """Return about how many steps are left, if epsilon goes on falling as in the last step; it stays two steps at the floor."""
    if epsilon <= floor or coming >= epsilon:
        return 1
    return 2 + round(math.log(floor / coming) / math.log(coming / epsilon))


def _measure(
    problem: Problem, plan: PlanStep, last_images: Array | None, moment: Array, old: Array, new: Array
) -> dict[str, Any]:
    """Return one record of the history, with an entry per start."""
    xp = namespace(new)
    score = xp.sum(moment * new, axis=(-2, -1))
    cost = transport_cost(problem, moment, new)
    if last_images is None:
        plan_change = xp.full_like(score, xp.nan)
    else:
        square = float(xp.linalg.trace(problem.second_moment)) if plan.turned else problem.mean_square_y
        move = xp.sum((plan.images - last_images) ** 2, axis=-1) / (problem.b if plan.turned else problem.a)
        plan_change = xp.sqrt(problem.rows.sum(xp.sum(move, axis=-1)) / (square or 1.0))
    size = xp.sqrt(xp.sum(new**2, axis=(-2, -1)))
    return {
        "objective": to_numpy(score if problem.sign > 0 else cost),
        "energy": to_numpy((-2 * score if problem.sign > 0 else cost) + plan.divergence),
        "map_change": to_numpy(xp.sqrt(xp.sum((new - old) ** 2, axis=(-2, -1))) / xp.where(size > 0, size, 1 + size)),
        "plan_change": to_numpy(plan_change),
        "marginal_error": to_numpy(plan.error),
        "inner_iterations": plan.iterations,
        "mode": plan.mode,
    }


def _step(record: dict[str, Any], start: int, stage: str) -> Step:
    one = {key: value[start].item() if isinstance(value, np.ndarray) else value for key, value in record.items()}
    return Step(stage=stage, **one)
