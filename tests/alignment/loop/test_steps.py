"""The two half-steps."""

import math

import numpy as np
import pytest

from invarot.alignment.loop.steps import EntropicCoupler, best_maps
from invarot.alignment.options import Schatten, Sinkhorn
from invarot.alignment.problem import pose
from invarot.geometry.orthogonal import polar


def make_problem(x, y):
    a, b = (np.arange(1.0, len(points) + 1) / np.arange(1.0, len(points) + 1).sum() for points in (x, y))
    return pose(x, y, a, b, maps=Schatten(math.inf), solver=Sinkhorn())


@pytest.mark.parametrize("dx", [3, 6])
def test_scores_are_computed_in_the_space_of_fewer_dimensions(dx):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((40, dx)), rng.standard_normal((30, 5))
    w = polar(rng.standard_normal((2, dx, 5)))
    problem = make_problem(x, y)
    coupler = EntropicCoupler(problem, 2, problem.budgets.solve)
    step = coupler.couple(w, 0.5, tol=1e-10)
    assert step.images.shape == ((2, 30, 3) if dx < 5 else (2, 40, 5))
    # the same problem with x in 8 dimensions, the others empty: its points are compared in y's space
    wide = make_problem(np.pad(x, ((0, 0), (0, 8 - dx))), y)
    other = EntropicCoupler(wide, 2, wide.budgets.solve)
    same = other.couple(np.pad(w, ((0, 0), (0, 8 - dx), (0, 0))), 0.5, tol=1e-10)
    assert same.images.shape == (2, 40, 5)
    moment, known = best_maps(problem, step, w)[1], best_maps(wide, same, w)[1][:, :dx]
    np.testing.assert_allclose(moment, known, atol=1e-8)
    np.testing.assert_allclose(step.divergence, same.divergence, atol=1e-8)
    for start in range(2):
        np.testing.assert_allclose(coupler.plan(start).dense(), other.plan(start).dense(), atol=1e-8)
    again = EntropicCoupler(problem, 1, problem.budgets.solve, coupler.plan(1)).couple(w[1:], 0.5, tol=1e-6)
    assert again.iterations == 1  # the plan's own potentials are the start
