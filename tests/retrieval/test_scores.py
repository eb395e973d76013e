"""Mean similarities and hub penalties against the definitions, computed with the whole matrix."""

import numpy as np
import pytest

from invarot.arrays import unit_rows
from invarot.retrieval.scores import log_crowding, mean_similarities, mean_similarity, penalty


@pytest.fixture
def clouds():
    rng = np.random.default_rng(3)
    return unit_rows(rng.standard_normal((230, 6))), unit_rows(rng.standard_normal((170, 6)))


def test_unit_rows_keeps_zero_rows(lib):
    x = lib.numpy(unit_rows(lib.array([[3.0, 4.0], [0.0, 0.0]])))
    np.testing.assert_allclose(x, [[0.6, 0.8], [0.0, 0.0]])


def test_unit_rows_leaves_rows_that_are_too_short(lib):
    x = lib.array([[3.0, 4.0], [3e-7, 4e-7], [3e-5, 4e-5]])
    np.testing.assert_allclose(lib.numpy(unit_rows(x, short=1e-6)), [[0.6, 0.8], [3e-7, 4e-7], [0.6, 0.8]])
    np.testing.assert_allclose(lib.numpy(unit_rows(x)), [[0.6, 0.8]] * 3)


@pytest.mark.parametrize("block", [None, 1, 50])
@pytest.mark.parametrize("k", [1, 10, 500])
def test_mean_similarity_is_the_mean_of_the_k_largest(lib, clouds, k, block):
    x, y = clouds
    expected = np.sort(x @ y.T, axis=1)[:, ::-1][:, :k].mean(axis=1)
    found = mean_similarity(lib.array(x), lib.array(y), k, block=block)
    np.testing.assert_allclose(lib.numpy(found), expected, rtol=1e-12)


@pytest.mark.parametrize("block", [None, 7, 64])
def test_both_sides_from_one_product_are_exact_for_small_clouds(lib, clouds, block):
    x, y = clouds
    rx, ry = mean_similarities(lib.array(x), lib.array(y), 10, block=block)
    np.testing.assert_allclose(lib.numpy(rx), lib.numpy(mean_similarity(x, y, 10)), rtol=1e-12)
    np.testing.assert_allclose(lib.numpy(ry), lib.numpy(mean_similarity(y, x, 10)), rtol=1e-12)


def test_pooling_is_never_above_and_hardly_below(lib):
    rng = np.random.default_rng(0)
    x, y = (unit_rows(rng.standard_normal((n, 20)).astype(np.float32)) for n in (4003, 3001))
    exact = mean_similarity(x, y, 5), mean_similarity(y, x, 5)
    pooled = mean_similarities(lib.array(x), lib.array(y), 5, pool=8, block=600)
    for low, high in zip(pooled, exact, strict=True):
        gap = high - lib.numpy(low)
        assert gap.min() > -1e-6
        assert 0 < gap.mean() < 1e-3  # 0 would mean that nothing was pooled


def test_log_crowding_is_a_soft_maximum_over_sources(lib, clouds):
    x, y = clouds
    s = x @ y.T
    expected = 0.1 * np.log(np.exp(s / 0.1).sum(axis=0))
    np.testing.assert_allclose(lib.numpy(log_crowding(lib.array(x), lib.array(y), 0.1, block=9)), expected, rtol=1e-10)
    cold = lib.numpy(log_crowding(lib.array(x.astype("f4")), lib.array(y.astype("f4")), 1e-3))
    assert np.all(np.isfinite(cold))
    np.testing.assert_allclose(cold, s.max(axis=0), atol=6e-3)


def test_penalties(lib, clouds):
    x, y = (lib.array(z) for z in clouds)
    asked = {"csls_k": 4, "temperature": 0.2}
    assert not lib.numpy(penalty(x, y, method="cosine", **asked)).any()
    half = lib.numpy(mean_similarity(y, x, 4)) / 2
    np.testing.assert_allclose(lib.numpy(penalty(x, y, method="csls", **asked)), half)
    np.testing.assert_allclose(
        lib.numpy(penalty(x, y, method="inverted-softmax", **asked)), lib.numpy(log_crowding(x, y, 0.2))
    )
