"""Plans that may miss their marginals, against POT."""

import numpy as np
import pytest

from invarot.transport.cost import BlockedCost
from invarot.transport.exact import exact_partial_plan
from invarot.transport.marginals import Capped, Damped, with_norms
from invarot.transport.sinkhorn import Potentials, sinkhorn
from invarot.transport.sparse import find_reach, list_pairs


def clouds(n=40, m=30, seed=0):
    rng = np.random.default_rng(seed)
    z, y, a, b = rng.normal(size=(n, 3)), rng.normal(size=(m, 3)) + 0.5, rng.random(n), rng.random(m)
    return z, y, a / a.sum(), b / b.sum()


def squared(z, y):
    return np.sum((z[:, None] - y) ** 2, axis=-1)


def solve(z, y, a, b, epsilon, marginals, *, keep=True, max_iter=5000, tol=1e-13):
    wide_z, wide_y = with_norms(z[None], y)
    cost = BlockedCost(wide_z, wide_y, 2 / epsilon, a, b, keep=keep)
    found = sinkhorn(cost, a, b, warm=Potentials.zero(a, b), tol=tol, max_iter=max_iter, marginals=marginals)
    return a[:, None] * b * np.exp(found.u[0][:, None] + found.v[0] - squared(z, y) / epsilon), found


def test_points_with_norms_have_distances_as_inner_products():
    z, y, _, _ = clouds()
    wide_z, wide_y = with_norms(z[None], y)
    np.testing.assert_allclose(-2 * wide_z[0] @ wide_y.T, squared(z, y), atol=1e-12)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize(("epsilon", "tau"), [(0.5, 1.0), (0.1, 0.5)])
def test_damped_marginals_are_those_of_unbalanced_transport(epsilon, tau, keep):
    ot = pytest.importorskip("ot")
    z, y, a, b = clouds()
    plan, _ = solve(z, y, a, b, epsilon, Damped(tau / epsilon), keep=keep)
    other = ot.unbalanced.sinkhorn_unbalanced(
        a, b, squared(z, y), epsilon, tau, reg_type="kl", numItermax=100_000, stopThr=1e-15
    )
    np.testing.assert_allclose(plan, other, atol=1e-12)


@pytest.mark.parametrize(("epsilon", "total"), [(0.5, 0.5), (0.1, 0.7), (0.05, 0.3)])
def test_a_given_total_is_entropic_partial_transport(epsilon, total):
    ot = pytest.importorskip("ot")
    z, y, _, _ = clouds()
    a, b = np.full(40, 1 / 40), np.full(30, 1 / 30)
    plan, found = solve(z, y, a, b, epsilon, Capped(np.full((1, 1), 1 / epsilon), total))
    other = ot.partial.entropic_partial_wasserstein(
        a, b, squared(z, y), epsilon, total, numItermax=100_000, stopThr=1e-14
    )
    np.testing.assert_allclose(plan, other, atol=1e-11)
    assert plan.sum() == pytest.approx(total, abs=1e-10)
    again, _ = solve(z, y, a, b, epsilon, Capped(found.limit))  # the price that was found gives the same plan
    np.testing.assert_allclose(again, plan, atol=1e-9)


def test_an_exact_partial_plan_is_that_of_pot():
    ot = pytest.importorskip("ot")
    z, y, a, b = clouds()
    plan = exact_partial_plan(z, y, a, 0.8 * b, 0.5)
    exact = ot.partial.partial_wasserstein(a, 0.8 * b, squared(z, y), m=0.5)
    assert plan.cost() == pytest.approx(np.sum(exact * squared(z, y)), rel=1e-9)
    rows, columns = plan.marginals()
    assert rows.sum() == pytest.approx(0.5)
    assert np.all(rows <= a + 1e-12)
    assert np.all(columns <= 0.8 * b + 1e-12)


def test_streamed_capped_plans_are_the_dense_ones():
    z, y, a, b = clouds(200, 150)
    for marginals in (Capped(np.full((1, 1), 3.0)), Capped(np.full((1, 1), 3.0), 0.6)):
        dense, streamed = (solve(z, y, a, b, 0.1, marginals, keep=keep)[0] for keep in (True, False))
        np.testing.assert_allclose(streamed, dense, atol=1e-12)


