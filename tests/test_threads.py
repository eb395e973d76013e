"""The limit on BLAS is set once and lifted once, however many threads of the caller solve at a time."""

import os
import threading
import warnings
from contextlib import ExitStack

import pytest

from invarot import threads


class Blas:
    """Stands in for threadpoolctl: remembers what it was before each limit."""

    def __init__(self) -> None:
        self.count = 4

    def info(self):
        return [{"num_threads": self.count}]

    def limit(self, *, limits):
        before, self.count = self.count, limits

        class Limit:
            def restore_original_limits(limit):
                self.count = before

        return Limit()


@pytest.fixture
def blas(monkeypatch):
    found = Blas()
    monkeypatch.setattr(threads, "_blas", lambda: found)
    return found


def test_the_last_to_leave_lifts_the_limit(blas):
    one, other = ExitStack(), ExitStack()
    one.enter_context(threads.own_threads())
    other.enter_context(threads.own_threads())
    assert (blas.count, threads.workers()) == (1, 4)
    one.close()
    assert (blas.count, threads.workers()) == (1, 4)  # the other is still inside
    other.close()
    assert (blas.count, threads.workers()) == (4, 4)


def test_an_error_inside_lifts_the_limit_too(blas):
    with pytest.raises(ZeroDivisionError), threads.own_threads():
        1 / 0  # noqa: B018
    assert blas.count == 4


def test_blocks_come_back_in_order(blas):
    found = list(threads.map_blocks(lambda part: (part.start, blas.count), [slice(i, i + 2) for i in range(0, 10, 2)]))
    assert found == [(0, 1), (2, 1), (4, 1), (6, 1), (8, 1)]
    assert blas.count == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_starts_with_nobody_inside(blas):
    """A fork while another thread solves: that thread never leaves in the child."""
    inside, leave = threading.Event(), threading.Event()

    def solve() -> None:
        with threads.own_threads():
            inside.set()
            leave.wait()

    other = threading.Thread(target=solve)
    other.start()
    inside.wait()
    found = in_child(lambda: (threads._inside, threads.workers(), blas.count, threads._lock.locked()))
    leave.set()
    other.join()
    assert found == "(0, 4, 4, False)"
    assert (threads._inside, blas.count) == (0, 4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_inside_leaves_once(blas):
    def leave_twice() -> tuple[int, int]:
        stack.close()
        return threads._inside, blas.count

    stack = ExitStack()
    stack.enter_context(threads.own_threads())
    assert in_child(leave_twice) == "(0, 4)"
    stack.close()
    assert (threads._inside, blas.count) == (0, 4)


def in_child(work):
    """Return what ``work()`` gives in a forked child, as text."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks beside threads
        child = os.fork()
    if not child:
        os.write(write, str(work()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as stream:
        return stream.read()
