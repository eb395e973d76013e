from __future__ import annotations

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.starts import seeds


def solve(case, count, **more):
    pairs = np.stack([np.arange(count), case.match[:count]], axis=1)
    return seeds(case.x, case.y, case.a, case.b, rng=np.random.default_rng(0), **{"pairs": pairs, **more})


def test_many_pairs_decide_alone(twins):
    case = twins(60, 4)
    maps = solve(case, 20)
    assert maps.shape == (1, 4, 4)
    np.testing.assert_allclose(maps[0], case.map, atol=1e-8)


@pytest.mark.parametrize("count", [1, 3, 8])
def test_few_pairs_are_completed(count, twins, recovered):
    case = twins(120, 8, noise=0.1, seed=3)
    maps = solve(case, count)
    assert maps.shape == (2, 8, 8)
    assert recovered(case, maps[:1]) >= 0.98


def test_pairs_are_kept_by_the_completed_map(twins):
    case = twins(50, 8)
    carried = case.x[:3] @ solve(case, 3)[1]
    # three pairs span three directions: exact there
    np.testing.assert_allclose(carried, case.y[case.match[:3]], atol=0.3)


def test_weight_zero_silences_a_pair(twins):
    case = twins(60, 3)
    pairs = [(i, int(case.match[i])) for i in range(10)]
    wrong = [(0, int(case.match[30])), (5, int(case.match[40]))]
    found = solve(case, 0, pairs=pairs + wrong, weights=[1.0] * 10 + [0.0] * 2)
    np.testing.assert_allclose(found[0], case.map, atol=1e-8)


def test_profiles_have_a_say_with_few_pairs(twins):
    case = twins(60, 6, noise=0.2)
    assert not np.allclose(solve(case, 2), solve(case, 2, profile_weight=0.0), atol=1e-6)


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"pairs": []}, "pairs"),
        ({"pairs": [(0, 99)]}, "pairs"),
        ({"pairs": [(-1, 0)]}, "pairs"),
        ({"pairs": [(0.5, 1.0)]}, "pairs"),
        ({"pairs": [(0, 0)], "weights": [1.0, 2.0]}, "weights"),
        ({"pairs": [(0, 0)], "weights": [0.0]}, "weights"),
    ],
)
def test_wrong_pairs_are_named(more, word, twins):
    with pytest.raises(InputError, match=word):
        solve(twins(20, 2), 1, **more)
