"""A smaller last epsilon: with a blurred plan, different maps (such as reflections) may look equally good."""

from __future__ import annotations

from ..candidate import Candidate
from ..loop.alternate import continue_from
from ..problem import Problem


def sharpen(problem: Problem, candidate: Candidate) -> Candidate | None:
    """Return the candidate at the smallest useful epsilon; None if that did not converge, or is not smaller."""
    budget = problem.budgets.sharpen
    if budget is None:
        return None
    finer = continue_from(problem, candidate, candidate.map, budget, stage="sharpen")
    return finer if finer.settled else None
