"""Local centring: brute force, and what becomes of it in a model."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.translation import learn, recipe
from invarot.translation.pipeline import map_known
from invarot.translation.steps.local_centring import find_neighbours, subtract_local_mean

from ..pairs import unit


def test_neighbours_are_the_nearest_others():
    z = np.random.default_rng(0).standard_normal((600, 5))
    near = find_neighbours(z)
    cosines = unit(z) @ unit(z).T
    np.fill_diagonal(cosines, -2)
    assert near.shape == (600, 6)
    np.testing.assert_array_equal(near, np.argsort(-cosines, axis=1)[:, :6])


def test_a_word_is_never_its_own_neighbour_whoever_shares_its_vector(lib):
    z = np.random.default_rng(0).standard_normal((300, 5))
    near = lib.numpy(find_neighbours(lib.array(np.concatenate([z, z]))))
    assert near.shape == (600, 6)
    assert not (near == np.arange(600)[:, None]).any()
    assert ((near[:, 0] - np.arange(600)) % 300 == 0).all()  # but its twin is


def test_a_share_of_the_local_mean_is_subtracted():
    z = np.random.default_rng(1).standard_normal((600, 5))
    near = find_neighbours(z)
    np.testing.assert_allclose(subtract_local_mean(z, near, 0.3), unit(z) - 0.3 * unit(z)[near].mean(axis=1))


@pytest.fixture(scope="module")
def model(larger_pair):
    return learn(*larger_pair[:2], how=recipe("fast", local_centring=0.2), dictionary=larger_pair[2])


def test_the_record_keeps_the_neighbours(larger_pair, model):
    record = model.steps[3]
    assert str(record) == "local centring: 0.2 of the mean of 6 neighbours subtracted"
    near = record.arrays["source_neighbours"]
    assert near.shape == record.arrays["target_neighbours"].shape == (600, 6)
    z = unit(map_known(model.steps[:3], larger_pair[0], "source"))
    np.testing.assert_allclose(model.clouds[0], z - 0.2 * z[near].mean(axis=1), atol=1e-6)


def test_it_is_measured(larger_pair, model):
    last = model.history[-1]
    assert last["stage"] == "local centring"
    assert last["precision@1"] == model.evaluate(larger_pair[2])["precision@1"] > 0.99


@pytest.mark.parametrize(
    ("count", "changes", "reason"),
    [
        (600, {"local_centring": 0.0}, "local_centring is 0 in the recipe"),
        (600, {"refine_words": 599}, "600 words, more than refine_words = 599"),
        (499, {}, "499 words, fewer than 500"),
    ],
)
def test_where_it_is_not_applied_the_record_says_why(larger_pair, model, count, changes, reason):
    how = recipe("fast", **{"local_centring": 0.2, **changes})
    plain = learn(larger_pair[0].first(count), larger_pair[1], how=how)
    assert plain.steps[3].status == f"not applied: {reason}"
    assert not plain.steps[3].arrays
    assert np.abs(unit(plain.clouds[0]) - unit(model.clouds[0][:count])).max() > 0.01


def test_new_words_are_treated_alike(larger_pair, model):
    new = larger_pair[1].vectors[:3] * 2 + 0.01
    known = unit(map_known(model.steps[:3], larger_pair[1], "target"))
    prepared = map_known(model.steps[:1], type(larger_pair[1])(("a", "b", "c"), new), "target")
    z = unit(prepared @ model.target_map)
    near = np.argsort(-(z @ known.T), axis=1)[:, :6]
    expected = z - 0.2 * known[near].mean(axis=1)
    np.testing.assert_allclose(model.map_new_words(new, side="target"), expected, atol=1e-5)
