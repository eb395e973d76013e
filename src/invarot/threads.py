"""Row blocks on all cores: one worker per core, each with a single-threaded BLAS, to avoid oversubscription."""

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


_granted: int | None = None  # BLAS threads allowed before `own_threads`
_limit: Any = None  # restores that limit
_inside = 0  # callers inside `own_threads`, over all threads
_lock = Lock()


def workers() -> int:
    """Return the number of threads BLAS may use now: ``threadpool_limits`` and OMP_NUM_THREADS limit us too."""
    if _granted is not None:
        return _granted
    counts = [library["num_threads"] for library in _blas().info()]
    return max(counts, default=os.cpu_count() or 1)


@lru_cache(maxsize=4)
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="invarot")


def _start_again() -> None:
    """Forget the threads of the parent: they do not survive a fork, and never leave `own_threads` in the child."""
    global _granted, _limit, _inside, _lock
    _pool.cache_clear()
    if _limit is not None:
        _limit.restore_original_limits()
    _granted = _limit = None
    _inside, _lock = 0, Lock()  # another thread may have held the lock


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_start_again)


@contextmanager
def own_threads() -> Iterator[None]:
    """Limit BLAS to one thread inside this context, and leave the others to blocks of rows.

    The threads of BLAS spin for a while after each call and would take cores from our workers. The limit holds for the
    whole process: the first caller sets it, the last one restores it.
    """
    global _granted, _limit, _inside
    process = os.getpid()
    with _lock:
        if not _inside:
            _granted, _limit = workers(), _blas().limit(limits=1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            if os.getpid() == process:  # else it forked inside, and the child started again
                _inside -= 1
            if not _inside and _limit is not None:
                _limit.restore_original_limits()
                _granted = _limit = None


def map_blocks(work: Callable[[B], T], blocks: Iterable[B]) -> Iterator[T]:
    """Yield ``work(block)`` for each block (usually a slice of rows), in order, on several threads if possible."""
    todo = list(blocks)
    count = min(workers(), len(todo)) if len(todo) > 1 else 1
    if count == 1:
        yield from map(work, todo)
        return
    with own_threads():
        yield from _pool(count).map(work, todo)