def test_extrapolated_sweeps_reach_the_same_capped_plan_in_fewer():
    z, y, a, b = clouds(60, 50, 4)
    epsilon, price = 0.1, 0.5
    wide_z, wide_y = with_norms(z[None], y)
    cost = BlockedCost(wide_z, wide_y, 2 / epsilon, a, b, keep=True)
    capped = Capped(np.full((1, 1), price / epsilon))
    fast, slow = (
        sinkhorn(cost, a, b, warm=Potentials.zero(a, b), tol=1e-10, max_iter=20_000, marginals=capped, accelerate=one)
        for one in (True, False)
    )
    assert fast.iterations < 0.5 * slow.iterations
    np.testing.assert_allclose(cost.images(fast.u, fast.v)[1], cost.images(slow.u, slow.v)[1], atol=1e-8)
    assert np.all(fast.v <= price / epsilon)


def test_a_pair_beyond_the_cut_is_never_matched():
    z, y, a, b = clouds()
    price, epsilon = 0.2, 0.01
    plan, _ = solve(z, y, a, b, epsilon, Capped(np.full((1, 1), price / epsilon)))
    far = squared(z, y) > 2 * price + 0.3
    assert plan[far].sum() < 1e-12 < plan.sum()
    assert np.all(plan.sum(1) <= a * (1 + 1e-9))
    assert np.all(plan.sum(0) <= b * (1 + 1e-9))


def test_the_sparse_plan_is_the_dense_one():
    rng = np.random.default_rng(1)
    z, y = rng.normal(size=(300, 3)), rng.normal(size=(250, 3))
    a, b = np.ones(300), np.ones(250)
    price, epsilon = 0.02, 0.004
    sweeps = 4  # plain ones: combinations of later ones depend on the rounding of sums
    dense, _ = solve(z, y, a, b, epsilon, Capped(np.full((1, 1), price / epsilon)), max_iter=sweeps)
    pairs = list_pairs(z, y, find_reach(price, epsilon))
    assert pairs is not None
    cost = pairs.make_cost(pairs.measure(z), epsilon, a, b)
    assert cost.kernel.nnz < 0.1 * 300 * 250
    same = sinkhorn(
        cost, a, b, warm=Potentials.zero(a, b), tol=1e-13, max_iter=sweeps,
        marginals=Capped(np.full((1, 1), price / epsilon)),
    )  # fmt: skip
    images, mass = cost.images(same.u, same.v)
    np.testing.assert_allclose(mass[0], dense.sum(1), atol=1e-8)
    np.testing.assert_allclose(images[0], dense @ y, atol=1e-8)
    rows, columns, entries = cost.entries(same.u, same.v)
    np.testing.assert_allclose(entries, dense[rows, columns], atol=1e-8)
    assert entries.sum() == pytest.approx(dense.sum(), abs=1e-6)


def test_a_list_of_pairs_serves_until_points_have_moved():
    rng = np.random.default_rng(2)
    z, y = rng.normal(size=(60, 2)), rng.normal(size=(50, 2))
    pairs = list_pairs(z, y, 0.4)
    assert pairs is not None
    moved = z + np.asarray([0.03, -0.02])
    assert pairs.reaches(moved) == pytest.approx(1.2 * 0.4 - np.hypot(0.03, 0.02))
    square = squared(moved, y)
    for found, least in zip(pairs.nearest(pairs.measure(moved)), (square.min(1), square.min(0)), strict=True):
        near = least < pairs.reaches(moved) ** 2
        np.testing.assert_allclose(found[near], least[near])
        assert np.all(found[~near] >= pairs.reaches(moved) ** 2)


def test_a_list_that_would_be_long_is_none():
    z = np.random.default_rng(3).normal(size=(40, 3))
    assert list_pairs(z, z, 10.0) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_price_rises_from_where_no_mass_is_left(dtype):
    """The mass that is matched at first, exp(−1000), is 0 in either dtype."""
    b = np.asarray([0.5, 0.5, 0.0], dtype)
    share = np.asarray([[-1000.0, -1001.0, 0.0]], dtype)
    with np.errstate(all="raise", under="ignore"):
        found = Capped(np.full((1, 1), -3.0, dtype), 0.25).towards_total(share, b)
    mass = np.log(0.5) - 1000 + np.log1p(np.exp(-1.0))
    assert found.limit.dtype == dtype
    np.testing.assert_allclose(found.limit, [[-3.0 + (np.log(0.25) - mass) / 2]], rtol=1e-6)
