"""Row blocks on all cores: one worker a core, each with a single-threaded BLAS, so that none is oversubscribed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")


@lru_cache(maxsize=1)
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


_granted: int | None = None  # what `own_threads` found BLAS was allowed


def workers() -> int:
    """As many as BLAS may use now: ``threadpoolctl.threadpool_limits`` and OMP_NUM_THREADS limit us too."""
    if _granted is not None:
        return _granted
    counts = [library["num_threads"] for library in _blas().info()]
    return max(counts, default=os.cpu_count() or 1)


@lru_cache(maxsize=4)
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="invarot")


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


@contextmanager
def own_threads() -> Iterator[None]:
    """For as long as this lasts BLAS keeps to one thread and blocks of rows get the others.

    A threaded BLAS spins for a while after each call; between two of ours that would take a core from every worker.
    """
    global _granted
    if _granted is not None:
        yield
        return
    _granted = workers()
    try:
        with _blas().limit(limits=1):
            yield
    finally:
        _granted = None


def map_blocks(work: Callable[[slice], T], blocks: Iterable[slice]) -> Iterator[T]:
    """``work`` of each block, in order; on several threads where there are several blocks and cores."""
    todo = list(blocks)
    count = min(workers(), len(todo)) if len(todo) > 1 else 1
    if count == 1:
        yield from map(work, todo)
        return
    with own_threads():
        yield from _pool(count).map(work, todo)
