"""Accelerated sweeps: far fewer on a slow problem, the same plan, and a way back from a combination gone wrong."""

import numpy as np
import pytest

from invarot.transport import acceleration
from invarot.transport.acceleration import Anderson
from invarot.transport.cost import BlockedCost
from invarot.transport.plan import EntropicPlan
from invarot.transport.sinkhorn import Potentials, sinkhorn


def slow_problem(n=120, m=150, d=5, seed=0, dtype="float64"):
    """Two samples that share no point, an epsilon below their spacing: plain sweeps need hundreds."""
    rng = np.random.default_rng(seed)
    z, y = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 0.3
    a, b = rng.uniform(0.2, 1, n), rng.uniform(0.2, 1, m)
    return tuple(part.astype(dtype) for part in (z, y, a / a.sum(), b / b.sum())), 0.01 * 2 * d


def solve(lib, parts, epsilon, *, accelerate, keep=True, tol=1e-6, max_iter=20000, v=None):
    z, y, a, b = (lib.array(part) for part in parts)
    z = z if z.ndim == 3 else z[None]
    zero = 0 * b[None] + 0 * z[:, 0, :1]
    warm = Potentials(None, zero if v is None else lib.array(v), None, 0)
    cost = BlockedCost(z, y, 2 / epsilon, a, b, keep=keep)
    return sinkhorn(cost, a, b, warm=warm, tol=tol, max_iter=max_iter, accelerate=accelerate)


def dense(lib, parts, epsilon, found, start=0):
    z, y, a, b = parts
    z = z if z.ndim == 2 else z[start]
    return EntropicPlan(z, y, a, b, lib.numpy(found.u)[start], lib.numpy(found.v)[start], epsilon, 0.0, 1).dense()


@pytest.mark.parametrize("keep", [True, False])
def test_a_slow_problem_takes_far_fewer_sweeps_to_the_same_plan(lib, keep):
    parts, epsilon = slow_problem()
    plain = solve(lib, parts, epsilon, accelerate=False, keep=keep, tol=1e-10)
    quick = solve(lib, parts, epsilon, accelerate=True, keep=keep, tol=1e-10)
    assert plain.iterations > 500
    assert quick.iterations < plain.iterations / 4
    expected = dense(lib, parts, epsilon, plain)
    np.testing.assert_allclose(dense(lib, parts, epsilon, quick), expected, atol=1e-8 * expected.max() + 1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_marginals_are_within_tolerance(lib, dtype):
    parts, epsilon = slow_problem(dtype=dtype)
    quick = solve(lib, parts, epsilon, accelerate=True, tol=1e-4)
    plan = dense(lib, parts, epsilon, quick).astype(float)
    slack = 1e-5 if dtype == "float32" else 1e-12
    assert float(quick.error[0]) <= 1e-4
    assert np.abs(plan.sum(1) - parts[2]).sum() <= 1e-4 + slack
    assert np.abs(plan.sum(0) - parts[3]).sum() <= 10 * slack


def test_each_start_of_a_batch_has_its_own_combination(lib):
    """An easy start beside a slow one: both end at the plan they have alone."""
    (z, y, a, b), epsilon = slow_problem(n=60, m=70)
    batch = np.stack([z, 0.01 * z, -0.5 * z])
    found = solve(lib, (batch, y, a, b), epsilon, accelerate=True, tol=1e-9)
    assert np.all(lib.numpy(found.error) <= 1e-9)
    for k, one in enumerate(batch):
        alone = solve(lib, (one, y, a, b), epsilon, accelerate=False, tol=1e-9)
        expected = dense(lib, (one, y, a, b), epsilon, alone)
        np.testing.assert_allclose(dense(lib, (batch, y, a, b), epsilon, found, k), expected, atol=1e-9)


def test_few_sweeps_are_plain_sweeps():
    """An inexact solve is not touched: the first sweeps have no past to combine."""
    parts, epsilon = slow_problem()
    quick, plain = (
        solve(_NumPy, parts, epsilon, accelerate=mode, tol=0.0, max_iter=acceleration.PLAIN_SWEEPS)
        for mode in (True, False)
    )
    np.testing.assert_array_equal(quick.v, plain.v)


def test_targets_of_no_weight_change_nothing():
    (z, y, a, b), epsilon = slow_problem()
    b = np.where(np.arange(len(b)) < 30, 0.0, b)
    b /= b.sum()
    found = solve(_NumPy, (z, y, a, b), epsilon, accelerate=True, tol=1e-9)
    without = solve(_NumPy, (z, y[30:], a, b[30:]), epsilon, accelerate=False, tol=1e-9)
    assert np.isfinite(found.v).all()
    left = a[:, None] * b[30:] * np.exp(2 / epsilon * z @ y[30:].T + found.u[0][:, None] + found.v[0, 30:])
    np.testing.assert_allclose(left, dense(_NumPy, (z, y[30:], a, b[30:]), epsilon, without), atol=1e-9)


@pytest.mark.parametrize("fraction", [1.0, 0.1, 0.01])
@pytest.mark.parametrize("size", [0.0, 20.0, 200.0])
def test_never_much_worse_than_plain_sweeps(fraction, size):
    """Also from potentials that are nonsense, in sweeps and in kernels built."""
    counts = []
    parts, epsilon = slow_problem(n=40, m=50, seed=3)
    z, y, a, b = parts
    v = size * np.random.default_rng(1).standard_normal((1, len(b)))
    for accelerate in (False, True):
        cost = _Counting(z[None], y, 2 / (fraction * epsilon), a, b)
        warm = Potentials(None, v, None, 0)
        found = sinkhorn(cost, a, b, warm=warm, tol=1e-4, max_iter=1000, accelerate=accelerate)
        counts.append((found.iterations, cost.built, float(found.error[0])))
    (sweeps, built, error), (quick_sweeps, quick_built, quick_error) = counts
    assert quick_sweeps <= 1.1 * sweeps + 2
    assert quick_built <= 1.5 * built + 1
    assert quick_error <= max(2 * error, 1e-4)


def test_a_combination_gone_wrong_is_undone():
    """A map that is not what its past says: the error grows, the last good place is returned to, plain sweeps follow."""
    b = np.full(3, 1 / 3)
    ahead = Anderson(b)
    v, error = np.zeros((1, 3)), np.asarray([1.0])
    for _ in range(acceleration.PLAIN_SWEEPS):
        fresh = 0.9 * v + np.asarray([[0.1, -0.1, 0.0]])
        v, error = ahead.propose(v, fresh, error, 0.0), 0.9 * error
    assert not np.allclose(v, fresh)  # combined: about where the geometric series ends
    np.testing.assert_allclose(v, [[1.0, -1.0, 0.0]], atol=2e-3)
    again = ahead.propose(v, v + 3.0, 10 * error, 0.0)
    np.testing.assert_array_equal(again, fresh)
    after = ahead.propose(again, again + 0.01, error, 0.0)
    np.testing.assert_array_equal(after, again + 0.01)  # plain again


class _Counting(BlockedCost):
    built = 0

    def _absorb(self, v):
        self.built += 1
        super()._absorb(v)


class _NumPy:
    array = staticmethod(np.asarray)
    numpy = staticmethod(np.asarray)
