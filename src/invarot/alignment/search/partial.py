"""The search where only a part of the clouds corresponds: neighbourhoods that are alike, then the ordinary race."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ...arrays import Array, as_like, namespace, to_numpy
from ...geometry.motions import measure_size
from ...geometry.orthogonal import RotationGroup
from ...geometry.surfaces import SurfaceSample, measure_gaps, sample_surfaces, show_surfaces, slide_on_surfaces
from ...retrieval.thinning import thin
from ...starts.triples import find_rigid_maps, find_similar_maps
from ...starts.votes import vote_for_copies, vote_for_maps
from ...threads import map_blocks
from ...transport.exact import are_uniform
from ..budget import Budget
from ..candidate import Candidate, Found
from ..evidence import explains_unseen
from ..history import StartRecord, Status
from ..loop.alternate import continue_from, make_candidate, solve_from
from ..loop.stages import solve_in_stages, stage_sizes, subproblem
from ..overlap import are_copies, choose_cut, match_on_surfaces, score_map
from ..problem import Problem, distinct, same_answer
from ..tuning import (
    FINALISTS,
    PER_DIMENSION,
    PLAN_SWEEPS,
    QUERIES,
    ROUGH_STEPS,
    SLACK,
    SLIDING_POINTS,
    STAGE_POINTS,
    SURFACE_POINTS,
)
from ..unmatched import is_rigid, keep_matched, on_host, with_offset
from .asked import FROM_PAIRS, Asked
from .clouds import Clouds
from .motions import choose_best, choose_motion
from .search import make_starts, make_waves, note_unused_solver, solve_wave

Floats = np.ndarray[Any, Any]
BEFORE_RACE = ("seeds", "triples", "votes", "copies")  # the starts of "auto" that come before the ordinary race


@dataclass(frozen=True, eq=False)
class Solved:
    """The best of a batch of starts."""

    score: float
    candidate: Candidate
    clear: bool  # whether no other answer came near
    rivals: tuple[Array, ...] = ()  # maps that cannot be told from it: a plan for them would decide nothing
    mirrored: bool = False  # whether a reflection, which was not allowed, fits better


def search_partial(problem: Problem, plain: Problem, asked: Asked, rng: np.random.Generator) -> Found:
    """Return the answers for a problem in which mass may stay unmatched; ``plain`` is the same problem with all mass matched.

    The search ends when a map wins clearly or holds for unseen points, when two batches of starts lead to the same best map, or
    with the last batch. The best rigid motion of a batch is compared with those of the next.
    Maps are compared by how much nearer they bring points to targets than chance does, rigid motions by how much of the surfaces
    they lay on each other: objectives of plans that match other shares of the mass cannot be compared.
    """
    found: list[Solved] = []
    rigid = is_rigid(problem)
    for name, maps in propose(problem, plain, asked, rng):
        if rigid:
            maps = namespace(maps).concat([*(one.candidate.map[None] for one in found[-1:]), maps])
            solved = solve_on_surfaces(problem, name, maps, rng, stay=asked.name != "auto")
        else:
            solved = solve_best(problem, name, maps, rng)
        before = found[-1] if rigid and found else max(found, key=lambda one: one.score, default=None)
        same = before is not None and same_answer(problem, before.candidate.map, solved.candidate.map)
        if same and name == "copies":  # there are none: that confirms nothing
            continue
        found.append(solved)
        if solved.clear or same or explains_unseen_part(problem, solved.candidate, rng):
            break
    records = tuple(StartRecord(one.candidate.name, one.candidate.objective, True) for one in found)
    notes = note_unused(problem, asked, [one.candidate for one in found])
    if rigid:  # the last has been compared with those before
        best = found[-1]
        return Found((best.candidate,), records, notes=notes, rivals=best.rivals, better=int(best.mirrored))
    found.sort(key=lambda one: one.score, reverse=True)
    stacked = namespace(problem.x).stack([one.candidate.map for one in found])
    order = distinct(problem, stacked, range(len(found)))
    answers = [found[k].candidate for k in order if found[k].score >= (1 - SLACK) * found[0].score]
    return Found(tuple(answers), records, notes=notes)


def note_unused(problem: Problem, asked: Asked, solved: list[Candidate]) -> tuple[str, ...]:
    """Return notes on options that had no effect on these candidates, or less than elsewhere, and why."""
    notes = note_unused_solver(problem)
    raced = not all(one.name in BEFORE_RACE for one in solved)
    fitted = not raced and all(step.stage == "plan" for one in solved for step in one.history)
    if fitted and problem.budgets.stages is not None and stage_sizes(problem, problem.budgets.solve):
        notes.append("stages: no effect, since rigid motions are fitted to surfaces, not in stages")
    if asked.pairs is not None:
        effect = "a start only" if asked.name in FROM_PAIRS else "no effect"
        notes.append(f"seeds: {effect}, since plans of a part have no term for known pairs")
    if fitted and not are_uniform(problem.a, problem.b):
        notes.append("a, b: no effect on the map, since rigid motions are fitted to surfaces; the plan has them")
    given = {"ordered": problem.ordered, "side": asked.side is not None, "n_jobs": asked.n_jobs > 1}
    if asked.name != "auto":
        if asked.n_jobs > 1:
            notes.append("n_jobs: no effect, since the starts of a part are solved one after the other")
    elif not raced:
        notes += [f"{name}: no effect, since the search ended before a race" for name, used in given.items() if used]
    return tuple(notes)


def propose(problem: Problem, plain: Problem, asked: Asked, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    """Yield batches of maps (s, dx, dy), each with the name of its start."""
    if asked.name != "auto":
        yield asked.name, with_offset(problem, make_starts(plain, asked, rng).maps)
        return
    if asked.pairs is not None:
        yield "seeds", with_offset(problem, make_starts(plain, asked, rng, "seeds").maps)
    x, y = (thin(to_numpy(points).astype(np.float64), QUERIES) for points in (plain.x, plain.y))
    proper = isinstance(problem.maps, RotationGroup)
    if min(len(x), len(y)) > PER_DIMENSION * max(x.shape[1], y.shape[1]) and x.shape[1] <= y.shape[1]:
        name, found = ("triples" if is_rigid(problem) else "votes"), np.zeros((0, x.shape[1] + 1, y.shape[1]))
        if is_rigid(problem):
            find = find_similar_maps if problem.scale else find_rigid_maps
            found = find(x, y, proper=proper, rng=rng)
        if problem.scale or not is_rigid(problem):
            voted = vote_for_maps(x, y, translate=problem.affine, proper=proper, scale=problem.scale)
            found = np.concatenate([found, *(one[None] for one in voted)])
        if len(found):
            yield name, as_like(found if problem.affine else found[:, :-1], problem.x)
        if is_rigid(problem) and not problem.scale and max(plain.x.shape[0], plain.y.shape[0]) > QUERIES:
            copies = list(vote_for_copies(*on_host(problem), QUERIES, proper=proper, rng=rng))
            if copies:
                yield "copies", as_like(np.stack(copies), problem.x)
    small = subproblem(plain, STAGE_POINTS, rng)
    for wave in islice(make_waves(small, asked, rng), asked.waves):
        finals = solve_wave(small, wave, rng, n_jobs=asked.n_jobs)[0]
        yield finals[0].name, with_offset(problem, namespace(plain.x).stack([one.map for one in finals]))


def solve_best(problem: Problem, name: str, maps: Array, rng: np.random.Generator) -> Solved:
    """Solve the most promising of ``maps`` on a subsample, and the best of these in full. It is clear where all of them agree."""
    assert problem.scales is not None
    small = subproblem(problem, STAGE_POINTS, rng)
    scores = [score_map(small.x, small.y, w, problem.scales) for w in maps]
    chosen = distinct(problem, maps, np.argsort(scores)[::-1], FINALISTS)
    clear, start = len(maps) > len(chosen) == 1, maps[chosen[0]]  # all agree
    if len(chosen) > 1:
        budget = small.budgets.solve.at_most(ROUGH_STEPS)
        solved = [solve_in_stages(small, maps[k][None], budget, rng=rng).maps[0] for k in chosen]
        ends = [score_map(small.x, small.y, w, problem.scales) for w in solved]
        start = solved[int(np.argmax(ends))]
    candidate = solve_in_full(problem, start, name, rng)
    return Solved(score_map(problem.x, problem.y, candidate.map, problem.scales), candidate, clear)


def solve_in_full(problem: Problem, start: Array, name: str, rng: np.random.Generator) -> Candidate:
    """Solve from the map ``start`` (dx, dy) on all points; last of all the plan alone, to its tolerance."""
    run = solve_in_stages(problem, start[None], problem.budgets.solve, rng=rng)
    solved = make_candidate(problem, run, 0, name)
    if solved.status is not Status.NOT_SETTLED:  # its map is final, and the last plan has a status of its own
        solved = replace(solved, status=Status.SETTLED)
    return continue_from(problem, solved, run.maps[0], last_budget(problem), stage="plan", hold_map=True)


def solve_on_surfaces(problem: Problem, name: str, maps: Array, rng: np.random.Generator, *, stay: bool) -> Solved:
    """Fit the most promising of ``maps`` as rigid motions of surfaces; all points take part in the last fit and the plan.

    ``stay``: a better motion that no start led to is a rival, not the answer. Where residuals show no surfaces (noise), the alternation
    fits small clouds better.
    """
    assert problem.overlap is not None
    maps = to_numpy(maps).astype(np.float64)
    points, unit = on_host(problem), np.ones((maps.shape[1], 1))
    proper, scale = isinstance(problem.maps, RotationGroup), problem.scale
    if scale:  # both in the unit of y, by the best start
        unit[:-1] = measure_size(maps[0])
        points, maps = (points[0] * unit[0], points[1]), maps / unit
    small = [thin(one, STAGE_POINTS) for one in points]
    chosen = choose_motion(small[0], small[1], maps, proper=proper, stay=stay, scale=scale)
    x, y = sample_surfaces(*map_blocks(partial(thin, count=SURFACE_POINTS), points))
    mirrored = chosen.mirrored
    if chosen.rivals:  # what few points do not tell apart, all of them may
        found = choose_best(Clouds.from_samples(x, y, scale=scale), [chosen.map, *chosen.rivals], stay=stay)
        chosen = replace(found, score=chosen.score)
    w = slide(problem, x, y, chosen.map)
    # thinned clouds are no copies of each other, though all points may be
    if w is not None and sum(map(len, points)) > len(x) + len(y) and are_copies(*points, w):
        x, y = sample_surfaces(*points)
        w = slide(problem, x, y, w)
    if w is None:
        candidate = solve_in_full(problem, as_like(chosen.map * unit, problem.x), name, rng)
    else:
        candidate = find_plan(problem, as_like(w * unit, problem.x), name)
    if problem.overlap.x is None:
        shares = match_on_surfaces(x, y, to_numpy(candidate.map).astype(np.float64) / unit)
        spread = [
            share if len(one) == len(every) else share[one.tree.query(every)[1]]
            for share, one, every in zip(shares, (x, y), points, strict=True)
        ]
        candidate = replace(candidate, matched=(as_like(spread[0], problem.x), as_like(spread[1], problem.x)))
    rivals = tuple(as_like(one * unit, problem.x) for one in chosen.rivals[:FINALISTS])
    return Solved(chosen.score, candidate, not rivals, rivals, mirrored)


def find_plan(problem: Problem, w: Array, name: str) -> Candidate:
    """Return the map w (dx, dy) with its plan as a candidate."""
    return solve_from(problem, w, last_budget(problem), name, stage="plan", hold_map=True)


def last_budget(problem: Problem) -> Budget:
    """Return what the last plan may spend."""
    return problem.budgets.solve.at_floor().at_least(PLAN_SWEEPS)


def slide(problem: Problem, x: SurfaceSample, y: SurfaceSample, w: Floats) -> Floats | None:
    """Return the map w (d + 1, d) fitted to samples of surfaces; None for small clouds whose residuals show no surfaces.

    Dense samples are thinned first: among all points, the lines along which a scanner measures hold a fit that begins farther away than
    their distance.
    """
    assert problem.scales is not None
    every = -(-max(len(x), len(y)) // SLIDING_POINTS)
    if every > 1:
        w = Clouds.of(*(thin(one.points, SLIDING_POINTS) for one in (x, y)), scale=problem.scale).slide(w)
    there, back = measure_gaps(x, y, w, every)
    cut = choose_cut(there**2, back**2, problem.scales) ** 0.5
    large = problem.budgets.adaptive and problem.large
    return (
        slide_on_surfaces(x, y, w, cut, every=every, scale=problem.scale)
        if large or show_surfaces(x, y, w, cut)
        else None
    )


def explains_unseen_part(problem: Problem, candidate: Candidate, rng: np.random.Generator) -> bool:
    """Return whether the map holds for matched points that were held out of the fit: ends the search."""
    assert candidate.matched is not None
    kept, w = keep_matched(problem, candidate.map, candidate.matched)
    if min(kept.x.shape[0], kept.y.shape[0]) <= PER_DIMENSION * max(w.shape):
        return False
    return explains_unseen(kept, w, rng)
