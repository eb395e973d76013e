"""From starts to candidates: "auto" races many starts; starts chosen by the caller are all solved in full."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from inspect import signature
from itertools import islice
from typing import Any

import numpy as np

from ...arrays import namespace
from ...geometry.orthogonal import RotationGroup
from ...geometry.schatten import SchattenBall
from ...retrieval.thinning import FEW_DIMENSIONS
from ...starts import STARTS
from ...starts.portfolio import Wave, waves
from ..budget import Budget
from ..candidate import Candidate, Found
from ..evidence import explains_unseen
from ..history import StartRecord
from ..loop.alternate import Run, make_candidate
from ..loop.batches import STARTS_PER_BATCH, make_batches, prepare_batches
from ..loop.stages import solve_in_stages, stage_sizes, subproblem
from ..problem import Problem, distinct, divide_rows, same_answer, slack, weigh_seeds_as_points
from ..tuning import FEW_POINTS, STARTS_COMPARED
from .asked import DRAWN, Asked
from .consensus import join_finalists
from .heats import choose_finalists, race_points, run_heats


def search(problem: Problem, asked: Asked, rng: np.random.Generator) -> Found:
    """Run the requested starts; return different answers, best first."""
    if asked.name == "auto":
        found = race(
            problem, make_waves(problem, asked, rng), waves=asked.waves, exhaustive=asked.exhaustive, rng=rng,
            n_jobs=asked.n_jobs,
        )  # fmt: skip
    else:
        found = solve_all(problem, make_starts(problem, asked, rng), asked, rng)
    return replace(
        found,
        plain=find_plain(problem, asked, found, rng),
        notes=(*found.notes, *note_unused(problem, asked, found.starts)),
    )


def make_waves(problem: Problem, asked: Asked, rng: np.random.Generator) -> Iterator[Wave]:
    """Yield the portfolio of starts, as maps of the family of the problem."""
    coming = waves(
        problem.x, problem.y, problem.a, problem.b, rng=rng, ordered=problem.ordered, pairs=asked.pairs,
        side=asked.side, side_weight=asked.side_weight, where=problem.rows,
    )  # fmt: skip
    return (replace(wave, maps=problem.maps.fit(wave.maps)) for wave in coming)


def find_plain(problem: Problem, asked: Asked, found: Found, rng: np.random.Generator) -> tuple[Candidate, ...]:
    """Return what the first wave finds, to compare with requested starts, or with reflections if these are not allowed.

    With few points a wrong answer may also fit unseen ones; a better answer shows that. Many starts test each other.
    """
    chosen = asked.name != "auto" and len(found.starts) <= STARTS_COMPARED
    rotations = isinstance(problem.maps, RotationGroup)
    if problem.seed_moment is not None or not (chosen or rotations):
        return ()
    ahead = 0.0
    if problem.largest > FEW_POINTS:  # a sample shows whether the mirror image of a shape fits better, and nothing else
        if not rotations or problem.y.shape[1] > FEW_DIMENSIONS or not problem.rows.whole:
            return ()
        best = max(found.candidates, key=_value)
        problem = replace(subproblem(problem, FEW_POINTS, rng), on_step=None)
        ahead = best.value - _solve(problem, maps=best.map[None], budget=problem.budgets.after_race, rng=rng).values[0]
    maps = SchattenBall(math.inf, problem.maps.radius) if rotations else problem.maps
    plain = replace(problem, maps=maps, on_step=None)
    candidates = race(plain, make_waves(plain, asked, rng), waves=1, rng=rng).candidates
    return tuple(replace(one, value=one.value + ahead) for one in candidates)


def race(
    problem: Problem, coming: Iterator[Wave], *, waves: int, rng: np.random.Generator, exhaustive: bool = False,
    n_jobs: int = 1,
) -> Found:  # fmt: skip
    """Run waves of starts until an answer holds for unseen points, two solves agree on it, or ``waves`` are used.

    The best of a wave is solved in full, and so is every other answer that scores as well in the race: this detects
    symmetries. A wrong answer that attracts many starts is agreed on as well: an ``exhaustive`` race goes on.
    """
    candidates: list[Candidate] = []
    solved: list[Candidate] = []  # each from a start of its own
    records: list[StartRecord] = []
    for number, wave in enumerate(islice(coming, waves), 1):
        finals, dropped = solve_wave(problem, wave, rng, n_jobs=n_jobs)
        records += [*(StartRecord(one.name, one.objective, True) for one in finals), *dropped]
        solved += finals
        candidates += join_finalists(weigh_seeds_as_points(problem), finals, rng)
        best = max(candidates, key=_value)
        # finalists of one race differ, so two that end at one answer came to it from different sides
        agreed = not exhaustive and sum(same_answer(problem, best.map, one.map) for one in solved) >= 2
        if number == waves or agreed or explains_unseen(problem, best.map, rng):
            break
    candidates.sort(key=_value, reverse=True)
    stacked = namespace(problem.x).stack([one.map for one in candidates])
    different = distinct(problem, stacked, range(len(candidates)))
    return Found(tuple(candidates[k] for k in different), tuple(records), rough=problem.large, agreed=agreed)


def solve_wave(
    problem: Problem, wave: Wave, rng: np.random.Generator, *, n_jobs: int = 1
) -> tuple[list[Candidate], list[StartRecord]]:
    """Return the finalists of a race, solved in full, and the records of the starts that were dropped."""
    maps, values = run_heats(problem, wave, rng, n_jobs=n_jobs)
    chosen = choose_finalists(problem, maps, values)
    problem = weigh_seeds_as_points(problem)
    budget = problem.budgets.rough_finals if problem.large else problem.budgets.after_race
    solves = [partial(_solve, maps=maps[k][None], budget=budget) for k in chosen]
    _, jobs = make_batches(problem, len(chosen), most=1, n_jobs=n_jobs)
    batches = prepare_batches(divide_rows(problem), solves, rng=rng, n_jobs=jobs)
    finals = [make_candidate(problem, batch(), 0, wave.names[k]) for k, batch in zip(chosen, batches, strict=True)]
    rest = [k for k in range(len(wave.names)) if k not in chosen]
    return finals, [StartRecord(wave.names[k], float(problem.sign * values[k]), False) for k in rest]


def _value(candidate: Candidate) -> float:
    return candidate.value


def note_unused(problem: Problem, asked: Asked, records: tuple[StartRecord, ...]) -> tuple[str, ...]:
    """Return notes on options that had no effect on the search of these starts, and why."""
    notes = note_unused_solver(problem)
    stages = problem.budgets.stages
    sizes = stage_sizes(problem, problem.budgets.solve)
    subsampled = race_points(len(records)) if asked.name == "auto" else count_drawn(asked.name)
    first_rows = subsampled is not None and problem.largest > subsampled
    if problem.ordered and not first_rows and not (sizes and (stages is None or stages.of == "points")):
        notes.append(f"ordered: no effect, since no rows were drawn from {problem.largest} points")
    if asked.side is not None and not any(record.name == "signature" for record in records):
        notes.append("side: no effect, since the search ended before a signature start")
    finished = sum(record.finished for record in records)
    if asked.name == "auto" and asked.n_jobs > 1 and len(records) <= STARTS_PER_BATCH and finished == 1:
        notes.append(f"n_jobs: no effect, since {len(records)} starts make 1 batch")
    return tuple(notes)


def note_unused_solver(problem: Problem) -> list[str]:
    """Return notes on options of the solver that had another effect than asked for, or none."""
    notes, moved, stages = [], problem.budgets.moved, problem.budgets.stages
    if moved is not None:
        end = f"{moved.epsilon:.2g}" + ("" if moved.floor == moved.epsilon else f" to {moved.floor:.2g}")
        notes.append(f"schedule: epsilon {end} instead, which {problem.x.dtype} can tell from 0 and from infinity")
    if stages is not None and stages.as_tuple() and not stage_sizes(problem, problem.budgets.solve):
        notes.append(f"stages: no effect, since all sizes are at least the {problem.largest} points of the clouds")
    return notes


def count_drawn(start: str) -> int | None:
    """Return how many rows of larger clouds a start uses; None: all of them."""
    options = signature(STARTS[start]).parameters if start in STARTS else {}
    return next((options[name].default for name in ("size", "sizes", "n_points") if name in options), None)


def make_starts(problem: Problem, asked: Asked, rng: np.random.Generator, name: str | None = None) -> Wave:
    """Return the maps of one kind of start; by default of the one that was asked for."""
    name = name or asked.name
    if asked.maps is not None:
        return Wave(asked.maps, [name] * asked.maps.shape[0])
    options: dict[str, Any] = {"rng": rng}
    if name in DRAWN:
        options["n_starts"] = asked.n_starts or 1
    if name == "seeds":
        options["pairs"] = asked.pairs
    if name in ("seeds", "signature", "fused", "leading", "relaxation"):
        options["ordered"] = problem.ordered
    if name == "signature":
        options.update(side=asked.side, side_weight=asked.side_weight, where=problem.rows)
    maps = STARTS[name](problem.x, problem.y, problem.a, problem.b, **options)
    return Wave(problem.maps.fit(maps), [name] * maps.shape[0])


def solve_all(problem: Problem, wave: Wave, asked: Asked, rng: np.random.Generator) -> Found:
    """Solve every start in full, in batches that fit memory."""
    # fused anneals from a high epsilon itself: the solve continues from a low one
    budget = problem.budgets.after_race if asked.name == "fused" else problem.budgets.solve
    parts, jobs = make_batches(problem, len(wave.names), most=STARTS_PER_BATCH, n_jobs=asked.n_jobs)
    solves = [partial(_solve, maps=wave.maps[part], budget=budget) for part in parts]
    runs = [batch() for batch in prepare_batches(divide_rows(problem), solves, rng=rng, n_jobs=jobs)]
    ends = [(run, index) for run in runs for index in range(len(run.values))]
    records = tuple(
        StartRecord(name, float(run.objectives[index]), True)
        for name, (run, index) in zip(wave.names, ends, strict=True)
    )
    busy = min(jobs, len(parts))
    cut = "1 batch" if len(parts) == 1 else f"{len(parts)} batches, {jobs} at a time"
    why = f"since {len(wave.names)} starts make {cut}"
    notes = (f"n_jobs: {'no effect' if busy == 1 else f'only {busy} used'}, {why}",) if busy < asked.n_jobs else ()
    return Found(_best(problem, ends, wave.names), records, notes=notes, rough=problem.seed_mass is not None)


def _solve(problem: Problem, *, maps: Any, budget: Budget, rng: np.random.Generator) -> Run:
    return solve_in_stages(problem, maps, budget, rng=rng)


def _best(problem: Problem, ends: list[tuple[Run, int]], names: list[str]) -> tuple[Candidate, ...]:
    """Return the best end, and equally good ones that are different answers."""
    values = np.asarray([run.values[index] for run, index in ends])
    top = float(np.max(values))
    near = [int(k) for k in np.argsort(-values, kind="stable") if top - values[k] <= slack(problem, top)]
    maps = namespace(problem.x).stack([ends[k][0].maps[ends[k][1]] for k in near])
    chosen = [near[k] for k in distinct(problem, maps, range(len(near)))]
    return tuple(make_candidate(problem, ends[k][0], ends[k][1], names[k]) for k in chosen)
