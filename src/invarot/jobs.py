"""Independent tasks in several processes, on this machine or on a cluster: joblib, with the backend the caller chose.

``joblib.parallel_config(backend="dask")`` or ``"ray"`` around a call sends its tasks to that cluster; without it, processes of
this machine are used. A task carries all it needs, its random numbers too, so that where it runs does not change its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from .errors import MissingExtra, WorkersLost
from .threads import workers

T = TypeVar("T")
Outcome = tuple[bool, Any]  # whether the task returned, and what it returned or raised
TASK_TRIES = 3  # how often a task may lose its worker


def run_tasks(tasks: Sequence[Callable[[], T]], n_jobs: int) -> Iterator[T]:
    """Yield what each task returns, in order; what a task raises is raised here.

    A task raises inside its own result. So an error of the backend itself means that a worker was lost, and the tasks
    without a result are run again.
    """
    count = min(n_jobs, len(tasks))
    if count <= 1:
        yield from (task() for task in tasks)
        return
    done, tries = 0, 0
    while done < len(tasks):
        begun = done
        try:
            for returned, value in _send(tasks[done:], count):
                if not returned:
                    break
                done += 1
                yield value
            else:
                continue
        except MissingExtra:
            raise
        except Exception as error:  # of the backend: a worker that died, a connection that closed
            tries = tries + 1 if done == begun else 1
            if tries >= TASK_TRIES:
                raise WorkersLost(
                    f"n_jobs: expected workers that finish their tasks, got {type(error).__name__} {tries} times ({error}); "
                    "give the workers more memory, or leave n_jobs out"
                ) from error
            continue
        raise value


def count_jobs(n_jobs: int) -> int:
    """Return the number of tasks at a time; −1: as many as the backend has workers."""
    if n_jobs != -1:
        return n_jobs
    try:
        from joblib import effective_n_jobs
    except ImportError:
        return workers()
    return workers() if _on_this_machine() else int(effective_n_jobs(-1))


def _send(tasks: Sequence[Callable[[], T]], count: int) -> Iterator[Outcome]:
    """Yield the outcomes of tasks run by joblib."""
    try:
        from joblib import Parallel, delayed, parallel_config
    except ImportError as error:
        raise MissingExtra("n_jobs > 1", "jobs") from error
    calls = (delayed(_attempt)(task) for task in tasks)
    if _on_this_machine():
        with parallel_config("loky", inner_max_num_threads=max(1, workers() // count)):
            yield from Parallel(n_jobs=count, return_as="generator")(calls)
        return
    yield from Parallel(n_jobs=count, batch_size=1)(calls)


def _on_this_machine() -> bool:
    """Return whether the caller chose no backend, or joblib's own processes."""
    from joblib.parallel import get_active_backend

    return type(get_active_backend()[0]).__name__ == "LokyBackend"


def _attempt(task: Callable[[], T]) -> Outcome:
    try:
        return True, task()
    except Exception as error:
        return False, error
