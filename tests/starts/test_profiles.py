from __future__ import annotations

import numpy as np
import pytest

from invarot.starts.profiles import (
    canonical_order,
    describe_points,
    gram_factor,
    principal,
    quantile_edges,
    row_quantiles,
    subsample,
)


@pytest.mark.parametrize("power", [0.25, 0.5, 1.0, 2.0])
def test_gram_power_is_the_matrix_power(power):
    x = np.random.default_rng(0).standard_normal((12, 4))
    a = np.full(12, 1 / 12)
    z = gram_factor(*principal(x, a), a, power)
    values, vectors = np.linalg.eigh(x @ x.T)
    expected = (vectors[:, -4:] * values[-4:] ** power) @ vectors[:, -4:].T  # rank 4: the others are rounding
    found = z @ z.T
    np.testing.assert_allclose(found / np.trace(found), expected / np.trace(expected), atol=1e-10)


def test_row_quantiles_are_bin_means_of_the_sorted_row():
    values = np.array([[4.0, 1.0, 3.0, 2.0]])
    found = row_quantiles(values, np.full(4, 0.25), np.array([0.0, 0.5, 0.75, 1.0]), uniform=True)
    np.testing.assert_allclose(found, [[1.5, 3.0, 4.0]])


def test_weighted_quantiles_equal_repeated_points():
    rng = np.random.default_rng(1)
    values, counts = rng.standard_normal((5, 6)), np.array([1, 3, 2, 1, 4, 1])
    edges = quantile_edges(7)
    found = row_quantiles(values, counts / counts.sum(), edges, uniform=False)
    repeated = np.repeat(values, counts, axis=1)
    expected = row_quantiles(repeated, np.full(12, 1 / 12), edges, uniform=True)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_weighted_path_agrees_with_the_uniform_one():
    values = np.random.default_rng(2).standard_normal((4, 9))
    edges = quantile_edges(5)
    a = np.full(9, 1 / 9)
    np.testing.assert_allclose(
        row_quantiles(values, a, edges, uniform=False), row_quantiles(values, a, edges, uniform=True), atol=1e-12
    )


@pytest.mark.parametrize("standardise", [True, False])
def test_profiles_do_not_see_rotations(standardise):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((30, 5))
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    a = np.full(30, 1 / 30)
    kinds = {"powers": (0.25, 1.0), "distances": True, "quantiles": 16, "standardise": standardise}
    np.testing.assert_allclose(describe_points(x @ turn, a, **kinds), describe_points(x, a, **kinds), atol=1e-6)


def test_canonical_order_follows_the_points():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((50, 3))
    a = np.full(50, 0.02)
    shuffle = rng.permutation(50)
    np.testing.assert_array_equal(x[canonical_order(x, a)], x[shuffle][canonical_order(x[shuffle], a)])


def test_subsample_takes_the_heaviest_or_the_first():
    x = np.random.default_rng(5).standard_normal((10, 2))
    a = np.arange(1.0, 11.0) / 55
    picked, weights, rows = subsample(x, a, 3)
    assert sorted(rows) == [7, 8, 9]
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(subsample(x, a, 3, ordered=True)[0], x[:3])
    assert picked.shape == (3, 2)


def test_canonical_order_sorts_by_weight_then_leverage_then_length(lib):
    """The leverages of the three of weight 0.2 are 2.75, 2.17 and 2.17; ties stay in order."""
    x = np.array([[2.0, 0.0], [0.0, 1.0], [-2.0, 0.0], [0.0, -1.0], [1.0, 0.5]])
    a = np.array([0.2, 0.2, 0.1, 0.2, 0.3])
    assert lib.numpy(canonical_order(lib.array(x), lib.array(a))).tolist() == [2, 1, 3, 0, 4]
