"""Times of the systems: what a run that is stopped says."""

from __future__ import annotations

import time

import pytest

from invarot.experiments import Context, cost
from invarot.experiments.cost import TimeLimit, time_limit
from invarot.experiments.tasks import find_tasks

pytestmark = pytest.mark.skipif(
    not hasattr(__import__("signal"), "setitimer"), reason="no alarms here: nothing is stopped"
)


def run(monkeypatch, tmp_path, work):
    monkeypatch.setattr(cost, "LIMIT", 0.2)
    monkeypatch.setitem(cost.SYSTEMS, "slow", work)
    context = Context(tmp_path, quick=True)
    return cost.measure(find_tasks(context)[0], "slow", "cpu", context)


def stage(job, name, seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return name, job.first(2)


def test_a_run_over_the_limit_is_stopped_and_says_so(monkeypatch, tmp_path):
    (row,) = run(monkeypatch, tmp_path, lambda job: iter([stage(job, "slow", 30)]))
    assert row["stopped"] is True
    assert 0.2 <= row["seconds"] < 10


def test_stages_before_the_limit_are_kept(monkeypatch, tmp_path):
    rows = run(
        monkeypatch,
        tmp_path,
        lambda job: (stage(job, name, seconds) for name, seconds in (("slow", 0), ("second", 30))),
    )
    assert [(row["system"], row["stopped"]) for row in rows] == [("slow", False)]


def test_the_limit_ends_with_its_block():
    with time_limit(0.05):
        pass
    time.sleep(0.08)
    with pytest.raises(TimeLimit), time_limit(0.01):
        time.sleep(0.5)
