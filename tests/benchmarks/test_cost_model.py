"""The cost model says what was counted and measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import cost_model
from cost_model import Solve


def test_bytes_of_sums_are_those_counted():
    found = cost_model.read("ranks_speed.json")
    solve = Solve(found["n"], found["m"], found["d"], 2)
    for rank in found["runs"]["2"]:
        for (_, before), (sweeps, sent) in zip(rank["steps"], rank["steps"][1:], strict=False):
            assert sent - before == pytest.approx(solve.reduced(sweeps, 1, cuda=False), abs=1024)


def test_seconds_are_near_those_measured():
    per_entry = cost_model.seconds_per_entry()
    found = cost_model.read("million.json")["1000000 auto"]
    model = Solve(10**6, 10**6, 100).seconds(per_entry, found["full_steps"], found["full_sweeps"])
    assert model == pytest.approx(found["full_seconds"], rel=0.2)


def test_more_ranks_need_less():
    one, many = Solve(10**6, 10**6, 100), Solve(10**6, 10**6, 100, 8)
    assert many.x_side() * 8 == one.x_side()
    assert many.y_side() == one.y_side() > many.y_side(cut=True)
    assert many.passed(5, 1) == 4 * 10**6 * 100 * 11


def test_memory_of_the_x_side_is_near_that_measured():
    found = cost_model.read("ranks_memory.json")
    for count, ranks in found["runs"].items():
        model = Solve(found["n"], found["m"], found["d"], int(count)).x_side() / 2**20
        assert ranks[0]["grown_mib"] == pytest.approx(model, rel=0.2)
