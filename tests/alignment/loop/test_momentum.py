"""Momentum: none at first, a growing share of the last step, none again after a step back; the same end in fewer steps."""

from dataclasses import replace

import numpy as np

from invarot.alignment.loop.alternate import alternate, continue_from, solve_from
from invarot.alignment.loop.momentum import Momentum
from invarot.alignment.options import Sinkhorn

from ..clouds import posed


def test_each_start_looks_ahead_until_it_goes_back(lib):
    zero = lib.array(np.zeros((2, 1, 1)))
    momentum = Momentum(zero)
    one = lib.array(np.ones((2, 1, 1)))
    np.testing.assert_array_equal(lib.numpy(momentum.look_ahead(zero)), 0.0)
    momentum.follow(zero, zero, one)
    np.testing.assert_allclose(lib.numpy(momentum.look_ahead(one)), 1.25)  # a quarter of the last step
    found = lib.array(np.array([2.0, 1.1]).reshape(2, 1, 1))  # beyond what was looked at; short of it
    momentum.follow(one, momentum.look_ahead(one), found)
    np.testing.assert_allclose(lib.numpy(momentum.look_ahead(found)).ravel(), [2.4, 1.1])


def test_a_flat_problem_ends_in_fewer_steps_at_the_same_objective(monkeypatch):
    rng = np.random.default_rng(0)
    shared = rng.gamma(0.5, size=(600, 20)) - 0.5
    x, y = (half + 0.5 * rng.normal(size=half.shape) for half in (shared[:300], shared[300:]))  # no point has a twin
    problem = posed(x, y, solver=Sinkhorn(schedule=0.05, tol=1e-6))
    start = np.eye(20)[None]
    quick = alternate(problem, start, problem.budgets.solve)
    monkeypatch.setattr(Momentum, "look_ahead", lambda self, w: w)
    slow = alternate(problem, start, problem.budgets.solve)
    assert quick.settled.all()
    assert len(quick.records) < 0.7 * len(slow.records)
    assert quick.values[0] > slow.values[0] - 1e-4 * problem.score_scale


def test_a_flat_problem_has_little_left_to_gain_where_it_settles():
    """One small step is no sign: a solve that takes it for one stops a hundred times the tolerance too early."""
    rng = np.random.default_rng(2)
    shared = rng.gamma(0.5, size=(600, 20)) - 0.5
    x, y = (half + 0.5 * rng.normal(size=half.shape) for half in (shared[:300], shared[300:]))
    start = np.linalg.qr(rng.normal(size=(20, 20)))[0][None]
    problem = posed(x, y, solver=Sinkhorn(schedule=0.05))
    run = alternate(problem, start, problem.budgets.solve)
    assert run.settled.all()
    tol, budget = problem.budgets.solve.tol, problem.budgets.solve
    on = alternate(problem, run.maps, replace(budget, tol=1e-9).at_most(200))
    assert on.values[0] - run.values[0] < 20 * tol * problem.score_scale


def test_a_run_that_goes_on_has_momentum_at_once():
    rng = np.random.default_rng(2)
    shared = rng.gamma(0.5, size=(600, 20)) - 0.5
    x, y = (half + 0.5 * rng.normal(size=half.shape) for half in (shared[:300], shared[300:]))
    problem = posed(x, y, solver=Sinkhorn(schedule=0.05))
    start, budget = np.linalg.qr(rng.normal(size=(20, 20)))[0], problem.budgets.solve
    begun = solve_from(problem, start, budget.at_most(10), "start", stage="solve")
    on, anew = (
        continue_from(problem, begun, w, budget.at_most(5), stage="settle") for w in (begun.map, begun.map + 0.0)
    )
    assert on.value - begun.value > 1.2 * (anew.value - begun.value)
