"""Many starts in batches that fit memory, solved one after the other or in several processes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from ...arrays import namespace, on_cuda
from ...jobs import run_tasks
from ...threads import own_threads
from ...transport.choice import SHARE_OF_FREE, free_memory, memory_needed
from ..history import Step
from ..problem import Problem

T = TypeVar("T")
Of = TypeVar("Of", covariant=True)
STARTS_PER_BATCH = 8  # on the CPU: the same for every n_jobs, so that the result is the same
BATCH_MEMORY = 1 << 30  # bytes of a batch on the CPU, at most: what is free must not decide how starts are grouped


class Solve(Protocol[Of]):
    """A function that solves a batch, given its problem (which carries the observer) and random numbers."""

    def __call__(self, problem: Problem, *, rng: np.random.Generator) -> Of: ...


def make_batches(problem: Problem, count: int, *, most: int | None = None, n_jobs: int = 1) -> tuple[list[slice], int]:
    """Return slices of ``count`` starts whose kernels fit memory, the same for every n_jobs; and how many fit at a time."""
    bound = problem.budgets.solve.memory
    if bound is None:
        bound = int(SHARE_OF_FREE * free_memory(problem.x))
    each = 2 * (problem.x.shape[0] * problem.y.shape[0] * problem.x.dtype.itemsize + 1)
    size = max(1, min(count, bound // each))
    if on_cuda(problem.x):
        jobs = 1
    else:
        size = min(size, most or size, max(1, BATCH_MEMORY // each))
        while size > 1 and _streamed_memory(problem, size) > bound:
            size -= 1
        size = math.ceil(count / math.ceil(count / size))  # of about equal size, to balance the load
        jobs = max(1, min(n_jobs, bound // (size * each)))
    return [slice(i, min(i + size, count)) for i in range(0, count, size)], jobs


def _streamed_memory(problem: Problem, starts: int) -> int:
    """Return the minimal memory in bytes of a plan step of ``starts`` starts."""
    shape = starts, problem.x.shape[0], problem.y.shape[1]
    return memory_needed(namespace(problem.x).broadcast_to(problem.x[:1, :1], shape), problem.y, dense=False)


def prepare_batches(
    problem: Problem, solves: Sequence[Solve[T]], *, rng: np.random.Generator, n_jobs: int
) -> list[Callable[[], T]]:
    """Return a function per batch that returns what its solve returns, to be called once each and in order.

    Each batch has its own random numbers, the same for every ``n_jobs``. Processes cannot call the observer while they run: their
    steps are reported when their batch is done. Where several ranks have all rows, each solves a share of the batches.
    """
    streams = (
        [rng] if len(solves) == 1 else [np.random.default_rng(seed) for seed in rng.integers(1 << 62, size=len(solves))]
    )
    pairs = list(zip(solves, streams, strict=True))
    dealt = problem.rows.alike and not on_cuda(problem.x)
    if min(n_jobs, len(solves)) == 1 and not dealt:
        return [partial(solve, problem, rng=stream) for solve, stream in pairs]
    silent = problem.unobserved()
    tasks = [partial(_solve_and_record, silent, solve, stream) for solve, stream in pairs]
    if dealt:
        coming = iter(problem.rows.deal(lambda own: list(run_tasks(own, n_jobs)), tasks))
    else:
        coming = run_tasks(tasks, n_jobs)
    return [partial(_report_next, problem, coming)] * len(solves)


def _report_next(problem: Problem, coming: Iterator[tuple[T, list[Step]]]) -> T:
    """Return the outcome of the next batch that other processes have solved, after its steps are reported."""
    found, steps = next(coming)
    if problem.on_step is not None:
        for step in steps:
            problem.on_step(step)
    return found


def _solve_and_record(problem: Problem, solve: Solve[T], rng: np.random.Generator) -> tuple[T, list[Step]]:
    """Solve in another process and record the steps, without the maps, which would be copied for every step."""
    steps: list[Step] = []
    with own_threads():
        watched = replace(problem, on_step=lambda step: steps.append(replace(step, map=None)))
        found = solve(watched, rng=rng)
    return found, steps
