"""Rivals: plans that send cells elsewhere, and the lead over them."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.cells.coarse import Groups
from invarot.cells.rivals import compare_targets, measure_lead
from invarot.cells.search import Choice

RIGHT = Groups({"linear": np.array([[0.0, 0], [4, 0], [0, 4]])}, np.full(3, 1 / 3), np.arange(3))
PLAN = np.eye(3) / 3
SWAPPED = PLAN[[1, 0, 2]]


def test_targets_are_compared_in_units_of_their_variance():
    assert compare_targets(PLAN, PLAN, RIGHT) == 0
    assert compare_targets(PLAN, SWAPPED, RIGHT) > 0.3
    assert compare_targets(PLAN, 0.98 * PLAN + 0.02 * SWAPPED, RIGHT) < 0.01


def test_the_lead_is_over_plans_that_send_cells_elsewhere():
    near = Choice(0.79, 0.98 * PLAN + 0.02 * SWAPPED)
    assert measure_lead([Choice(0.8, PLAN), near], RIGHT) == np.inf
    assert measure_lead([Choice(0.8, PLAN), near, Choice(0.7, SWAPPED)], RIGHT) == pytest.approx(0.1)
