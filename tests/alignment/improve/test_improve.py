"""The improvers in their order: the best is made better, the rivals stay beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from invarot import Sinkhorn
from invarot.alignment.candidate import Found
from invarot.alignment.improve.improve import improve
from invarot.alignment.loop.alternate import alternate, make_candidate
from invarot.alignment.problem import slack
from invarot.geometry.orthogonal import polar

from ..clouds import arrays_in, posed, solved, turned, two_swapped


@pytest.fixture(scope="module")
def case():
    x, y, turn, _ = turned(80, 3)
    problem = posed(x, y)
    return problem, solved(problem, turn, "right"), solved(problem, -turn, "wrong")


def lifted(candidate, value):
    return replace(candidate, value=value, objective=value)


def test_the_best_is_sharpened_and_goes_on_from_where_it_was(case):
    problem, right, _ = case
    found = improve(problem, Found((right,), ()))
    assert found.best.epsilon < right.epsilon
    assert found.best.history[-1].stage == "sharpen"
    assert len(found.candidates) == 1


def test_rivals_are_those_that_were_as_good(case):
    """Within the slack of the best before it was sharpened; the same answer twice is no rival."""
    problem, right, wrong = case
    near = right.value - 0.5 * slack(problem, right.value)
    assert improve(problem, Found((right, lifted(wrong, near)), ())).candidates[1].name == "wrong"
    far = right.value - 2 * slack(problem, right.value)
    assert len(improve(problem, Found((right, lifted(wrong, far)), ())).candidates) == 1
    assert len(improve(problem, Found((right, lifted(right, near)), ())).candidates) == 1


def test_plain_starts_that_end_clearly_higher_elsewhere_are_counted(case):
    problem, right, wrong = case
    gap = slack(problem, right.value)
    higher = lifted(wrong, right.value + 2 * gap)
    assert improve(problem, Found((right,), (), plain=(higher, right))).better == 1
    assert improve(problem, Found((right,), (), plain=(lifted(wrong, right.value + 0.5 * gap),))).better == 0
    assert improve(problem, Found((right,), (), plain=(lifted(right, right.value + 2 * gap),))).better == 0
    assert improve(problem, Found((right,), ())).better == 0


def test_matches_are_swapped_before_the_plan_is_sharpened():
    x, y, truth, swapped = two_swapped()
    problem = posed(x, y)
    before = solved(problem, polar(x.T @ y[swapped]))
    after = improve(problem, Found((before,), ())).best
    assert after.value > before.value
    np.testing.assert_array_equal(after.plan.matches(), truth)
    assert [step.stage for step in after.history if step.step == 0][:2] == ["solve", "swap"]


def test_refitting_is_asked_for(case):
    problem, right, _ = case
    plain, fitted = (improve(problem, Found((right,), ()), refitting=flag) for flag in (False, True))
    assert plain.best.history[-1].stage == "sharpen"
    assert fitted.best.history[-1].stage == "refit"
    assert fitted.notes == ()


def test_what_was_found_is_left_as_it_was_and_the_rest_is_carried(case):
    problem, right, wrong = case
    before = Found((right, lifted(wrong, right.value)), ("a record",), notes=("a note",))
    kept = [arrays_in(one) for one in before.candidates]
    after = improve(problem, before, refitting=True)
    assert after.starts == ("a record",)
    assert after.notes == ("a note",)
    assert before.candidates[0] is right
    for one, arrays in zip(before.candidates, kept, strict=True):
        for name, array in arrays_in(one).items():
            np.testing.assert_array_equal(array, arrays[name], err_msg=name)


def test_nothing_to_improve_keeps_the_candidate_itself():
    x, y, turn, _ = turned(80, 3)
    problem = posed(x, y, solver=Sinkhorn(schedule=0.05))
    candidate = solved(problem, turn)
    assert improve(problem, Found((candidate,), ())).best is candidate


def test_candidates_that_were_only_compared_are_solved_on():
    """A rough solve stops early; its best goes on at the last epsilon, within the steps of the budget."""
    x, y, turn, _ = turned(80, 3, noise=0.3)
    problem = posed(x, y)
    budget = problem.budgets.solve
    rough = make_candidate(problem, alternate(problem, turn[None], replace(budget, tol=0.1)), 0, "rough")
    stages = [step.stage for step in improve(problem, Found((rough,), (), rough=True)).best.history]
    assert "settle" in stages
    assert "settle" not in [step.stage for step in improve(problem, Found((rough,), ())).best.history]
    spent = replace(problem, budgets=replace(problem.budgets, solve=budget.at_most(len(rough.history))))
    assert "settle" not in [step.stage for step in improve(spent, Found((rough,), (), rough=True)).best.history]
