from __future__ import annotations

import time

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.starts import signature


def solve(case, **more):
    return signature(case.x, case.y, case.a, case.b, rng=np.random.default_rng(0), **more)


def test_one_candidate_for_each_size_and_matcher(twins):
    maps = solve(twins(60, 3, noise=0.2), sizes=(None, 30), match=("sinkhorn", "mutual"))
    assert maps.shape == (4, 3, 3)
    assert len({tuple(np.round(m.ravel(), 6)) for m in maps}) == 4


@pytest.mark.parametrize("match", ["sinkhorn", "mutual"])
def test_a_noiseless_twin_is_found_at_once(match, twins):
    case = twins(150, 5)
    np.testing.assert_allclose(solve(case, match=match, epsilon=0.002)[0], case.map, atol=0.02)


def test_more_points_on_one_side(twins, recovered):
    case = twins(300, 4, seed=2)
    keep = np.sort(np.random.default_rng(0).permutation(300)[:220])
    part = signature(case.x[keep], case.y, np.full(220, 1 / 220), case.b, rng=np.random.default_rng(0))
    assert recovered(case, part) >= 0.99


@pytest.mark.parametrize(
    "change",
    [
        {"powers": (1.0,)},
        {"distances": True},
        {"quantiles": 8},
        {"standardise": False},
        {"epsilon": 0.5},
        {"sizes": 20},
        {"sizes": 20, "ordered": True},
    ],
)
def test_every_option_changes_the_outcome(change, twins):
    case = twins(60, 3, noise=0.3)
    assert not np.allclose(solve(case, **change), solve(case), atol=1e-6)


def test_side_information_decides_what_profiles_cannot():
    # the corners of a square are alike; a feature that names them is not
    x = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    a = np.full(4, 0.25)
    names = np.arange(4.0)
    found = signature(x, x @ turn, a, a, rng=np.random.default_rng(0), side=(names, names), epsilon=0.01)
    np.testing.assert_allclose(found[0], turn, atol=1e-6)


def test_side_weight_zero_is_no_side_information(twins):
    case = twins(40, 3, noise=0.1)
    side = (np.arange(40.0), np.arange(40.0))
    np.testing.assert_allclose(solve(case, side=side, side_weight=0.0), solve(case), atol=1e-9)


def test_scale_of_a_cloud_does_not_matter(twins):
    case = twins(50, 3, noise=0.1)
    expected = solve(case)
    case.y = case.y * 100.0
    np.testing.assert_allclose(solve(case), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"powers": ()}, "powers"),
        ({"match": "nearest"}, "match"),
        ({"quantiles": 0}, "quantiles"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"sizes": 0}, "sizes"),
        ({"side_weight": -1.0}, "side_weight"),
        ({"side": (np.zeros(3), np.zeros(40))}, "fx"),
        ({"side": (np.zeros((40, 2)), np.zeros(40))}, "columns"),
    ],
)
def test_wrong_options_are_named(change, word, twins):
    with pytest.raises(InputError, match=word):
        solve(twins(40, 2), **change)


def test_many_points_in_reasonable_time():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2000, 100), dtype=np.float32)
    a = np.full(2000, 1 / 2000, dtype=np.float32)
    began = time.perf_counter()
    signature(x, x[::-1], a, a, rng=rng)
    assert time.perf_counter() - began < 30  # about 1 s when nothing else runs
