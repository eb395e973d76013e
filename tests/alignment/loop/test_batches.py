"""Starts shared out to processes: the same answer, the same steps reported, the memory bound still one bound."""

import builtins
from types import SimpleNamespace

import numpy as np
import pytest

import invarot
from invarot import Search, Sinkhorn
from invarot.alignment.loop import batches
from invarot.alignment.loop.batches import STARTS_PER_BATCH, make_batches
from invarot.transport.choice import make_cost

from ..clouds import posed

MANY = {"start": "random", "n_starts": 2 * STARTS_PER_BATCH}


@pytest.fixture
def clouds():
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(40, 3))
    return x, x[::-1] @ np.linalg.qr(rng.standard_normal((3, 3)))[0] + 0.1 * rng.standard_normal((40, 3))


def test_the_answer_does_not_depend_on_n_jobs(clouds):
    results, seen = [], []
    for n_jobs in (1, 2):
        seen.append([])
        results.append(invarot.align(*clouds, **MANY, search=Search(n_jobs=n_jobs), rng=3, on_step=seen[-1].append))
    one, two = results
    np.testing.assert_array_equal(two.map, one.map)
    assert two.starts == one.starts
    assert len({round(start.objective, 3) for start in one.starts}) > 1
    assert len(seen[0]) == len(seen[1]) > 0
    assert [step.objective for step in seen[1]] == [step.objective for step in seen[0]]


def test_nor_does_a_race(clouds):
    """start="auto" in several processes: the same bits, the same starts, the same verdict."""
    x, y = clouds
    y = y + 0.5 * np.random.default_rng(1).standard_normal(y.shape)  # so that one wave does not end it
    one, two = (invarot.align(x, y, search=Search(n_jobs=n_jobs), rng=3) for n_jobs in (1, 2))
    np.testing.assert_array_equal(two.map, one.map)
    assert two.starts == one.starts
    assert two.verdict == one.verdict
    assert len(one.starts) > STARTS_PER_BATCH


def test_batches_do_not_depend_on_n_jobs_and_jobs_fit_memory(clouds):
    each = 2 * (40 * 40 * 8 + 1)

    def batches(memory, n_jobs):
        problem = posed(*clouds, solver=Sinkhorn(memory=memory))
        return make_batches(problem, 20, most=8, n_jobs=n_jobs)

    for n_jobs in (1, 2, 50):
        parts, jobs = batches(1 << 30, n_jobs)
        assert [part.stop - part.start for part in parts] == [7, 7, 6]
        assert jobs == n_jobs
    assert batches(2 * 7 * each + 1, 50)[1] == 2
    assert batches(each, 4) == ([slice(i, i + 1) for i in range(20)], 1)


def test_every_batch_has_random_numbers_of_its_own(clouds):
    """Stages draw points: two batches from the same start end at other objectives, and the same rng at the same."""
    x, y = clouds
    maps = np.stack([np.eye(3)] * (STARTS_PER_BATCH + 1))
    solver = Sinkhorn(schedule=0.1, stages=invarot.Stages(10))
    first, second = (invarot.align(x, y, start=maps, solver=solver, rng=5) for _ in range(2))
    ends = [round(start.objective, 12) for start in first.starts]
    assert len(set(ends)) == 2
    assert ends == [round(start.objective, 12) for start in second.starts]


def test_without_joblib(clouds, monkeypatch):
    monkeypatch.setattr(builtins, "__import__", _without("joblib", builtins.__import__))
    with pytest.raises(invarot.MissingExtra, match=r"invarot\[jobs\]"):
        invarot.align(*clouds, **MANY, search=Search(n_jobs=2))


def _without(name, real):
    def fake(module, *args, **kwargs):
        if module == name:
            raise ImportError(name)
        return real(module, *args, **kwargs)

    return fake


def test_a_batch_takes_no_more_starts_than_a_streamed_plan_of_them_fits():
    """Few points: the blocks and the past of the sweeps take more than the kernels."""
    points = np.random.default_rng(0).normal(size=(200, 3))
    even = np.full(200, 1 / 200)
    bound = 3_000_000
    parts, _ = make_batches(posed(points, points, solver=Sinkhorn(memory=bound)), 9)
    size = parts[0].stop
    assert size < 9
    maps = np.stack([np.eye(3)] * 9)
    for part in parts:
        make_cost(points @ maps[part], points, 1.0, even, even, memory=bound)


def test_what_is_free_does_not_decide_how_starts_are_grouped(monkeypatch):
    points = np.broadcast_to(np.zeros((1, 2)), (6000, 2))
    solve = SimpleNamespace(memory=None)
    problem = SimpleNamespace(budgets=SimpleNamespace(solve=solve), x=points, y=points)
    counts = []
    for free in (64 << 30, 8 << 30):
        monkeypatch.setattr(batches, "free_memory", lambda points, free=free: free)
        counts.append(len(make_batches(problem, 8)[0]))
    assert counts[0] == counts[1] > 1
