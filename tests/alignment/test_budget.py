"""What each part of a solve may spend."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import invarot
from invarot import Exact, Schedule, Sinkhorn, Stages
from invarot.alignment.budget import Budget, make_budgets
from invarot.alignment.tuning import (
    BRIEF_STEPS,
    COARSE_EPSILON,
    FIRST_EPSILON,
    LAST_EPSILON,
    LOOSER,
    ROUGH_STEPS,
    SEARCH_FLOOR,
)

from .clouds import posed, turned

FALLING = Schedule(0.5, 0.8, 0.01)
FAR = Schedule(50.0, 0.8, 1.0, absolute=True)


def budget(schedule=FALLING):
    return Budget(schedule, tol=1e-5, max_iter=500, plan_tol=1e-3, plan_max_iter=50, memory=None)


def test_a_schedule_is_entered_at_an_epsilon():
    assert budget().from_epsilon(0.1).schedule == Schedule(0.1, 0.8, 0.01)
    assert budget().from_epsilon(1e-9).schedule == Schedule(0.01, 0.8, 0.01)  # not below the floor
    assert budget().at_floor().schedule == Schedule.fixed(0.01)
    assert budget().at_epsilon(0.2).schedule == Schedule.fixed(0.2)
    assert budget(FAR).at_epsilon(0.2).schedule == Schedule.fixed(0.2, absolute=True)
    assert budget(FAR).at_floor().schedule == Schedule.fixed(1.0, absolute=True)
    assert budget(FAR).from_epsilon(2.0).schedule == replace(FAR, epsilon=2.0)  # in the units of the schedule


def test_exact_plans_have_no_epsilon_to_set():
    exact = budget(None)
    for other in (
        exact.from_epsilon(0.1),
        exact.at_floor(),
        exact.at_epsilon(0.1),
        exact.within_rounding(np.ones(1), 1.0),
    ):
        assert other == exact


def test_steps_only_ever_become_fewer():
    assert budget().at_most(7).max_iter == 7
    assert budget().at_most(7000).max_iter == 500


def test_tolerances_stay_within_rounding():
    """Single precision cannot hold marginals to 1e-10; a tolerance it can hold is left alone."""
    fine = Budget(FALLING, 1e-5, 500, 1e-10, 50, None)
    single, double = np.ones((2, 2), dtype=np.float32), np.ones((2, 2))
    assert 1e-5 < fine.within_rounding(single, 1.0).plan_tol < 1e-2
    assert fine.within_rounding(double, 1.0).plan_tol == 1e-10
    assert budget().within_rounding(single, 1.0).plan_tol == 1e-3
    sharper = Budget(Schedule.fixed(1e-4), 1e-5, 500, 1e-10, 50, None)
    assert sharper.within_rounding(single, 1.0).plan_tol > fine.within_rounding(single, 1.0).plan_tol
    far = Budget(Schedule.fixed(1e-4 * 300, absolute=True), 1e-5, 500, 1e-10, 50, None)  # as sharp, in those units
    assert far.within_rounding(single, 300.0).plan_tol == pytest.approx(sharper.within_rounding(single, 1.0).plan_tol)


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
@pytest.mark.parametrize("schedule", [None, 0.5, Schedule(2.0, 0.7, 0.2, absolute=True)])
def test_a_race_in_single_precision_is_not_asked_for_what_it_cannot_reach(schedule):
    """No step of a race goes on sweeping until plan_max_iter for marginals that rounding keeps off."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((5, 2)), rng.standard_normal((21, 4))
    seen = []
    solver = Sinkhorn(objective="transport", schedule=schedule, plan_tol=1e-10, plan_max_iter=5000, max_iter=30)
    result = invarot.align(x, y, p=2, solver=solver, effort="quick", on_step=seen.append)
    sweeps = [step.inner_iterations for step in seen if step.stage == "race"]
    assert 0 < len(sweeps) <= BRIEF_STEPS + ROUGH_STEPS
    assert max(sweeps) < 300
    assert sum(sweeps) < 1000
    assert result.history[-1].marginal_error <= 1e-10  # the solve itself is in double


def test_the_schedule_follows_the_spacing_of_the_points():
    sharp, blunt = make_budgets(Sinkhorn(), 1e-9), make_budgets(Sinkhorn(), 10.0)
    assert sharp.adaptive
    assert sharp.sharpest == Sinkhorn.plan_tol / LOOSER
    assert blunt.sharpest == LAST_EPSILON
    assert make_budgets(Sinkhorn(), 0.01).sharpest == pytest.approx(1e-3)
    assert sharp.solve.schedule.epsilon == FIRST_EPSILON
    assert sharp.solve.schedule.floor == SEARCH_FLOOR
    assert blunt.solve.schedule.floor == LAST_EPSILON
    assert sharp.sharpen.schedule.floor == Sinkhorn.plan_tol / LOOSER
    assert sharp.sharpen.max_iter == ROUGH_STEPS
    assert blunt.sharpen is None  # no smaller than the floor of the solve


def test_denser_points_are_solved_to_a_smaller_epsilon():
    few, many = (posed(*turned(n, 2)[:2]).budgets.sharpest for n in (30, 3000))
    assert many < few


def test_a_schedule_of_ones_own_is_kept_as_it_is():
    budgets = make_budgets(Sinkhorn(schedule=FALLING, tol=1e-4, max_iter=77, memory="1MB", stages=Stages(50)), 1e-6)
    assert not budgets.adaptive
    assert budgets.sharpen is None
    assert budgets.after_race == budgets.solve
    assert budgets.solve.schedule == FALLING
    assert (budgets.solve.tol, budgets.solve.max_iter, budgets.solve.memory) == (1e-4, 77, 1_000_000)
    assert budgets.stages == Stages(50)
    assert make_budgets(Sinkhorn(schedule=0.2), 1e-6).solve.schedule == Schedule.fixed(0.2)


def test_a_race_is_rough_and_its_first_heat_rougher():
    budgets = make_budgets(Sinkhorn(), 1e-6)
    solve, race, heat = budgets.solve, budgets.race, budgets.first_heat
    assert race.schedule.floor == COARSE_EPSILON > solve.schedule.floor
    assert (race.max_iter, heat.max_iter) == (ROUGH_STEPS, BRIEF_STEPS)
    assert race.tol > solve.tol
    assert heat.plan_tol > race.plan_tol == solve.plan_tol
    assert budgets.after_race.schedule.epsilon == COARSE_EPSILON
    low = make_budgets(Sinkhorn(schedule=0.001), 1e-6).race.schedule
    assert low.epsilon == low.floor == COARSE_EPSILON
    assert make_budgets(Sinkhorn(schedule=FAR), 1e-6).race.schedule == FAR


def test_exact_plans_are_budgeted_too():
    budgets = make_budgets(Exact(tol=1e-3, max_iter=9), 1e-6)
    assert budgets.solve.schedule is None is budgets.race.schedule
    assert budgets.sharpen is None
    assert budgets.after_race == budgets.solve
    assert (budgets.solve.tol, budgets.solve.max_iter) == (1e-3, 9)
