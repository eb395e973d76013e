"""The last steps at the last epsilon: finalists of a large problem are compared before they have settled."""

from __future__ import annotations

from ..candidate import Candidate
from ..loop.alternate import continue_from
from ..problem import Problem


def settle(problem: Problem, candidate: Candidate) -> Candidate | None:
    """Return the candidate solved on to the tolerance of the solve; None if all steps were used before it had settled roughly."""
    left = problem.budgets.solve.max_iter - len(candidate.history)
    if not candidate.settled or left < 1:
        return None
    budget = problem.budgets.solve.at_floor().at_most(left)
    return continue_from(problem, candidate, candidate.map, budget, stage="settle")
