"""Preparation: fitted on all words, stored, applied alike."""

from __future__ import annotations

import numpy as np

from invarot.translation import learn, recipe
from invarot.translation.pipeline import map_known
from invarot.words import Vectors

from ..pairs import unit


def test_unit_center_unit(pair, model):
    x = unit(pair[0].vectors)
    expected = unit(x - x.mean(axis=0))
    np.testing.assert_allclose(map_known(model.steps[:1], pair[0], "source"), expected, atol=1e-6)
    assert model.steps[0].status == "unit, center, unit"


def test_new_words_do_not_move_the_mean(pair, model):
    few = Vectors(pair[1].words[:5], pair[1].vectors[:5])
    found = map_known(model.steps[:1], few, "target")
    np.testing.assert_allclose(found, map_known(model.steps[:1], pair[1], "target")[:5], atol=1e-6)


def test_the_recipe_chooses(pair):
    plain = learn(*pair[:2], how=recipe("fast", prepare=("none",)))
    np.testing.assert_array_equal(map_known(plain.steps[:1], pair[0], "source"), pair[0].vectors)
    assert not plain.steps[0].arrays
