"""Step 2, solve: an orthogonal map (or one of a Schatten ball) from the frequent words, with nothing paired."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...alignment.align import align
from ...alignment.options import Search, Sinkhorn
from ...alignment.result import Alignment
from ...arrays import Array, as_like, to_numpy
from ...errors import InputError
from ...logs import log_line
from ...words.vectors import Vectors
from ...words.vocabulary import looks_like_word
from ..progress import MEASURED
from .shape import Side, Step, StepRecord, Work

NAME = "solve"
SOLVE_TOL = 1e-4  # a tenth of the default accuracy: the refinement follows


def fit_solve(work: Work) -> tuple[StepRecord, Work]:
    """Solve in stages of increasing size; each later one starts from the map of the previous one."""
    assert work.rng is not None
    stages = work.recipe.stages
    rows = select_words(work.source), select_words(work.target)
    generators = work.rng.spawn(len(stages))  # one per stage: a stage from a checkpoint draws nothing
    score = work.progress.make_scorer(work.source.words, work.target.words)
    sizes = [min(size, max(map(len, rows))) for size in stages]
    found: Alignment | None = None
    for number, size in enumerate(sizes):
        name = f"solve {size}" if size not in sizes[:number] else f"solve {size} again"
        saved = work.checkpoint.load(number) if work.checkpoint else None
        history = work.progress.history
        if saved is None:
            begun = len(history)
            found = solve_stage(work, name, rows[0][:size], rows[1][:size], generators[number], found)
            if work.checkpoint:
                work.checkpoint.save(number, found, history[begun:])
        else:
            log_line(f"{name}: resumed from the checkpoint, stage {number + 1} of {len(sizes)}", keep=True)
            found, told = saved
            history.extend(told)
        mapped = work.x[:MEASURED] @ as_like(found.map, work.x)
        work.progress.record_score(name, score, mapped, work.y)
    assert found is not None
    solved = to_numpy(found.map)
    arrays = {"source_map": solved, "target_map": np.eye(solved.shape[1], dtype=solved.dtype)}
    return StepRecord(NAME, True, _describe(work, sizes), arrays=arrays), replace(work, alignment=found)


def solve_stage(
    work: Work,
    name: str,
    rows_x: np.ndarray[Any, Any],
    rows_y: np.ndarray[Any, Any],
    rng: np.random.Generator,
    before: Alignment | None,
) -> Alignment:
    """Align the given rows; after the first stage, from the last map and at the epsilon where it ended."""
    recipe = work.recipe
    x, y = work.x[rows_x], work.y[rows_y]
    schedule = recipe.schedule if before is None else before.history[-1].epsilon
    start = recipe.start if before is None else before.map
    effort = recipe.effort if before is None else None
    score = work.progress.make_scorer(work.source.take(rows_x).words, work.target.take(rows_y).words)
    measure: Callable[[Array], float] | None = None if score is None else (lambda w: score(x @ w, y))
    on_step = work.progress.watch_solver(name, measure)
    seeds = find_seeds(work.seeds, work.source.take(rows_x).words, work.target.take(rows_y).words)
    return align(
        x, y, p=recipe.p, overlap=recipe.overlap, start=start, effort=effort, seeds=seeds, rng=rng, on_step=on_step,
        solver=Sinkhorn(schedule=schedule, tol=SOLVE_TOL, memory=work.memory), search=Search(ordered=recipe.ordered),
    )  # fmt: skip


def find_seeds(
    pairs: Sequence[tuple[str, str]], source: Sequence[str], target: Sequence[str]
) -> np.ndarray[Any, Any] | None:
    """Return the rows of known pairs (k, 2) among the words of a stage; None if no pairs are known."""
    if not pairs:
        return None
    left, right = ({word: row for row, word in enumerate(words)} for words in (source, target))
    rows = [(left[a], right[b]) for a, b in pairs if a in left and b in right]
    if not rows:
        raise InputError(
            f"seeds: expected pairs of the first {len(source):,} and {len(target):,} words, got none among {len(pairs)} "
            f"pairs, the first {' '.join(pairs[0])!r}; check the direction of the pairs"
        )
    return np.asarray(rows)


def select_words(vectors: Vectors) -> np.ndarray[Any, Any]:
    """Return the rows of the tokens that look like words, in order: numbers and punctuation mislead the search.

    If few tokens look like words (identifiers, genes), all are used.
    """
    rows = np.flatnonzero(looks_like_word(vectors.words))
    return rows if len(rows) >= 0.5 * len(vectors) else np.arange(len(vectors))


def apply_map(record: StepRecord, z: Array, side: Side, words: Sequence[str]) -> Array:
    """Map prepared rows (n, dx) or (m, dy) to the common space."""
    return z @ as_like(record.arrays[f"{side}_map"], z)


def _describe(work: Work, sizes: Sequence[int]) -> str:
    recipe = work.recipe
    used, asked = (", then ".join(f"{size:,}" for size in one) for one in (sizes, recipe.stages))
    more = "" if used == asked else f" ({asked} asked for)"
    effort = "" if recipe.effort is None else f", effort {recipe.effort}"
    part = "" if recipe.overlap is None else f", overlap {recipe.overlap}"
    return f"the first {used} words per side{more}; start {recipe.start}{effort}, p = {recipe.p:g}{part}"


SOLVE = Step(NAME, ("stages", "schedule", "start", "effort", "p", "overlap", "ordered"), fit_solve, apply_map)
