"""Heats: which starts of a wave go on, and on what they are run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from invarot.alignment.problem import slack
from invarot.alignment.search import heats
from invarot.alignment.search.heats import choose_finalists, run_heat, run_heats, to_single
from invarot.alignment.tuning import FINALISTS
from invarot.starts.portfolio import Wave

from ..clouds import posed, random_turn, rotation, turned


def rng(seed=0):
    return np.random.default_rng(seed)


def test_finalists_are_the_best_and_other_answers_as_good():
    x = rng().standard_normal((200, 2))
    problem = posed(x, x)
    maps = np.stack([rotation(angle) for angle in (0.0, 1.0, 1.01, 2.0, 3.0, 4.0)])
    top = 0.9 * problem.score_scale
    step = 0.1 * slack(problem, top)
    values = top - step * np.arange(6)
    assert choose_finalists(problem, maps, values) == [0, 1, 3]
    assert FINALISTS == 3
    assert choose_finalists(problem, maps, top - 50 * step * np.arange(6)) == [0]
    assert choose_finalists(problem, maps, values[::-1].copy()) == [5, 4, 3]


def test_one_start_needs_no_race():
    x, y, turn, _ = turned(40, 3)
    seen = []
    maps, values = run_heats(posed(x, y, on_step=seen.append), Wave(turn[None], ["only"]), rng())
    np.testing.assert_array_equal(maps[0], turn)
    assert values.shape == (1,)
    assert not seen


def test_a_race_runs_on_few_points_the_first_where_rows_are_ordered(monkeypatch):
    monkeypatch.setattr(heats, "RACE_ENTRIES", 2 * 50**2)
    x, y, turn, _ = turned(80, 3)
    wave = Wave(np.stack([turn, -turn]), ["right", "wrong"])
    values = {ordered: run_heats(posed(x, y, ordered=ordered), wave, rng())[1] for ordered in (False, True)}
    assert values[False][0] > values[False][1]
    assert values[False][0] != pytest.approx(values[True][0], rel=1e-6)
    _, all_points = run_heats(posed(x[:50], y[:50]), wave, rng())
    _, same = run_heats(posed(x[:50], y[:50], ordered=True), wave, rng())
    np.testing.assert_array_equal(all_points, same)  # nothing to choose from


def test_only_a_few_of_many_starts_reach_the_last_heat(monkeypatch):
    x, y, turn, _ = turned(60, 3)
    draw = rng(1)
    maps = np.stack([turn, *(random_turn(3, draw) for _ in range(30))])
    seen = []

    def watched(problem, maps, *rest):
        seen.append(maps.shape[0])
        return run_heat(problem, maps, *rest)

    monkeypatch.setattr(heats, "run_heat", watched)
    found, values = run_heats(posed(x, y), Wave(maps, ["any"] * 31), draw)
    assert seen[0] == 31
    assert 1 <= seen[1] < 25
    assert values[0] > np.max(values) - slack(posed(x, y), float(np.max(values)))
    np.testing.assert_allclose(found[0], turn, atol=0.05)


def test_a_race_in_single_precision_ends_where_one_in_double_does(monkeypatch):
    x, y, turn, _ = turned(80, 4)
    wave = Wave(np.stack([turn, -turn]), ["right", "wrong"])
    found = [run_heats(posed(x, y), wave, rng())]
    monkeypatch.setattr(heats, "SINGLE", (1.0, 0.0))  # no scale lies there: all in double
    found.append(run_heats(posed(x, y), wave, rng()))
    assert found[0][0].dtype == np.float64 == found[0][1].dtype
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-3)
    assert not np.array_equal(found[0][0], found[1][0])
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-3)


def test_what_is_raced_in_single_precision(lib):
    x, y, _, _ = turned(20, 3)
    problem = posed(lib.array(x), lib.array(y))
    single = to_single(replace(problem, seed_moment=problem.second_moment))
    for name in ("x", "y", "a", "b", "second_moment", "seed_moment"):
        assert lib.numpy(getattr(single, name)).dtype == np.float32
        assert name == "seed_moment" or lib.numpy(getattr(problem, name)).dtype == np.float64
    far = posed(lib.array(1e25 * x), lib.array(1e25 * y))
    assert to_single(far) is far
