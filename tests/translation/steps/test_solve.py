"""The solve: stages, the words that take part, and the map it leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from invarot.translation import learn, recipe
from invarot.translation.steps.solve import select_words
from invarot.words import Vectors


def test_stages_follow_each_other(pair):
    plain = learn(*pair[:2], how=recipe("fast", stages=(100, 300), rounds=0, start="axes"))
    stages = list(dict.fromkeys(row["stage"].split(",")[0] for row in plain.history))
    assert stages == ["solve 100", "solve 300"]
    assert plain.steps[1].detail.startswith("the first 100, then 300 words per side")
    assert plain.steps[2].status == "not applied: rounds is 0 in the recipe"
    assert np.allclose(plain.source_map @ plain.source_map.T, np.eye(12), atol=1e-4)  # the solver's own orthogonal map
    np.testing.assert_array_equal(plain.target_map, np.eye(12))


def test_a_stage_with_too_few_words_is_said(pair):
    how = recipe("fast", stages=(200, 400), rounds=0, start="axes")
    assert learn(*pair[:2], how=how).steps[1].detail == (
        "the first 200, then 300 words per side (200, then 400 asked for); start axes, p = inf"
    )


def test_a_finite_p_gives_a_map_that_is_not_orthogonal(pair):
    found = learn(*pair[:2], how=recipe("fast", p=4.0, rounds=0)).source_map
    assert np.abs(found @ found.T - np.eye(12)).max() > 0.05


def test_numbers_and_punctuation_take_no_part(pair):
    words = ("1997", "...", *pair[0].words[2:])
    odd = replace(pair[0], words=words)
    np.testing.assert_array_equal(select_words(odd), np.arange(2, 300))
    assert (
        learn(odd, pair[1].first(250), how="fast")
        .steps[1]
        .detail.startswith("the first 298 words per side (2,500 asked for)")
    )


def test_a_vocabulary_of_identifiers_is_taken_whole():
    genes = Vectors(tuple(f"ENSG{i}" for i in range(20)), np.eye(20))
    np.testing.assert_array_equal(select_words(genes), np.arange(20))
