"""Entropic plans: marginals, limits, stability at any epsilon, the same answer by every route."""

import numpy as np
import ot
import pytest
from scipy.special import logsumexp

from invarot.transport.cost import BlockedCost
from invarot.transport.plan import EntropicPlan
from invarot.transport.sinkhorn import Potentials, sinkhorn


class NUMPY:
    """The array library of tests that need only one."""

    array = staticmethod(np.asarray)


def clouds(n=30, m=40, d=3, seed=0, dtype="float64", weights=True):
    rng = np.random.default_rng(seed)
    z, y = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 0.5
    a, b = rng.uniform(0.2, 1, n) if weights else np.ones(n), rng.uniform(0.2, 1, m) if weights else np.ones(m)
    return tuple(part.astype(dtype) for part in (z, y, a / a.sum(), b / b.sum()))


def mean_cost(z, y):
    return float(np.mean(np.sum((z[:, None].astype(float) - y) ** 2, axis=2)))


def solve(lib, parts, epsilon, *, keep=True, tol=1e-9, max_iter=20000, warm=None):
    z, y, a, b = (lib.array(part) for part in parts)
    cost = BlockedCost(z[None], y, 2 / epsilon, a, b, keep=keep)
    zero = Potentials(0 * a[None], 0 * b[None], None, 0)
    found = sinkhorn(cost, a, b, warm=warm or zero, tol=tol, max_iter=max_iter)
    error = float(found.error[0])
    return cost, found, EntropicPlan(z, y, a, b, found.u[0], found.v[0], epsilon, error, found.iterations)


def reference_plan(z, y, a, b, epsilon, sweeps=20000):
    """Sinkhorn in the log domain on the full cost, written out."""
    cost = np.sum((z[:, None] - y) ** 2, axis=2)
    f, g = np.zeros(len(a)), np.zeros(len(b))
    for _ in range(sweeps):
        f = -epsilon * logsumexp((g - cost) / epsilon + np.log(b), axis=1)
        new = -epsilon * logsumexp((f[:, None] - cost) / epsilon + np.log(a)[:, None], axis=0)
        if np.abs(new - g).max() < 1e-13:
            break
        g = new
    return a[:, None] * b * np.exp((f[:, None] + g - cost) / epsilon)


@pytest.mark.parametrize("keep", [True, False])
def test_plan_is_the_entropic_plan(lib, keep):
    parts = clouds()
    epsilon = 0.05 * mean_cost(*parts[:2])
    _, found, plan = solve(lib, parts, epsilon, keep=keep, tol=1e-12)
    expected = reference_plan(*parts, epsilon)
    np.testing.assert_allclose(lib.numpy(plan.dense()), expected, atol=1e-10)
    z, y, a, b = parts
    theirs = ot.sinkhorn(a, b, ot.dist(z, y), epsilon, stopThr=1e-13, numItermax=100000)
    np.testing.assert_allclose(lib.numpy(plan.dense()), theirs, atol=1e-9)
    assert found.iterations > 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fraction", [1.0, 0.1, 0.01])
def test_marginals_within_the_stated_tolerance(lib, dtype, fraction):
    parts = clouds(dtype=dtype)
    tol = 1e-4
    _, found, plan = solve(lib, parts, fraction * mean_cost(*parts[:2]), tol=tol)
    rows, columns = (lib.numpy(part) for part in plan.marginals())
    slack = 1e-12 if dtype == "float64" else 1e-4
    assert np.abs(rows - parts[2]).sum() <= plan.error + slack
    assert plan.error <= tol
    assert np.abs(columns - parts[3]).sum() <= slack
    assert found.iterations < 20000


