"""Words set off from their surroundings: brute force, and what becomes of it in a model."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.translation import learn, load_translation, recipe, save_translation
from invarot.translation.surroundings import set_off, surroundings

from .test_translation import rotated_pair


def unit(z):
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def test_surroundings_are_the_nearest_others():
    z = np.random.default_rng(0).standard_normal((600, 5))
    near = surroundings(z)
    cosines = unit(z) @ unit(z).T
    np.fill_diagonal(cosines, -2)
    assert near.shape == (600, 6)
    np.testing.assert_array_equal(near, np.argsort(-cosines, axis=1)[:, :6])


def test_a_word_is_never_its_own_neighbour_whoever_shares_its_vector(lib):
    z = np.random.default_rng(0).standard_normal((300, 5))
    near = lib.numpy(surroundings(lib.array(np.concatenate([z, z]))))
    assert near.shape == (600, 6)
    assert not (near == np.arange(600)[:, None]).any()
    assert ((near[:, 0] - np.arange(600)) % 300 == 0).all()  # but its twin is


def test_few_words_have_no_surroundings():
    z = np.random.default_rng(0).standard_normal((499, 5))
    assert surroundings(z) is None
    assert surroundings(np.concatenate([z, z])).shape == (998, 9)


def test_a_share_of_the_local_mean_is_taken_off():
    z = np.random.default_rng(1).standard_normal((600, 5))
    near = surroundings(z)
    np.testing.assert_allclose(set_off(z, near, 0.3), unit(z) - 0.3 * unit(z)[near].mean(axis=1))
    assert set_off(z, None, 0.3) is z
    assert set_off(z, near, 0.0) is z


@pytest.fixture(scope="module")
def pair():
    return rotated_pair(600)


@pytest.fixture(scope="module")
def model(pair):
    return learn(pair[0], pair[1], how=recipe("fast", local=0.2), dictionary=pair[2])


def test_a_model_keeps_the_neighbours(tmp_path, pair, model):
    assert model.source_near.shape == model.target_near.shape == (600, 6)
    z = unit(model.prepare_source.apply(pair[0].vectors) @ model.source_map)
    expected = z - 0.2 * z[model.source_near].mean(axis=1)
    np.testing.assert_allclose(model.common()[0], expected, atol=1e-6)
    save_translation(model, tmp_path / "m")
    again = load_translation(tmp_path / "m")
    np.testing.assert_array_equal(again.common()[1], model.common()[1])
    assert "finish" in model.settings["seconds"]
    last = model.history[-1]
    assert last["stage"] == "finish"
    assert last["precision@1"] == model.evaluate(pair[2])["precision@1"] > 0.99


def test_it_can_be_switched_off_and_stops_where_it_costs_too_much(pair, model):
    plain = learn(pair[0], pair[1], how=recipe("fast", local=0.0))
    assert plain.source_near is None
    assert np.abs(unit(plain.common()[0]) - unit(model.common()[0])).max() > 0.01
    assert learn(pair[0], pair[1], how=recipe("fast", local=0.2, refine_words=599)).source_near is None
    with pytest.raises(InputError, match="local: expected"):
        recipe("fast", local=2)


def test_new_words_are_treated_alike(pair, model):
    new = pair[1].vectors[:3] * 2 + 0.01
    known = unit(model.prepare_target.apply(pair[1].vectors) @ model.target_map)
    z = unit(model.prepare_target.apply(new) @ model.target_map)
    near = np.argsort(-(z @ known.T), axis=1)[:, :6]
    np.testing.assert_allclose(model.bring(new, target=True), z - 0.2 * known[near].mean(axis=1), atol=1e-5)
    plain = learn(pair[0], pair[1], how=recipe("fast", local=0.0))
    np.testing.assert_allclose(plain.bring(pair[0].vectors), plain.common()[0])
