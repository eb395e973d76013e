"""What each part of a solve may spend: outer steps, epsilons, tolerances, memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..arrays import Array, machine_epsilon, namespace
from ..transport.choice import parse_memory
from ..transport.schedule import Schedule
from .options import Sinkhorn, Solver, Stages
from .tuning import (
    BRIEF_STEPS,
    COARSE_EPSILON,
    DECAY,
    FIRST_EPSILON,
    LAST_EPSILON,
    LOOSER,
    PARTIAL_EPSILON,
    PARTIAL_SWEEPS,
    ROUGH_STEPS,
    SEARCH_FLOOR,
)


@dataclass(frozen=True)
class Budget:
    """The budget of one call of the alternation. ``schedule`` None: exact plans, which have no epsilon."""

    schedule: Schedule | None
    tol: float
    max_iter: int
    plan_tol: float
    plan_max_iter: int
    memory: int | None

    def along(self, schedule: Schedule | None) -> Budget:
        """Return the same budget with another schedule."""
        return replace(self, schedule=schedule)

    def from_epsilon(self, epsilon: float) -> Budget:
        """Return the same budget with the schedule starting at ``epsilon`` (not below its floor)."""
        return self if self.schedule is None else self.along(self.schedule.starting_at(epsilon))

    def at_floor(self) -> Budget:
        """Return the same budget at the last epsilon only."""
        return self if self.schedule is None else self.along(self.schedule.last())

    def at_epsilon(self, epsilon: float) -> Budget:
        """Return the same budget at one epsilon only."""
        if self.schedule is None or not epsilon:
            return self
        return self.along(Schedule.fixed(epsilon, absolute=self.schedule.absolute))

    def at_most(self, steps: int) -> Budget:
        return replace(self, max_iter=min(steps, self.max_iter))

    def at_least(self, sweeps: int) -> Budget:
        """Return the same budget with that many sweeps for a plan, if it has fewer."""
        return replace(self, plan_max_iter=max(sweeps, self.plan_max_iter))

    def roughly(self) -> Budget:
        """Return the budget of a stage before the last: few steps, and no finer than the marginals of its plans."""
        return replace(self, tol=max(self.tol, self.plan_tol)).at_most(ROUGH_STEPS)

    def within_rounding(self, points: Array, cost_scale: float) -> Budget:
        """Return the same budget with marginal tolerances no tighter than the dtype of ``points`` allows.

        Potentials are about cost/ε, and a relative rounding error η of one changes its marginal by η·cost/ε.
        """
        if self.schedule is None:
            return self
        floor = self.schedule.floor / (cost_scale if self.schedule.absolute else 1.0)
        reachable = 16 * machine_epsilon(points) / floor
        return replace(self, plan_tol=max(self.plan_tol, reachable))


@dataclass(frozen=True)
class Budgets:
    """The budgets of all parts of one solve.

    ``adaptive``: the caller gave no schedule, so that stages and a last, sharper epsilon are chosen here. ``moved``: the schedule
    that replaced the caller's, where the precision of the points did not allow that.
    """

    solve: Budget
    stages: Stages | None = None
    adaptive: bool = False
    sharpest: float | None = None
    moved: Schedule | None = None

    def within_precision(self, points: Array, largest: float, cost_scale: float) -> Budgets:
        """Return the same budgets with no epsilon that the dtype of ``points`` cannot tell from 0 or from infinity.

        ``largest`` bounds the inner products of mapped points. Scores are at most 2·largest/ε: a relative rounding error η of
        them changes an entry of the plan by the factor exp(2η·largest/ε), and scores below η leave the plan a bᵀ.
        """
        eta, schedule = machine_epsilon(points), self.solve.schedule
        if schedule is None:
            return self
        largest = largest or cost_scale
        low, high = 16 * eta * largest, largest / eta
        relative = low / cost_scale, high / cost_scale
        kept = schedule.between(*((low, high) if schedule.absolute else relative))
        sharpest = None if self.sharpest is None else max(self.sharpest, relative[0])
        return replace(
            self, solve=self.solve.along(kept), sharpest=sharpest,
            moved=kept if kept != schedule and not self.adaptive else None,
        )  # fmt: skip

    @property
    def race(self) -> Budget:
        """Return looser tolerances, and epsilon down to where single points begin to matter."""
        schedule, solve = self.solve.schedule, self.solve
        if schedule is not None and not schedule.absolute:
            schedule = schedule.ending_at(max(COARSE_EPSILON, schedule.floor))
        return replace(
            solve, schedule=schedule, tol=max(LOOSER * solve.tol, solve.plan_tol), max_iter=min(ROUGH_STEPS, solve.max_iter),
            plan_max_iter=min(Sinkhorn.plan_max_iter, solve.plan_max_iter),
        )  # fmt: skip

    @property
    def first_heat(self) -> Budget:
        race = self.race.at_most(BRIEF_STEPS)
        return replace(race, plan_tol=LOOSER * race.plan_tol, plan_max_iter=min(ROUGH_STEPS, race.plan_max_iter))

    @property
    def after_race(self) -> Budget:
        """Return the budget for all points, from the last epsilon of a race."""
        return self.solve.from_epsilon(COARSE_EPSILON) if self.adaptive else self.solve

    @property
    def rough_finals(self) -> Budget:
        """Return the same with a looser tolerance: enough to compare finalists, of which only one is solved on."""
        budget = self.after_race
        return replace(budget, tol=LOOSER * budget.tol)

    @property
    def sharpen(self) -> Budget | None:
        """Return the budget from the floor of the solve to the smallest epsilon; None if that is not smaller."""
        schedule = self.solve.schedule
        if schedule is None or self.sharpest is None or self.sharpest >= schedule.floor:
            return None
        finer = Schedule(schedule.floor, DECAY, self.sharpest, adaptive=True)
        return self.solve.along(finer).at_most(ROUGH_STEPS)

    @property
    def contest(self) -> Budget:
        """Return the budget of a map and its reflections, on few points and at one high epsilon.

        Without a memory limit: batches are cut to it, and one kernel of so few points is small.
        """
        return Budget(
            Schedule.fixed(COARSE_EPSILON), self.solve.tol, BRIEF_STEPS, LOOSER * Sinkhorn.plan_tol, ROUGH_STEPS, None
        )

    def for_part(self) -> Budgets:
        """Return the budgets where mass may stay unmatched: epsilon is relative to the squared cut, and nothing is sharpened."""
        solve = self.solve
        if self.adaptive:
            first, last = PARTIAL_EPSILON
            solve = solve.along(Schedule(first, DECAY**2, last)).at_most(2 * ROUGH_STEPS)
            solve = replace(solve, plan_max_iter=min(PARTIAL_SWEEPS, solve.plan_max_iter))
        return replace(self, solve=solve, sharpest=None)


def make_budgets(solver: Solver, spacing: float) -> Budgets:
    """Return the budgets for a solver's options; ``spacing`` of the points is relative to the cost scale."""
    memory = parse_memory(solver.memory)
    if not isinstance(solver, Sinkhorn):
        return Budgets(Budget(None, solver.tol, solver.max_iter, 0.0, 1, memory), solver.stages)
    schedule, sharpest = solver.schedule, None
    adaptive = schedule is None
    if schedule is None:
        # what single points change below the tolerance of the marginals does not show
        sharpest = min(max(spacing, Sinkhorn.plan_tol) / LOOSER, LAST_EPSILON)
        schedule = Schedule(FIRST_EPSILON, DECAY, max(sharpest, SEARCH_FLOOR), adaptive=True)
    elif not isinstance(schedule, Schedule):
        schedule = Schedule.fixed(float(schedule))
    solve = Budget(schedule, solver.tol, solver.max_iter, solver.plan_tol, solver.plan_max_iter, memory)
    return Budgets(solve, solver.stages, adaptive, sharpest)


def relative_spacing(second_moment: Array, mean: Array, count: int) -> float:
    """Return the squared spacing of ``count`` points with this second moment and mean, over their variance.

    n points of variance v spread over d dimensions lie about v·n^(−2/d) apart, d being (tr C)²/tr C² of the covariance C.
    """
    xp = namespace(second_moment)
    covariance = second_moment - mean[:, None] * mean
    variance = max(float(xp.linalg.trace(covariance)), 0.0)
    shares = covariance / (variance or 1.0)  # divide before squaring: 1e-40 underflows in float32
    dimensions = max(1 / max(float(xp.sum(shares**2)), 1e-30), 1.0)
    return float(2 * count ** (-2 / dimensions))
