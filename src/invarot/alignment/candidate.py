"""Candidates: a map with its plan, its score and the start it came from. Immutable."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..arrays import Array
from ..transport.plan import EntropicPlan
from ..transport.sparse_plan import SparsePlan
from .budget import Budget
from .history import History, StartRecord, Status
from .loop.alternate import Run, alternate
from .problem import Problem


@dataclass(frozen=True, eq=False)
class Candidate:
    """A start, solved."""

    name: str  # of the start it came from
    map: Array  # (dx, dy)
    plan: EntropicPlan | SparsePlan
    objective: float
    value: float  # the objective, signed so that larger is better
    epsilon: float  # the last one, relative; 0 for exact plans
    status: Status
    history: History
    matched: tuple[Array, Array] | None = None  # shares of the points of x and of y; None: all mass

    @property
    def settled(self) -> bool:
        return self.status is Status.SETTLED


@dataclass(frozen=True)
class Found:
    """The result of a search: different answers, best first, and the record of every start."""

    candidates: tuple[Candidate, ...]
    starts: tuple[StartRecord, ...]
    plain: tuple[Candidate, ...] = ()  # results of the default starts, to compare with requested ones
    better: int = 0  # number of these that are different answers and clearly better
    notes: tuple[str, ...] = ()  # options that had no effect, and why
    rough: bool = False  # whether candidates were solved only until they could be compared

    @property
    def best(self) -> Candidate:
        return self.candidates[0]


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
    """Solve from the map w (dx, dy) alone; ``after`` another candidate, whose plan is a warm start."""
    warm, earlier = (None, None) if after is None else (after.plan, after.history)
    run = alternate(problem, w[None], budget, stage=stage, warm=warm, hold_map=hold_map)
    return make_candidate(problem, run, 0, name, earlier)


def continue_from(
    problem: Problem, candidate: Candidate, w: Array, budget: Budget, *, stage: str, hold_map: bool = False
) -> Candidate:
    """Continue ``candidate`` from the map w (dx, dy), with its plan as a warm start."""
    found = solve_from(problem, w, budget, candidate.name, stage=stage, after=candidate, hold_map=hold_map)
    unsettled = hold_map and not candidate.settled  # a plan that settles does not settle the map it is for
    return replace(found, status=candidate.status) if unsettled else found
