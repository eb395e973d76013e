"""Step 3, refine: a linear map per side, fitted to mutual nearest neighbours."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np

from ...arrays import Array, as_like, to_numpy
from ...logs import log_line
from ...retrieval.refine import Refined, Round, refine
from ...words.vectors import Vectors
from ..progress import MEASURED
from .shape import Step, StepRecord, Work
from .solve import apply_map

NAME = "refine"
MANY_WORDS = 15_000  # from where a first refinement on a third of them, at a ninth of the cost per round, saves time
ONE_SIDED = 50.0  # weight of non-mutual pairs, per dimension and word; chosen on 100 and 300 dimensions
TRUST = 4.0  # largest factor between the trust of a word and the median
ENDINGS = {
    "settled": "the pairs settled",
    "rounds": "all rounds used",
    "few pairs": "too few pairs for another",
    "lost pairs": "the last one lost pairs and was undone",
}


def fit_refine(work: Work) -> tuple[StepRecord, Work]:
    """Refine the solved map, then map the words that are kept."""
    assert work.alignment is not None
    start = as_like(work.alignment.map, work.x)
    top = min(work.recipe.refine_words, max(work.x.shape[0], work.y.shape[0]))
    refined, rounds = _run_stages(work, start, top)
    if rounds:
        words = f"all {top:,}" if top == max(work.x.shape[0], work.y.shape[0]) else f"the first {top:,}"
        detail = f"{words} words per side, {rounds} round{'s' * (rounds > 1)}: {ENDINGS[refined.status]}"
        arrays = {"source_map": to_numpy(refined.x_map), "target_map": to_numpy(refined.y_map)}
        record = StepRecord(NAME, True, detail, arrays=arrays)
    else:
        few = f"too few mutual pairs for {max(work.x.shape[1], work.y.shape[1])} dimensions"
        record = StepRecord(NAME, False, few if work.recipe.rounds else "rounds is 0 in the recipe")
    keep = max(len(work.source), len(work.target)) if work.keep is None else work.keep
    return record, replace(
        work,
        source=work.source.first(keep),
        target=work.target.first(keep),
        x=work.x[:keep] @ refined.x_map,
        y=work.y[:keep] @ refined.y_map,
    )


def _run_stages(work: Work, start: Array, top: int) -> tuple[Refined, int]:
    """Refine on the first ``top`` words; if there are many, first on the most frequent third."""
    x, y = work.x, work.y
    trust = find_trust(work.source, x), find_trust(work.target, y)
    score = work.progress.make_scorer(work.source.words, work.target.words)

    def measure(x_map: Array, y_map: Array) -> float:
        assert score is not None
        return score(x[:MEASURED] @ x_map, y[:MEASURED] @ y_map)

    def report(done: Round) -> None:
        event = {"stage": NAME, **asdict(done)}
        watched = event.pop("watched")
        log_line(f"refine: {done.pairs:,} mutual pairs, {done.changed:.0%} new")
        work.progress.report(event if watched is None else {**event, "precision@1": watched})

    def run(count: int, begin: Array | tuple[Array, Array], loose: float) -> Refined:
        few = trust[0][:count], trust[1][:count]
        return refine(
            x[:count], y[:count], begin, rounds=work.recipe.rounds, trust=few, loose=loose, progress=report,
            watch=None if score is None else measure,
        )  # fmt: skip

    begin: Array | tuple[Array, Array] = start
    rounds = 0
    if top >= MANY_WORDS:
        first = run(top // 3, start, 0.0)
        begin, rounds = (first.x_map, first.y_map), len(first.history)
    last = run(top, begin, weigh_one_sided(max(x.shape[1], y.shape[1]), min(top, x.shape[0], y.shape[0])))
    return last, rounds + len(last.history)


def find_trust(vectors: Vectors, like: Array) -> Array:
    """Return the trust of each word, (n,): the original length of its vector, which grows with the evidence in the text.

    In units of the median, clipped to a factor of ``TRUST``: in other kinds of vectors lengths have another meaning.
    """
    lengths = np.linalg.norm(vectors.vectors.astype(np.float32), axis=1)
    return as_like(np.clip(lengths / (float(np.median(lengths)) or 1.0), 1 / TRUST, TRUST), like)


def weigh_one_sided(dimension: int, words: int) -> float:
    """Return the weight of non-mutual pairs: the more parameters a map has per word, the more they help."""
    weight = min(0.5, ONE_SIDED * dimension / words)
    return weight if weight >= 0.3 else 0.0  # less is not worth another search


REFINE = Step(NAME, ("rounds",), fit_refine, apply_map)