def test_the_error_bounds_the_rows_from_any_warm_start():
    """Potentials whose rows happen to be right, and whose columns are not, must not pass as converged."""
    parts = clouds(weights=False)
    z, y, a, b = parts
    epsilon = 0.05 * mean_cost(z, y)
    v = 3 * np.random.default_rng(1).standard_normal(len(b))
    u = -logsumexp(2 / epsilon * z @ y.T + v + np.log(b), axis=1)
    for sweeps in range(1, 6):
        cost = BlockedCost(z[None], y, 2 / epsilon, a, b)
        found = sinkhorn(cost, a, b, warm=Potentials(u[None], v[None], None, 0), tol=1e-3, max_iter=sweeps)
        plan = EntropicPlan(z, y, a, b, found.u[0], found.v[0], epsilon, float(found.error[0]), sweeps)
        assert np.abs(plan.marginals()[0] - a).sum() <= plan.error + 1e-12
    assert plan.error > 1e-3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("spread", [1.0, 1e-6, 1e6])
def test_cold_start_at_a_tiny_epsilon(lib, dtype, keep, spread):
    """1e-4 of the mean cost, no annealing before it: the kernel's columns underflow and the log domain takes over."""
    parts = clouds(dtype=dtype)
    parts = (parts[0] * np.float32(spread), parts[1] * np.float32(spread), *parts[2:])
    parts = tuple(part.astype(dtype) for part in parts)
    epsilon = 1e-4 * mean_cost(*parts[:2])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        cost, found, plan = solve(lib, parts, epsilon, keep=keep, tol=1e-4, max_iter=300)
        images = lib.numpy(cost.images(found.u, found.v)[0])
        dense = lib.numpy(plan.dense())
    assert np.isfinite(lib.numpy(found.u)).all()
    assert np.isfinite(lib.numpy(found.v)).all()
    assert np.isfinite(images).all()
    assert np.isfinite(dense).all()
    assert dense.sum() == pytest.approx(1, abs=1e-2)


@pytest.mark.parametrize("keep", [True, False])
def test_float32_sweeps_follow_float64_through_the_edges(keep):
    """Every sweep of a cold start at small epsilon: rebuilt kernels, drift beyond reach, columns that underflow."""
    parts = clouds(n=20, m=25, weights=False)
    epsilon = 2e-3 * mean_cost(*parts[:2])
    v64, v32 = np.zeros((1, 25)), np.zeros((1, 25), dtype=np.float32)
    wide = BlockedCost(parts[0][None], parts[1], 2 / epsilon, *parts[2:], keep=keep)
    narrow = [part.astype(np.float32) for part in parts]
    small = BlockedCost(narrow[0][None], narrow[1], 2 / epsilon, *narrow[2:], keep=keep)
    for _ in range(40):
        u64, v64 = wide.sweep(v64)
        u32, v32 = small.sweep(v32)
        np.testing.assert_allclose(u32, u64, rtol=1e-4, atol=0.05)
        np.testing.assert_allclose(v32, v64, rtol=1e-4, atol=0.05)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_drift_beyond_reach_rebuilds_the_kernel(dtype):
    """One cost object, asked about potentials far apart: each sweep equals that of a fresh object."""
    z, y, a, b = clouds(dtype=dtype)
    cost = BlockedCost(z[None], y, 3.0, a, b)
    rng = np.random.default_rng(0)
    for size in (0.0, 1.0, 20.0, 34.0, 60.0, 300.0, 0.0):
        v = (size * rng.uniform(-1, 1, (1, len(b)))).astype(dtype)
        for ours, fresh in zip(cost.sweep(v), BlockedCost(z[None], y, 3.0, a, b).sweep(v), strict=True):
            np.testing.assert_allclose(ours, fresh, rtol=1e-3 if dtype == "float32" else 1e-9, atol=1e-3)
        exact_u = -logsumexp((3.0 * z @ y.T + v[0]).astype(float) + np.log(b), axis=1)
        np.testing.assert_allclose(cost.sweep(v)[0][0], exact_u, rtol=1e-3, atol=1e-3)


