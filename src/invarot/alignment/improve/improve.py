"""The improvers in their order."""

from __future__ import annotations

from dataclasses import replace

from ..candidate import Found
from ..problem import Problem, same_answer, slack
from .refit import refit
from .settle import settle
from .sharpen import sharpen
from .swap_matches import swap_matches


def improve(problem: Problem, found: Found, *, refitting: bool = False) -> Found:
    """Improve the best candidate; keep its rivals, the other answers that were equally good before sharpening."""
    best = found.best
    best = swap_matches(problem, best) or best
    rivals = [
        one
        for one in found.candidates[1:]
        if best.value - one.value <= slack(problem, best.value) and not same_answer(problem, best.map, one.map)
    ]
    better = sum(
        one.value > best.value + slack(problem, best.value) and not same_answer(problem, best.map, one.map)
        for one in found.plain
    )
    if found.rough:
        best = settle(problem, best) or best
    best = sharpen(problem, best) or best
    notes = found.notes
    if refitting:
        fitted = refit(problem, best)
        best = fitted or best
        notes += () if fitted else ("refit: no effect, since mutual neighbours are fewer than two per dimension",)
    return replace(found, candidates=(best, *rivals), better=better, notes=notes)
