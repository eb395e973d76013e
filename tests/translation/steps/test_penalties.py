"""Penalties for already matched words and for rare ones: brute force, and what becomes of them in a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from invarot.translation import adjust, learn, recipe
from invarot.translation.pipeline import map_known
from invarot.translation.steps.penalties import RANK_CONSTANT, append_penalties, center_log_ranks, find_best_cosines
from invarot.words import Vectors

from ..pairs import unit

LOGS = np.log(np.arange(1, 601)) - np.log(np.arange(1, 601)).mean()


@pytest.fixture(scope="module", autouse=True)
def _few():
    """Penalties among fewer words than they pay for, so that tests are quick."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("invarot.translation.steps.penalties.FEWEST_PENALISED", 500)
        yield


def test_the_best_match_of_either_side(lib):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((600, 5)), rng.standard_normal((500, 5))
    cosines = unit(x) @ unit(y).T
    found = find_best_cosines(lib.array(x), lib.array(y))
    np.testing.assert_allclose(lib.numpy(found[0]), cosines.max(axis=1))
    np.testing.assert_allclose(lib.numpy(found[1]), cosines.max(axis=0))
    lowered = append_penalties(lib.array(x), 0.3 * (found[0] - 0.5), "source")
    assert lib.owns(lowered)
    np.testing.assert_allclose(lib.numpy(lowered)[:, 5], 0.5 - cosines.max(axis=1))
    np.testing.assert_allclose(lib.numpy(lowered)[:, 6], 0.3)


def test_the_product_is_lower_by_both_penalties():
    # Two sources want target 0, which belongs to the first; the second is nearly as near to target 1.
    x, y = unit(np.array([[1.0, 0.0], [1.0, 0.4]])), unit(np.array([[1.0, 0.02], [0.3, 1.0]]))
    cosines = x @ y.T
    assert cosines.argmax(axis=1).tolist() == [0, 0]
    best = [one - one.mean() for one in (cosines.max(axis=1), cosines.max(axis=0))]
    left, right = append_penalties(x, best[0], "source"), append_penalties(y, best[1], "target")
    np.testing.assert_allclose(left @ right.T, cosines - best[0][:, None] - best[1])


def test_ranks_are_centred_logs():
    np.testing.assert_allclose(center_log_ranks(600), LOGS)
    np.testing.assert_allclose(center_log_ranks(600, np.array([0, 599])), LOGS[[0, 599]])


@pytest.fixture(scope="module")
def matched(larger_pair):
    return learn(*larger_pair[:2], how=recipe("fast", match_penalty=0.3), dictionary=larger_pair[2])


@pytest.fixture(scope="module")
def ranked(larger_pair):
    return learn(*larger_pair[:2], how=recipe("fast", rank_penalty=0.05))


def find_cosines(model, pair):
    """Cosines between the languages before the penalties."""
    x, y = (unit(map_known(model.steps[:5], *side)) for side in ((pair[0], "source"), (pair[1], "target")))
    return x @ y.T


def test_matched_words_are_penalised(larger_pair, matched):
    cosines = find_cosines(matched, larger_pair)
    np.testing.assert_allclose(matched.steps[5].arrays["source_best"], cosines.max(axis=1), atol=1e-5)
    lower = [0.3 * (c - c.mean()) for c in (cosines.max(axis=1), cosines.max(axis=0))]
    x, y = matched.clouds
    assert x.shape == (600, 14)
    np.testing.assert_allclose(x @ y.T, cosines - lower[0][:, None] - lower[1], atol=1e-5)
    assert matched.steps[5].status == "match penalty 0.3; no rank penalty: 0 in the recipe"
    assert matched.history[-1]["stage"] == "penalties"
    assert matched.history[-1]["precision@1"] == matched.evaluate(larger_pair[2])["precision@1"] > 0.99


def test_rare_words_are_penalised(larger_pair, ranked):
    x, y = ranked.clouds
    expected = find_cosines(ranked, larger_pair) - 0.05 * LOGS[:, None] - 0.05 * LOGS
    np.testing.assert_allclose(x @ y.T, expected, atol=1e-5)
    assert ranked.steps[5].status == "no match penalty: 0 in the recipe; rank penalty 0.05"


def test_both_penalties_add_up(larger_pair, ranked):
    both = adjust(ranked, match_penalty=0.3)
    best = find_cosines(ranked, larger_pair).max(axis=1)
    lower = 0.05 * LOGS + 0.3 * (best - best.mean())
    np.testing.assert_allclose(both.clouds[0][:, 12], -lower / RANK_CONSTANT, atol=1e-5)


@pytest.mark.parametrize(
    ("count", "changes", "reason"),
    [
        (600, {"match_penalty": 0.0}, "match_penalty and rank_penalty are 0 in the recipe"),
        (600, {"refine_words": 599}, "600 words, more than refine_words = 599"),
        (499, {}, "499 words, fewer than 500"),
    ],
)
def test_where_they_are_not_applied_the_record_says_why(larger_pair, count, changes, reason):
    how = recipe("fast", **{"match_penalty": 0.3, **changes})
    plain = learn(larger_pair[0].first(count), larger_pair[1], how=how)
    assert plain.steps[5].status == f"not applied: {reason}"
    assert plain.clouds[0].shape == (count, 12)


def test_rank_says_nothing_where_rows_are_not_ordered(larger_pair):
    plain = learn(*larger_pair[:2], how=recipe("fast", match_penalty=0.3, ordered=False))
    assert plain.steps[5].status == "match penalty 0.3; no rank penalty: rows are not ordered by frequency"


def test_of_two_words_equally_near_the_more_frequent_is_chosen(larger_pair, ranked):
    word, translation = larger_pair[2][0]
    words, vectors = list(larger_pair[1].words), larger_pair[1].vectors.copy()
    first, last = words.index(translation), len(words) - 1
    vectors[last] = vectors[first]
    twins = replace(ranked, target=Vectors(tuple(words), vectors))
    (best, score), (second, lower) = twins.translate(word, k=2, method="cosine")[word]
    assert (best, second) == (words[first], words[last])
    assert score > lower + 0.05


def test_known_words_mapped_as_new_ones_land_where_they_are(larger_pair, matched):
    source, target, _ = larger_pair
    np.testing.assert_allclose(matched.map_new_words(source.vectors[:9]), matched.clouds[0][:9], atol=1e-5)
    found = matched.map_new_words(target.vectors[:9], side="target")
    np.testing.assert_allclose(found, matched.clouds[1][:9], atol=1e-5)


def test_new_words_are_the_rarest(larger_pair, ranked):
    source = larger_pair[0]
    named = ranked.map_new_words(source.vectors[:9], words=source.words[:9])
    np.testing.assert_allclose(named, ranked.clouds[0][:9], atol=1e-5)
    unnamed = ranked.map_new_words(source.vectors[:9])[:, 12]
    rarest = np.log(601) - np.log(np.arange(1, 601)).mean()
    np.testing.assert_allclose(unnamed, -0.05 * rarest / RANK_CONSTANT, rtol=1e-5)
