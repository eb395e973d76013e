"""Batches of starts that know nothing of each other: one after the other, or shared out to processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from ..errors import MissingExtra
from ..threads import own_threads, workers
from .alternate import Observer, Run
from .history import Step


class Solve(Protocol):
    """A batch ready to be solved, but for the observer and the stream of random numbers."""

    def __call__(self, *, on_step: Observer | None, rng: np.random.Generator) -> Run: ...


def run_batches(
    solves: Sequence[Solve], *, rng: np.random.Generator, n_jobs: int, on_step: Observer | None
) -> Iterator[Run]:
    """Where each batch ends, in order; the same whatever ``n_jobs``, since every batch has random numbers of its own.

    Processes cannot call the observer as they go: their steps are shown when their batch is done.
    """
    streams = (
        [rng] if len(solves) == 1 else [np.random.default_rng(seed) for seed in rng.integers(1 << 62, size=len(solves))]
    )
    if min(n_jobs, len(solves)) == 1:
        for solve, stream in zip(solves, streams, strict=True):
            yield solve(on_step=on_step, rng=stream)
        return
    try:
        from joblib import Parallel, delayed, parallel_config
    except ImportError as error:
        raise MissingExtra("n_jobs > 1", "jobs") from error
    count = min(n_jobs, len(solves))
    calls = (delayed(_watched)(solve, stream) for solve, stream in zip(solves, streams, strict=True))
    with parallel_config("loky", inner_max_num_threads=max(1, workers() // count)):
        for run, steps in Parallel(n_jobs=count, return_as="generator")(calls):
            if on_step is not None:
                for step in steps:
                    on_step(step)
            yield run


def _watched(solve: Solve, rng: np.random.Generator) -> tuple[Run, list[Step]]:
    """What happened in another process, without the maps: they would be copied for every step."""
    steps: list[Step] = []
    with own_threads():
        return solve(on_step=lambda step: steps.append(replace(step, map=None)), rng=rng), steps
