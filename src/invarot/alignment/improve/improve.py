"""The improvers in their order."""

from __future__ import annotations

from dataclasses import replace

from ..candidate import Candidate, Found
from ..problem import Problem, same_answer, slack
from .follow_neighbours import follow_neighbours
from .refit import refit
from .settle import settle
from .sharpen import sharpen
from .swap_matches import swap_matches


def improve(problem: Problem, found: Found, *, refitting: bool = False) -> Found:
    """Improve the best candidate; keep its rivals, the other answers that were equally good before sharpening."""
    found = keep_rivals(problem, found, swap_matches(problem, found.best) or found.best)
    best = found.best
    if found.rough:
        best = settle(problem, best) or best
    best = sharpen(problem, best) or best
    best = follow_neighbours(problem, best) or best
    notes = found.notes
    if refitting:
        fitted = refit(problem, best)
        best = fitted or best
        notes += () if fitted else ("refit: no effect, since mutual neighbours are fewer than two per dimension",)
    return replace(found, candidates=(best, *found.candidates[1:]), notes=notes)


def keep_rivals(problem: Problem, found: Found, best: Candidate) -> Found:
    """Return ``best`` with the other answers that are equally good, and the number of default ones that are better."""
    near = slack(problem, best.value)
    rivals = [
        one
        for one in found.candidates[1:]
        if best.value - one.value <= near and not same_answer(problem, best.map, one.map)
    ]
    better = sum(
        bool(one.value > best.value + near) and not same_answer(problem, best.map, one.map) for one in found.plain
    )
    return replace(found, candidates=(best, *rivals), better=better)
