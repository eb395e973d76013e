"""A smaller last epsilon."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import invarot
from invarot import Exact, Schedule, Sinkhorn
from invarot.alignment.improve.sharpen import sharpen

from ..clouds import arrays_in, posed, solved, turned


def test_a_sharper_plan_tells_neighbours_apart_and_lies_nearer_to_the_map(lib):
    x, y, turn, match = turned(400, 2)
    problem = posed(lib.array(x), lib.array(y))
    before = solved(problem, lib.array(turn))
    after = sharpen(problem, before)
    assert after is not None
    assert after.epsilon == problem.budgets.sharpest < before.epsilon
    assert after.history[-1].stage == "sharpen"
    assert after.history[: len(before.history)] == before.history[:]
    assert after.name == before.name
    right = [np.mean(lib.numpy(one.plan.matches()) == match) for one in (before, after)]
    assert right[1] > right[0]
    assert after.value > before.value


def test_what_is_sharp_enough_is_left_alone():
    x, y, turn, _ = turned(60, 3)
    for solver in (Sinkhorn(schedule=0.05), Exact()):
        problem = posed(x, y, solver=solver)
        assert sharpen(problem, solved(problem, turn)) is None


def test_a_solve_that_does_not_converge_there_is_not_taken():
    """Two far clusters with other shares in the two clouds: mass that must cross the gap takes thousands of sweeps."""
    rng = np.random.default_rng(0)
    far = np.array([20.0, 0.0, 0.0])
    x, y = (rng.gamma(2.0, size=(60, 3)) + far * (np.arange(60) < share)[:, None] for share in (30, 32))
    problem = posed(x, y)
    budgets = replace(problem.budgets, solve=replace(problem.budgets.solve, plan_max_iter=1), sharpest=1e-4)
    assert sharpen(replace(problem, budgets=budgets), solved(problem, np.eye(3))) is None


def test_a_candidate_is_replaced_and_never_changed():
    x, y, turn, _ = turned(80, 3, noise=0.1)
    problem = posed(x, y)
    before = solved(problem, turn)
    kept = arrays_in(before)
    assert {".map", ".plan.u", ".plan.v", ".plan.z"} <= set(kept)
    assert sharpen(problem, before) is not before
    for name, array in arrays_in(before).items():
        np.testing.assert_array_equal(array, kept[name], err_msg=name)


def test_only_the_schedule_that_is_ours_is_sharpened():
    x, y, _, _ = turned(80, 3)
    ours = invarot.align(x, y, start="axes")
    assert ours.history[-1].stage == "sharpen"
    theirs = invarot.align(x, y, start="axes", solver=Sinkhorn(schedule=Schedule(0.1, 0.8, 0.01)))
    assert {step.stage for step in theirs.history} == {"solve"}
    assert theirs.history[-1].epsilon == pytest.approx(0.01)
