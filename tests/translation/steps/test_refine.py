"""The refinement: on how many words, with which weights, and when it is left out."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.translation import learn, recipe
from invarot.translation.steps.refine import TRUST, find_trust, weigh_one_sided
from invarot.words import Vectors

from ..pairs import rotated_pair


def test_many_words_are_refined_in_two_sizes(pair, monkeypatch):
    monkeypatch.setattr("invarot.translation.steps.refine.MANY_WORDS", 200)
    found = learn(*pair[:2], how="fast")
    pairs = [row["pairs"] for row in found.history if row["stage"] == "refine"]
    assert max(pairs[:1]) <= 100 < max(pairs)  # the first rounds see a third of the words
    assert found.evaluate(pair[2])["precision@1"] > 0.99


def test_only_so_many_words_take_part(pair, model):
    found = learn(*pair[:2], how=recipe("fast", refine_words=100))
    assert found.steps[2].detail.startswith("the first 100 words per side")
    assert max(row["pairs"] for row in found.history if row["stage"] == "refine") <= 100
    assert np.abs(found.source_map - model.source_map).max() > 1e-3


def test_the_record_counts_the_rounds(pair, model):
    rounds = sum(row["stage"] == "refine" for row in model.history)
    assert f"{rounds} rounds" in model.steps[2].detail
    once = learn(*pair[:2], how=recipe("fast", rounds=1)).steps[2]
    assert once.detail == "all 300 words per side, 2 rounds: all rounds used"  # the round and the last fit


def test_too_few_pairs_leave_the_map_as_solved():
    source, target, _ = rotated_pair(12, 40)
    found = learn(source, target, how=recipe("fast", start="identity"))
    assert found.steps[2].status == "not applied: too few mutual pairs for 40 dimensions"
    np.testing.assert_array_equal(found.source_map, found.steps[1].arrays["source_map"])


def test_longer_vectors_are_trusted_more_within_bounds():
    vectors = Vectors(tuple("abcde"), np.diag([1.0, 2.0, 2.0, 6.0, 100.0]).astype(np.float32))
    np.testing.assert_allclose(find_trust(vectors, np.ones(1)), [0.5, 1, 1, 3, TRUST])


@pytest.mark.parametrize(
    ("dimension", "words", "weight"), [(300, 30_000, 0.5), (300, 45_000, 1 / 3), (100, 22_000, 0.0)]
)
def test_one_sided_pairs_count_where_dimensions_are_many(dimension, words, weight):
    assert weigh_one_sided(dimension, words) == pytest.approx(weight)
