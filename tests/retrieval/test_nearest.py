"""The nearest point of another cloud."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.retrieval.nearest import find_mutual_nearest, nearest


@pytest.mark.parametrize("count", [1, 7, 290, 2600])
def test_the_nearest_of_any_number_of_points_is_the_nearest(lib, count):
    """Sizes on both sides of a block and of a thread's share; with a penalty the nearest in another sense."""
    rng = np.random.default_rng(2)
    y, z, lowered = rng.standard_normal((900, 3)), rng.standard_normal((count, 3)), rng.standard_normal(900)
    far = ((z[:, None] - y) ** 2).sum(2)
    there = far.argsort(1)
    mine = lib.array(z), lib.array(y)
    np.testing.assert_array_equal(lib.numpy(nearest(*mine)), far.argmin(1))
    np.testing.assert_array_equal(lib.numpy(nearest(*mine, threads=False)), far.argmin(1))
    np.testing.assert_array_equal(lib.numpy(nearest(*mine, lib.array(there[:, 0]))), there[:, 1])
    np.testing.assert_array_equal(lib.numpy(nearest(*mine, lowered=lib.array(lowered))), (z @ y.T - lowered).argmax(1))


def test_mutual_neighbours_choose_each_other(lib):
    z, y = np.array([[0.0], [1.0], [5.0]]), np.array([[0.9], [5.2], [5.3]])
    there, mutual = find_mutual_nearest(lib.array(z), lib.array(y), lib.array([0, 1, 2]))
    assert lib.numpy(there).tolist() == [0, 0, 1]
    assert lib.numpy(mutual).tolist() == [False, True, True]


def test_many_points_in_few_dimensions_have_the_same_nearest():
    rng = np.random.default_rng(3)
    z, y = rng.normal(size=(1600, 3)), rng.normal(size=(1500, 3))
    found = nearest(z, y)
    assert np.array_equal(found, np.argmin(np.sum((z[:, None] - y) ** 2, axis=-1), axis=1))
