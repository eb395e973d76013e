from __future__ import annotations

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.starts import relaxation
from invarot.starts.relaxation import convex_plan, indefinite_plan, linear_plan


def distances(x):
    return np.linalg.norm(x[:, None] - x[None], axis=2)


def test_convex_plan_is_the_permutation_without_noise(twins):
    case = twins(30, 3)
    plan = convex_plan(distances(case.x), distances(case.y), case.a, case.b, max_iter=200, tol=1e-9)
    assert np.mean(plan.argmax(axis=1) == case.match) == 1.0


def test_sharpening_ends_at_a_corner(twins):
    case = twins(30, 3, noise=0.1)
    dx, dy = distances(case.x), distances(case.y)
    soft = convex_plan(dx, dy, case.a, case.b, max_iter=20, tol=1e-9)
    sharp = indefinite_plan(dx, dy, case.a, case.b, soft, max_iter=50)
    assert (sharp > 0.5 / 30).sum() >= 28
    assert np.sum((dx @ sharp) * (sharp @ dy)) >= np.sum((dx @ soft) * (soft @ dy))


def test_linear_plan_without_an_assignment_is_nearly_optimal():
    rng = np.random.default_rng(0)
    cost, a, b = rng.random((6, 4)), rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(4))
    ot = pytest.importorskip("ot")
    best = np.sum(cost * ot.emd(a, b, cost))
    assert np.sum(cost * linear_plan(cost, a, b)) == pytest.approx(best, abs=0.02)


def test_sharpen_zero_gives_the_convex_candidate_alone(twins):
    case = twins(30, 3)
    alone, both = (relaxation(case.x, case.y, case.a, case.b, rng=np.random.default_rng(0), sharpen=n) for n in (0, 20))
    assert both.shape == (2, 3, 3)
    np.testing.assert_allclose(alone, both[:1], atol=1e-12)


def test_size_limits_the_points(twins, recovered):
    case = twins(120, 3)
    found = relaxation(case.x, case.y, case.a, case.b, rng=np.random.default_rng(0), size=40)
    assert recovered(case, found) >= 0.95
    first = relaxation(case.x, case.y, case.a, case.b, rng=np.random.default_rng(0), size=40, ordered=True)
    assert not np.allclose(first, found)


def test_size_must_be_positive(twins):
    case = twins(5, 2)
    with pytest.raises(InputError, match="size"):
        relaxation(case.x, case.y, case.a, case.b, rng=np.random.default_rng(0), size=0)
