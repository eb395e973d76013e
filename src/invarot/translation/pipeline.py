"""The order of the steps: how they are fitted one after the other, and applied to known and new words."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..arrays import Array, place
from ..logs import log_line
from ..threads import own_threads
from ..words.vectors import Vectors
from .steps.local_centring import LOCAL_CENTRING
from .steps.penalties import PENALTIES
from .steps.pooling import POOLING
from .steps.prepare import PREPARE
from .steps.refine import REFINE
from .steps.shape import SIDES, Side, Step, StepRecord, Work
from .steps.solve import SOLVE
from .steps.spelling import SPELLING

PIPELINE = (PREPARE, SOLVE, REFINE, LOCAL_CENTRING, SPELLING, PENALTIES)
FINISHING = (LOCAL_CENTRING, SPELLING, PENALTIES)  # in the common space: they do not change the maps
_BY_NAME = {step.name: step for step in (*PIPELINE, POOLING)}  # pooling is fitted by hubs only


def fit_steps(steps: Iterable[Step], work: Work) -> tuple[tuple[StepRecord, ...], Work]:
    """Fit the steps one after the other; return their records and the work after the last."""
    records = []
    with own_threads():
        for step in steps:
            begun = time.perf_counter()
            log_line(f"{step.name} begins")
            record, work = step.fit(work)
            records.append(replace(record, seconds=round(time.perf_counter() - begun, 3)))
            if step in FINISHING and record.applied:
                score = work.progress.make_scorer(work.source.words, work.target.words)
                work.progress.record_score(step.name, score, work.x, work.y)
    return tuple(records), work


def map_known(records: Iterable[StepRecord], vectors: Vectors, side: Side, *, device: str = "cpu") -> Array:
    """Take a whole vocabulary through all steps, to the common space: (n, d)."""
    z = place(vectors.vectors, device)
    for step, record in find_applied(records):
        z = step.apply(record, z, side, vectors.words)
    return z


def map_new(
    records: Iterable[StepRecord],
    vocabularies: tuple[Vectors, Vectors],
    vectors: Array,
    side: Side,
    words: Sequence[str] | None,
) -> Array:
    """Take vectors of new words (n, d) through all steps, with the known words alongside where a step compares with them."""
    chain = find_applied(records)
    last = max((number for number, (step, _) in enumerate(chain) if step.apply_new is not None), default=0)
    known: dict[Side, Array] = {name: one.vectors for name, one in zip(SIDES, vocabularies, strict=True)}
    z = vectors
    for number, (step, record) in enumerate(chain):
        if step.apply_new is None:
            z = step.apply(record, z, side, words or ())
        else:
            z = step.apply_new(record, z, side, words, known, vocabularies)
        if number < last:
            known = {
                name: step.apply(record, known[name], name, one.words)
                for name, one in zip(SIDES, vocabularies, strict=True)
            }
    return z


def find_applied(records: Iterable[StepRecord]) -> list[tuple[Step, StepRecord]]:
    """Return the steps that vectors go through, in order; the refined maps replace the solved one."""
    done = [record for record in records if record.applied]
    refined = any(record.name == REFINE.name for record in done)
    return [(_BY_NAME[record.name], record) for record in done if not (refined and record.name == SOLVE.name)]
