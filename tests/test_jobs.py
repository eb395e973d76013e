"""Tasks in several processes: in order, errors as they are, a lost worker's task run again; on Dask and Ray too."""

from __future__ import annotations

import os
import time
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import invarot
from invarot import InputError, Search
from invarot.errors import WorkersLost
from invarot.jobs import count_jobs, run_tasks
from invarot.threads import workers


def square(number):
    return number * number


def fail(message):
    raise InputError(message)


def die_once(flag, number):
    """End the process the first time, as a machine that is lost does."""
    if not Path(flag).exists():
        Path(flag).touch()
        os._exit(1)
    return number


def die():
    os._exit(1)


def where():
    time.sleep(0.05)
    return os.getpid()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_come_in_order(n_jobs):
    assert list(run_tasks([partial(square, k) for k in range(7)], n_jobs)) == [k * k for k in range(7)]


def test_they_run_in_other_processes():
    assert os.getpid() not in set(run_tasks([where] * 4, 2))
    assert set(run_tasks([where] * 2, 1)) == {os.getpid()}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_task_raises_is_raised(n_jobs):
    results = run_tasks([partial(square, 3), partial(fail, "x: expected this"), partial(square, 4)], n_jobs)
    assert next(results) == 9
    with pytest.raises(InputError, match="x: expected this"):
        next(results)


def test_the_task_of_a_lost_worker_is_run_again(tmp_path):
    tasks = [partial(square, 2), partial(die_once, str(tmp_path / "died"), 5), partial(square, 3)]
    with quiet():
        assert list(run_tasks(tasks, 2)) == [4, 5, 9]
    assert (tmp_path / "died").exists()


def test_a_task_that_always_loses_its_worker_is_given_up():
    with quiet(), pytest.raises(WorkersLost, match="n_jobs: expected workers that finish"):
        list(run_tasks([partial(square, 2), die], 2))


def test_minus_one_is_one_per_core():
    assert count_jobs(-1) == workers()
    assert count_jobs(3) == 3


@contextmanager
def quiet():
    """joblib and the clusters warn about workers that end and about what they do not close."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# -- clusters --------------------------------------------------------------------------------------------------------


@contextmanager
def dask_cluster():
    pytest.importorskip("distributed", reason="needs Dask: pip install 'invarot[dask]'")
    from distributed import Client, LocalCluster
    from joblib import parallel_config

    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with quiet(), LocalCluster(**workers) as cluster, Client(cluster), parallel_config(backend="dask"):
        yield


@contextmanager
def ray_cluster():
    ray = pytest.importorskip("ray", reason="needs Ray: pip install 'invarot[ray]'")
    from joblib import parallel_config
    from ray.util.joblib import register_ray

    with quiet():
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
        register_ray()
        try:
            with parallel_config(backend="ray"):
                yield
        finally:
            ray.shutdown()


@pytest.mark.engines
@pytest.mark.parametrize("cluster", [dask_cluster, ray_cluster])
def test_on_a_cluster_the_bits_are_those_of_one_process(cluster, tmp_path):
    """Restarts, a race and several spaces; then a worker that dies."""
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(40, 3))
    y = x[::-1] @ np.linalg.qr(rng.standard_normal((3, 3)))[0] + 0.6 * rng.standard_normal((40, 3))
    calls = [partial(invarot.align, x, y, n_starts=16, rng=3), partial(invarot.align, x, y, rng=3)]
    alone = [call() for call in calls]
    spaces = {"x": x, "y": y, "z": x[3:, ::-1]}
    together = invarot.align_many(spaces, rng=3)
    with cluster():
        several = invarot.align_many(spaces, rng=3, search=Search(n_jobs=2))
        assert os.getpid() not in set(run_tasks([where] * 4, 2))
        found = [call(search=Search(n_jobs=2)) for call in calls]
        assert count_jobs(-1) == 2
        tasks = [partial(square, 2), partial(die_once, str(tmp_path / "died"), 5), partial(square, 3)]
        assert list(run_tasks(tasks, 2)) == [4, 5, 9]
    for name in spaces:
        np.testing.assert_array_equal(several.maps[name], together.maps[name])
    for one, other in zip(alone, found, strict=True):
        np.testing.assert_array_equal(other.map, one.map)
        assert other.starts == one.starts
        assert other.verdict == one.verdict
