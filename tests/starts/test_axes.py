from __future__ import annotations

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.starts import axes


def solve(case, **more):
    return axes(case.x, case.y, case.a, case.b, rng=np.random.default_rng(0), **more)


def test_all_sign_patterns_when_d_is_small(twins):
    maps = solve(twins(50, 3))
    assert maps.shape == (8, 3, 3)
    assert len({tuple(np.round(m.ravel(), 6)) for m in maps}) == 8


def test_skewness_finds_the_signs_by_itself(twins):
    case = twins(4000, 6)
    np.testing.assert_allclose(solve(case, all_signs=0, doubtful=0)[0], case.map, atol=1e-6)


def test_only_doubtful_signs_are_flipped(twins):
    maps = solve(twins(300, 8), doubtful=2)
    assert maps.shape == (4, 8, 8)
    # two maps differ by reflections of at most the two doubtful axes: rank of the difference
    assert max(np.linalg.matrix_rank(m - maps[0], tol=1e-8) for m in maps) == 2


def test_weights_shape_the_axes():
    rng = np.random.default_rng(1)
    core = np.concatenate([rng.exponential(size=(100, 2)) * [3, 1], rng.standard_normal((50, 2)) * [0.1, 40]])
    weights = np.concatenate([np.full(100, 0.01 - 1e-9), np.full(50, 2e-9)])
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    clean = core[:100] @ turn
    found = axes(core, clean, weights / weights.sum(), np.full(100, 0.01), rng=rng)[0]
    np.testing.assert_allclose(found, turn, atol=0.01)


def test_negative_counts_are_refused(twins):
    with pytest.raises(InputError, match="doubtful"):
        solve(twins(10, 2), doubtful=-1)
