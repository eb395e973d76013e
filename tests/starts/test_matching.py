from __future__ import annotations

import numpy as np
import pytest

from invarot.starts.matching import moment_map, mutual_match, soft_match, squared_distances


@pytest.mark.parametrize("epsilon", [1.0, 0.1, 0.01])
def test_soft_match_has_the_right_marginals_and_form(epsilon):
    rng = np.random.default_rng(0)
    cost, a, b = rng.random((12, 9)), rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(9))
    plan = soft_match(cost, a, b, epsilon=epsilon, max_iter=5000, tol=1e-8)
    np.testing.assert_allclose(plan.sum(axis=1), a, atol=1e-6)
    np.testing.assert_allclose(plan.sum(axis=0), b, atol=1e-6)
    # log plan + cost / epsilon is a sum of a row term and a column term
    z = np.log(plan) + cost / epsilon
    np.testing.assert_allclose(z - z[:1] - z[:, :1] + z[0, 0], 0, atol=1e-6)


def test_soft_match_survives_costs_far_beyond_exp():
    cost = 1e4 * squared_distances(np.arange(6.0)[:, None], np.arange(6.0)[::-1, None])
    a = np.full(6, 1 / 6)
    np.testing.assert_allclose(soft_match(cost, a, a, epsilon=0.1), np.eye(6)[::-1] / 6, atol=1e-9)


def test_mutual_match_keeps_only_agreements():
    cost = np.array([[0.0, 1.0, 5.0], [0.5, 2.0, 5.0], [5.0, 5.0, 1.0]])
    rows, columns = mutual_match(cost)
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == [(0, 0), (2, 2)]


def test_map_of_a_zero_moment_is_feasible():
    found = moment_map(np.zeros((2, 3, 2)))
    np.testing.assert_allclose(np.swapaxes(found, 1, 2) @ found, np.broadcast_to(np.eye(2), (2, 2, 2)), atol=1e-12)


def test_entries_that_overflowed_are_left_out_of_the_map():
    moment = np.array([[np.inf, 0.0], [0.0, 2.0]])
    np.testing.assert_allclose(np.abs(moment_map(moment)), np.eye(2), atol=1e-12)
