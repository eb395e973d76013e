"""A smaller last epsilon: what a plan blurs, two maps may share, a reflection above all."""

from __future__ import annotations

from ..candidate import Candidate, continue_from
from ..problem import Problem


def sharpen(problem: Problem, candidate: Candidate) -> Candidate | None:
    """The candidate at the sharpest epsilon worth trying; None if that did not converge, or is no smaller."""
    budget = problem.budgets.sharpen
    if budget is None:
        return None
    finer = continue_from(problem, candidate, candidate.map, budget, stage="sharpen")
    return finer if finer.settled else None
