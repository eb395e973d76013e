"""The search where only a part of the clouds corresponds: neighbourhoods that are alike, then the ordinary race."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from ...arrays import Array, as_like, namespace, to_numpy
from ...geometry.orthogonal import RotationGroup
from ...geometry.surfaces import show_surfaces, slide_on_surfaces
from ...retrieval.nearest import nearest_distances
from ...retrieval.thinning import FEW, thin
from ...starts.triples import find_rigid_maps
from ...starts.votes import vote_for_maps
from ..candidate import Candidate, Found, continue_from, make_candidate
from ..evidence import try_unseen
from ..history import StartRecord, Status
from ..loop.stages import solve_in_stages, subproblem
from ..overlap import choose_cut, score_map
from ..problem import Problem, distinct, keep_matched, same_answer
from ..tuning import (
    CLEAR,
    FINALISTS,
    PARTIAL_SWEEPS,
    PER_DIMENSION,
    ROUGH_STEPS,
    STAGE_POINTS,
    SURE_SURPLUS,
    SURE_TWINS,
    SURFACE_POINTS,
    VOTE_POINTS,
)
from .asked import Asked
from .search import make_starts, make_waves, solve_wave


def search_partial(problem: Problem, plain: Problem, asked: Asked, rng: np.random.Generator) -> Found:
    """Return the answers for a problem in which mass may stay unmatched; ``plain`` is the same problem with all mass matched.

    The search ends when a map wins clearly or holds for unseen points, or when a further batch of starts finds nothing better.
    Maps are compared by how much nearer they bring points to targets than chance does: objectives of plans that match other
    shares of the mass cannot be compared.
    """
    candidates: list[tuple[float, Candidate]] = []
    records: list[StartRecord] = []
    for name, maps in propose(problem, plain, asked, rng):
        score, found, clear = solve_best(problem, name, maps, rng)
        better = not candidates or score > max(candidates, key=_score)[0]
        candidates.append((score, found))
        records.append(StartRecord(found.name, found.objective, True))
        if clear or not better or explains_unseen_part(problem, found, rng):
            break
    candidates.sort(key=_score, reverse=True)
    stacked = namespace(problem.x).stack([one.map for _, one in candidates])
    order = distinct(problem, stacked, range(len(candidates)))
    top = candidates[0][0]
    kept = [k for k in order if candidates[k][0] >= 0.95 * top]
    return Found(tuple(candidates[k][1] for k in kept), tuple(records))


def propose(problem: Problem, plain: Problem, asked: Asked, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    """Yield batches of maps (s, dx, dy), each with the name of its start."""
    if asked.name != "auto":
        yield asked.name, with_offset(problem, make_starts(plain, asked, rng).maps)
        return
    if asked.pairs is not None:
        yield "seeds", with_offset(problem, make_starts(plain, replace(asked, name="seeds"), rng).maps)
    x, y = (thin(to_numpy(points).astype(np.float64), VOTE_POINTS) for points in (plain.x, plain.y))
    proper = isinstance(problem.maps, RotationGroup)
    if min(len(x), len(y)) > PER_DIMENSION * max(x.shape[1], y.shape[1]) and x.shape[1] <= y.shape[1]:
        if problem.affine and not problem.scale and 2 <= x.shape[1] == y.shape[1] <= FEW:
            name, found = "triples", find_rigid_maps(x, y, proper=proper, rng=rng)
        else:
            voted = list(vote_for_maps(x, y, translate=problem.affine, proper=proper, scale=problem.scale))
            name, found = "votes", np.stack(voted) if voted else np.zeros((0, 0, 0))
        if len(found):
            yield name, as_like(found if problem.affine else found[:, :-1], problem.x)
    small = subproblem(plain, STAGE_POINTS, rng)
    for wave in islice(make_waves(small, asked, rng), asked.waves):
        finals = solve_wave(small, wave, rng, n_jobs=asked.n_jobs)[0]
        yield finals[0].name, with_offset(problem, namespace(plain.x).stack([one.map for one in finals]))


def with_offset(problem: Problem, maps: Array) -> Array:
    """Return maps (s, dx, dy) with an offset of 0 as their last row, where the problem has one."""
    if not problem.affine:
        return maps
    return namespace(maps).concat([maps, namespace(maps).zeros_like(maps[:, :1])], axis=1)


def solve_best(problem: Problem, name: str, maps: Array, rng: np.random.Generator) -> tuple[float, Candidate, bool]:
    """Solve the most promising of ``maps`` on a subsample, and the best of these in full.

    Return its score, the candidate, and whether it won clearly: no different answer came near its score.
    """
    assert problem.scales is not None
    small = subproblem(problem, STAGE_POINTS, rng)
    scores = [score_map(small.x, small.y, w, problem.scales) for w in maps]
    chosen = distinct(problem, maps, np.argsort(scores)[::-1], FINALISTS)
    clear, start = len(maps) > len(chosen) == 1, maps[chosen[0]]  # all agree
    if len(chosen) > 1:
        budget = small.budgets.solve.at_most(ROUGH_STEPS)
        solved = [solve_in_stages(small, maps[k][None], budget, rng=rng).maps[0] for k in chosen]
        ends = [score_map(small.x, small.y, w, problem.scales) for w in solved]
        best = int(np.argmax(ends))
        start = solved[best]
        others = [end for end, w in zip(ends, solved, strict=True) if not same_answer(problem, start, w)]
        clear = max(others, default=0.0) <= CLEAR * ends[best]
    candidate = solve_in_full(problem, start, name, rng)
    return score_map(problem.x, problem.y, candidate.map, problem.scales), candidate, clear


def solve_in_full(problem: Problem, start: Array, name: str, rng: np.random.Generator) -> Candidate:
    """Solve from the map ``start`` (dx, dy) on all points; last of all the plan alone, to its tolerance.

    In few dimensions clouds are samples of surfaces: `slide` fits the map, in a few rounds where the alternation creeps, and all
    points take part in the plan alone; large clouds are thinned before.
    """
    budget = problem.budgets.solve
    surfaces = problem.affine and 2 <= problem.y.shape[1] <= FEW and problem.x.shape[1] == problem.y.shape[1] + 1
    large = surfaces and problem.budgets.adaptive and problem.large
    points = subproblem(problem, STAGE_POINTS, rng) if large else problem
    run = solve_in_stages(points, start[None], budget, rng=rng)
    w = slide(problem, run.maps[0], always=large) if surfaces else run.maps[0]
    last = replace(budget.at_floor(), plan_max_iter=max(budget.plan_max_iter, 20 * PARTIAL_SWEEPS))
    solved = make_candidate(problem, run, 0, name)
    if (
        surfaces or solved.status is not Status.NOT_SETTLED
    ):  # its map is final, and the last plan has a status of its own
        solved = replace(solved, status=Status.SETTLED)
    return continue_from(problem, solved, w, last, stage="plan", hold_map=True)


def slide(problem: Problem, w: Array, *, always: bool) -> Array:
    """Return the map w (d + 1, d) fitted to both clouds as samples of surfaces, thinned to some thousands of points.

    Unless ``always``, a map whose residuals show no surfaces stays as it is.
    """
    assert problem.scales is not None
    x, y = (thin(to_numpy(points).astype(np.float64), SURFACE_POINTS) for points in (problem.x[:, :-1], problem.y))
    host = to_numpy(w).astype(np.float64)
    z = x @ host[:-1] + host[-1]
    cut = choose_cut(to_numpy(nearest_distances(z, y)), to_numpy(nearest_distances(y, z)), problem.scales)
    if not always and not show_surfaces(x, y, host, cut**0.5):
        return w
    return as_like(slide_on_surfaces(x, y, host, cut**0.5), w)


def explains_unseen_part(problem: Problem, candidate: Candidate, rng: np.random.Generator) -> bool:
    """Return whether the map holds for matched points that were held out of the fit: ends the search."""
    assert candidate.matched is not None
    kept, w = keep_matched(problem, candidate.map, candidate.matched)
    if min(kept.x.shape[0], kept.y.shape[0]) <= PER_DIMENSION * max(w.shape):
        return False
    found = try_unseen(kept, w, rng)
    return found.held.twins >= SURE_TWINS or found.surplus * found.points**0.5 >= SURE_SURPLUS


def _score(pair: tuple[float, Candidate]) -> float:
    return pair[0]
