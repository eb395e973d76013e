"""Races of the signs of leading axes."""

import itertools

import numpy as np
import pytest

import invarot
from invarot.errors import InputError
from invarot.starts import leading
from invarot.starts.leading import anneal, rank_signs


def rng0(seed):
    return np.random.default_rng(seed)


def test_signs_are_ranked_by_their_third_moments():
    agreement = rng0(0).standard_normal((4, 4, 4))
    found = rank_signs(agreement)
    scores = [np.einsum("i,j,k,ijk->", s, s, s, agreement) for s in found]
    assert sorted(map(tuple, found)) == sorted(itertools.product((-1.0, 1.0), repeat=4))
    assert np.all(np.diff(scores) <= 1e-9)


def unlike_spaces(n=600, shared=6, private=20):
    """Two samples of one law in the leading directions, unrelated noise in all others; and the map of the leading ones."""
    rng = rng0(3)
    scales = 3 * 0.9 ** np.arange(shared)
    mix = rng.standard_normal((shared, shared))
    left, right = (np.abs(rng.standard_normal((n, shared)) @ mix) * scales for _ in range(2))
    left, right = left - left.mean(0), right - right.mean(0)
    noise = [0.3 * rng.standard_normal((n, size)) for size in (private, private + 5)]
    turns = [np.linalg.qr(rng.standard_normal((size, size)))[0] for size in (shared + private, shared + private + 5)]
    x, y = (np.hstack(both) @ turn for both, turn in zip(((left, noise[0]), (right, noise[1])), turns, strict=True))
    return x, y, turns[0][:shared].T @ turns[1][:shared]


def test_a_plan_of_few_axes_gives_the_map_of_all():
    x, y, truth = unlike_spaces()
    a, b = (np.full(len(one), 1 / len(one)) for one in (x, y))
    maps = leading(x, y, a, b, rng=rng0(0), axes=(6,))
    assert maps.shape[1:] == (26, 31)
    assert np.allclose(maps @ maps.swapaxes(1, 2), np.eye(26), atol=1e-8)
    shared = np.linalg.norm(truth)
    cosines = np.sum(maps * truth, axis=(1, 2)) / shared**2
    assert cosines.max() > 0.9


def test_it_can_be_asked_for_by_name():
    x, y, truth = unlike_spaces(200, shared=4, private=4)
    found = invarot.align(x, y, start="leading")
    assert {record.name for record in found.starts} == {"leading"}
    assert np.sum(found.map * truth) / np.linalg.norm(truth) ** 2 > 0.9


@pytest.mark.parametrize("wrong", [{"axes": (0,)}, {"axes": (17,)}, {"n_starts": 0}, {"finalists": 0}])
def test_numbers_out_of_range_are_refused(wrong):
    x = rng0(0).standard_normal((20, 3))
    with pytest.raises(InputError, match="axes, n_starts"):
        leading(x, x, np.full(20, 0.05), np.full(20, 0.05), rng=rng0(0), **wrong)


def test_maps_that_have_merged_go_on_as_one():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 3)) * [3.0, 2.0, 1.0]
    weights = np.full(60, 1 / 60)
    turns = np.repeat(np.eye(3)[None], 5, axis=0)
    race = anneal(points, points, weights, weights, turns, 0.5, 0.1, least=5)
    assert np.allclose(race.maps, np.eye(3)[None], atol=0.01)
    assert race.maps.shape[0] == 1
