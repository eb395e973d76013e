"""Finalists that are right in part are joined; unrelated ones, and those of small problems, are left alone."""

from dataclasses import replace

import numpy as np
import pytest

from invarot.alignment.loop.alternate import solve_from
from invarot.alignment.options import Sinkhorn
from invarot.alignment.search.consensus import correlate_images, join_finalists
from invarot.geometry.orthogonal import polar

from ..clouds import posed

RNG = np.random.default_rng(0)
SPREAD = np.linspace(1.0, 0.5, 12)
TEXTS = (RNG.gamma(0.3, size=(500, 12)) - 0.3) * SPREAD
TURN = np.linalg.qr(RNG.normal(size=(12, 12)))[0]


@pytest.fixture
def problem(monkeypatch):
    monkeypatch.setattr("invarot.alignment.problem.STAGE_POINTS", 200)  # so that 400 points are a large problem
    rng = np.random.default_rng(1)
    x, y = (TEXTS[rows] + 0.1 * rng.normal(size=(450, 12)) for rows in (slice(0, 450), slice(50, None)))
    return posed(x, y @ TURN, solver=Sinkhorn(schedule=0.05))


def wrong_in(problem, *axes):
    """A candidate not solved on from the right map reflected in some axes of x."""
    signs = np.ones(12)
    signs[list(axes)] = -1
    budget = problem.budgets.solve.at_most(2)
    return solve_from(problem, np.diag(signs) @ TURN, budget, "leading", stage="solve", hold_map=True)


def test_maps_that_are_wrong_in_different_axes_are_joined(problem):
    finals = [wrong_in(problem, 3), wrong_in(problem, 7), wrong_in(problem, 11)]
    (joined,) = join_finalists(problem, finals, np.random.default_rng(0))
    assert joined.value > max(one.value for one in finals)
    assert correlate_images(problem, joined.map, TURN) > 0.98
    assert polar(joined.map) == pytest.approx(joined.map, abs=1e-6)


def test_unrelated_equal_and_few_are_left_alone(problem):
    right, other = wrong_in(problem), wrong_in(problem, *range(6, 12))
    other = replace(other, map=-other.map)
    assert correlate_images(problem, right.map, other.map) < 0
    for finals in ([right, other], [right, right]):
        assert join_finalists(problem, finals, np.random.default_rng(0)) == finals
    small = posed(TEXTS[:100], TEXTS[:100] @ TURN, solver=Sinkhorn(schedule=0.05))
    few = [wrong_in(small, 3), wrong_in(small, 7)]
    assert join_finalists(small, few, np.random.default_rng(0)) == few