def test_columns_that_underflow_get_their_potential_in_the_log_domain():
    z = np.asarray([[0.0], [0.1]])
    y = np.asarray([[0.0], [0.1], [1e3]])  # no row reaches the last column
    a, b = np.full(2, 0.5), np.full(3, 1 / 3)
    for dtype in ("float32", "float64"):
        parts = [part.astype(dtype) for part in (z, y, a, b)]
        cost = BlockedCost(parts[0][None], parts[1], 20.0, *parts[2:])
        u, v = cost.sweep(np.asarray([[0.0, 0.0, -3000.0]], dtype=dtype))
        expected = -logsumexp((20 * z @ y.T) + u[0][:, None].astype(float) + np.log(a)[:, None], axis=0)
        assert np.isfinite(v).all()
        np.testing.assert_allclose(v[0], expected, rtol=1e-5, atol=1e-3)


def test_small_epsilon_approaches_exact_transport():
    parts = clouds(weights=False, n=15, m=15)
    z, y, a, b = parts
    exact = ot.emd2(a, b, ot.dist(z, y))
    gaps, warm, last = [], None, None
    for fraction in (0.3, 0.1, 0.03, 0.01, 0.003, 1e-3):
        epsilon = fraction * mean_cost(z, y)
        ratio = 1.0 if last is None else last / epsilon
        _, found, plan = solve(NUMPY, parts, epsilon, warm=warm and warm.at(ratio), tol=1e-5, max_iter=3000)
        warm, last = found, epsilon
        gaps.append(plan.cost() - exact)
    assert (np.diff(gaps) < 0).all()
    assert gaps[-1] < 1e-3 * exact
    assert gaps[-1] > -1e-6


def test_streamed_equals_dense(lib):
    parts = clouds(n=300, m=200)
    _, _, dense = solve(lib, parts, 0.5)
    _, _, streamed = solve(lib, parts, 0.5, keep=False)
    np.testing.assert_allclose(lib.numpy(streamed.dense()), lib.numpy(dense.dense()), atol=1e-10)


def test_blocks_of_rows_change_nothing(monkeypatch):
    import invarot.transport.cost as module

    parts = clouds(n=500, m=200)
    _, whole, _ = solve(NUMPY, parts, 0.5)
    monkeypatch.setattr(module, "NUMPY_BLOCK", 1)
    for keep in (True, False):
        _, cut, _ = solve(NUMPY, parts, 0.5, keep=keep)
        np.testing.assert_allclose(cut.u, whole.u, atol=1e-10)


def test_a_batch_is_each_start_alone():
    z, y, a, b = clouds()
    batch = np.stack([z, 2 * z, -z])
    cost = BlockedCost(batch, y, 2.0, a, b)
    u, v = cost.sweep(np.zeros((3, len(b))))
    for k in range(3):
        alone = BlockedCost(batch[k][None], y, 2.0, a, b)
        u_k, v_k = alone.sweep(np.zeros((1, len(b))))
        np.testing.assert_allclose(u[k], u_k[0], atol=1e-12)
        np.testing.assert_allclose(v[k], v_k[0], atol=1e-12)
        np.testing.assert_allclose(cost.images(u, v)[0][k], alone.images(u_k, v_k)[0][0], atol=1e-12)


def test_warm_start_saves_sweeps():
    parts = clouds()
    _, cold, _ = solve(NUMPY, parts, 0.3, tol=1e-6)
    moved = (parts[0] * 1.01, *parts[1:])
    _, again, _ = solve(NUMPY, moved, 0.3, tol=1e-6)
    _, warm, _ = solve(NUMPY, moved, 0.3, tol=1e-6, warm=cold)
    assert warm.iterations < again.iterations


def test_uneven_weights_at_small_epsilon():
    z, y, _, _ = clouds(n=6, m=5)
    a, b = np.asarray([1e-30, 1e-8, 0.3, 0.3, 0.2, 0.2]), np.asarray([1e-200, 1e-12, 0.5, 0.25, 0.25])
    _, found, plan = solve(NUMPY, (z, y, a / a.sum(), b / b.sum()), 0.5, tol=1e-4, max_iter=2000)
    assert np.isfinite(found.u).all()
    assert np.isfinite(found.v).all()
    assert plan.error <= 1e-4
    assert np.abs(plan.marginals()[0] - a / a.sum()).sum() <= plan.error
