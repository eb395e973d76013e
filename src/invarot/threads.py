"""Row blocks on all cores: one worker a core, each with a single-threaded BLAS, so that none is oversubscribed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

B = TypeVar("B")
T = TypeVar("T")


@lru_cache(maxsize=1)
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


_granted: int | None = None  # what `own_threads` found BLAS was allowed
_limit: Any = None  # how it is given back
_inside = 0  # how many are inside `own_threads`, of all threads of the caller
_door = Lock()


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

    A threaded BLAS spins for a while after each call; between two of ours that would take a core from every worker. The
    limit is the process's: the first to come sets it, the last to go lifts it.
    """
    global _granted, _limit, _inside
    with _door:
        if not _inside:
            _granted, _limit = workers(), _blas().limit(limits=1)
        _inside += 1
    try:
        yield
    finally:
        with _door:
            _inside -= 1
            if not _inside:
                _limit.restore_original_limits()
                _granted = _limit = None


def map_blocks(work: Callable[[B], T], blocks: Iterable[B]) -> Iterator[T]:
    """``work`` of each block (a slice of rows, mostly), in order; on several threads where there are several blocks and cores."""
    todo = list(blocks)
    count = min(workers(), len(todo)) if len(todo) > 1 else 1
    if count == 1:
        yield from map(work, todo)
        return
    with own_threads():
        yield from _pool(count).map(work, todo)
