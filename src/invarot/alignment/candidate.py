"""Candidates: a map with its plan, its score and the start it came from. Immutable."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array
from ..transport.plan import EntropicPlan
from ..transport.sparse_plan import SparsePlan
from .history import History, StartRecord, Status


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
    rivals: tuple[Array, ...] = ()  # maps of other answers that fit as well, for which no plan was sought
    agreed: bool = False  # whether two solves that agreed ended the search
    rough: bool = False  # whether candidates were solved only until they could be compared

    @property
    def best(self) -> Candidate:
        return self.candidates[0]
