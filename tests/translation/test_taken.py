"""Words that are taken are held back, and spelling goes beside the vectors: brute force, and what becomes of it in a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from invarot.cli.export import write_mapped
from invarot.errors import InputError
from invarot.retrieval import neighbours
from invarot.translation import learn, load_translation, recipe, save_translation
from invarot.translation.taken import RANKED, best_matches, hold_back, rarity
from invarot.words import Vectors, read_vectors
from invarot.words.spelling import SIZE

from ..words.test_spelling import RUSSIAN
from .test_translation import rotated_pair


def unit(z):
    return z / np.linalg.norm(z, axis=1, keepdims=True)


@pytest.fixture(scope="module", autouse=True)
def _few():
    """Held back among fewer words than it pays for, so that tests are quick."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("invarot.translation.taken.FEWEST", 500)
        yield


def test_the_best_match_of_either_side(lib):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((600, 5)), rng.standard_normal((500, 5))
    cosines = unit(x) @ unit(y).T
    found = best_matches(lib.array(x), lib.array(y))
    np.testing.assert_allclose(lib.numpy(found[0]), cosines.max(axis=1))
    np.testing.assert_allclose(lib.numpy(found[1]), cosines.max(axis=0))
    assert best_matches(lib.array(x), lib.array(y[:499])) is None
    held = hold_back(lib.array(x), 0.3 * (found[0] - 0.5), target=False)
    assert lib.owns(held)
    np.testing.assert_allclose(lib.numpy(held)[:, 5], 0.5 - cosines.max(axis=1))
    np.testing.assert_allclose(lib.numpy(held)[:, 6], 0.3)


def test_a_word_with_a_near_match_of_its_own_is_held_back():
    # Two sources want target 0, which belongs to the first; the second is nearly as near to target 1.
    x, y = unit(np.array([[1.0, 0.0], [1.0, 0.4]])), unit(np.array([[1.0, 0.02], [0.3, 1.0]]))
    cosines = x @ y.T
    assert cosines.argmax(axis=1).tolist() == [0, 0]
    best = cosines.max(axis=1), cosines.max(axis=0)
    left, right = (hold_back(z, b - b.mean(), target=t) for z, b, t in ((x, best[0], False), (y, best[1], True)))
    expected = cosines - (best[0] - best[0].mean())[:, None] - (best[1] - best[1].mean())
    np.testing.assert_allclose(left @ right.T, expected)


@pytest.fixture(scope="module")
def pair():
    return rotated_pair(600)


@pytest.fixture(scope="module")
def model(pair):
    return learn(pair[0], pair[1], how=recipe("fast", taken=0.3), dictionary=pair[2])


def test_a_model_keeps_what_it_holds_back(tmp_path, pair, model):
    z = [unit(p.apply(v.vectors) @ m) for p, v, m in zip(
        (model.prepare_source, model.prepare_target), pair[:2], (model.source_map, model.target_map), strict=True
    )]  # fmt: skip
    cosines = z[0] @ z[1].T
    np.testing.assert_allclose(model.source_best, cosines.max(axis=1), atol=1e-5)
    held = [0.3 * (c - c.mean()) for c in (cosines.max(axis=1), cosines.max(axis=0))]
    x, y = model.common()
    assert x.shape == (600, 14)
    np.testing.assert_allclose(x @ y.T, cosines - held[0][:, None] - held[1], atol=1e-5)
    save_translation(model, tmp_path / "m")
    np.testing.assert_array_equal(load_translation(tmp_path / "m").common()[1], y)
    assert model.history[-1]["stage"] == "finish"
    assert model.history[-1]["precision@1"] == model.evaluate(pair[2])["precision@1"] > 0.99


def test_it_can_be_switched_off_and_stops_where_it_costs_too_much(pair):
    for changes in ({"taken": 0.0}, {"taken": 0.3, "refine_words": 599}):
        assert learn(pair[0], pair[1], how=recipe("fast", **changes)).source_best is None
    with pytest.raises(InputError, match="taken: expected"):
        recipe("fast", taken=2)


def test_known_words_brought_as_new_ones_land_where_they_are(pair, model):
    np.testing.assert_allclose(model.bring(pair[0].vectors[:9]), model.common()[0][:9], atol=1e-5)
    np.testing.assert_allclose(model.bring(pair[1].vectors[:9], target=True), model.common()[1][:9], atol=1e-5)
    spelled = model.spelled(0.4)
    brought = spelled.bring(pair[1].vectors[:9], words=pair[1].words[:9], target=True)
    np.testing.assert_allclose(brought, spelled.common()[1][:9], atol=1e-5)
    with pytest.raises(InputError, match="words: expected the 9 words"):
        spelled.bring(pair[0].vectors[:9])


@pytest.fixture(scope="module")
def ordered(pair):
    return learn(pair[0], pair[1], how=recipe("fast", rare=0.05), dictionary=pair[2])


def test_rare_words_are_held_back_where_the_order_is_known(tmp_path, pair, ordered):
    rare = np.log(np.arange(1, 601)) - np.log(np.arange(1, 601)).mean()
    np.testing.assert_allclose(rarity(600), rare)
    x, y = ordered.common()
    cosines = unit(x[:, :12]) @ unit(y[:, :12]).T
    np.testing.assert_allclose(x @ y.T, cosines - 0.05 * rare[:, None] - 0.05 * rare, atol=1e-5)
    save_translation(ordered, tmp_path / "m")
    np.testing.assert_array_equal(load_translation(tmp_path / "m").common()[1], y)
    assert ordered.history[-1]["stage"] == "finish"
    both = replace(ordered, settings={**ordered.settings, "taken": 0.3}).with_best()
    best = cosines.max(axis=1)
    lower = 0.05 * rare + 0.3 * (best - best.mean())
    np.testing.assert_allclose(both.common()[0][:, 12], -lower / RANKED, atol=1e-5)


def test_of_two_words_equally_near_the_more_frequent_is_chosen(pair, ordered):
    words, vectors = list(pair[1].words), pair[1].vectors.copy()
    first, last = words.index(pair[2][0][1]), len(words) - 1
    vectors[last] = vectors[first]
    twins = replace(ordered, target=Vectors(tuple(words), vectors))
    (best, score), (second, lower) = twins.translate(pair[2][0][0], k=2, method="cosine")[pair[2][0][0]]
    assert (best, second) == (words[first], words[last])
    assert score > lower + 0.05


def test_rank_is_left_alone_where_it_says_nothing(pair, ordered):
    assert recipe("best", ordered=False).rare == 0 < recipe("best").rare
    with pytest.raises(InputError, match="rare: expected 0 where rows are not ordered"):
        recipe("best", ordered=False, rare=0.02)
    with pytest.raises(InputError, match="rare: expected"):
        recipe("best", rare=-1)
    settings = ordered.settings
    older = {name: value for name, value in settings.items() if name != "rare"}  # of before there was any
    for changed in ({**settings, "ordered": False}, {**settings, "refine_words": 599}, older, {"ordered": True}, {}):
        assert replace(ordered, settings=changed).rare == 0
    assert replace(ordered, settings=older).common()[0].shape == (600, 12)
    few = replace(ordered, source=pair[0].first(499), target=pair[1])
    assert few.rare == 0
    assert few.common()[0].shape == (499, 12)


def test_new_words_are_the_rarest(pair, ordered):
    brought = ordered.bring(pair[0].vectors[:9], words=pair[0].words[:9])
    np.testing.assert_allclose(brought, ordered.common()[0][:9], atol=1e-5)
    unnamed = ordered.bring(pair[0].vectors[:9])[:, 12]
    np.testing.assert_allclose(unnamed, -0.05 * (np.log(601) - np.log(np.arange(1, 601)).mean()) / RANKED, rtol=1e-5)
    with pytest.raises(InputError, match="words: expected the 9 words of the vectors, got 8"):
        ordered.bring(pair[0].vectors[:9], words=pair[0].words[:8])


@pytest.fixture(scope="module")
def blurred(pair, model):
    """The maps of the model, vectors that decide little, and words that are spelled nearly alike on both sides."""
    noise = 0.6 * pair[1].vectors.std() * np.random.default_rng(1).standard_normal(pair[1].vectors.shape)
    words = tuple(word[1:] + "o" for word in pair[1].words)
    target = Vectors(words, (pair[1].vectors + noise).astype(np.float32))
    return replace(model, target=target).with_best(), [(left, right[1:] + "o") for left, right in pair[2]]


def test_spelling_helps_where_words_are_spelled_alike(blurred, tmp_path):
    plain, gold = blurred
    spelled = plain.spelled(0.4)
    before, after = (one.evaluate(gold)["precision@1"] for one in (plain, spelled))
    assert 0.9 > after > before + 0.1
    back = [(right, left) for left, right in gold]
    assert spelled.evaluate(back, reverse=True)["precision@1"] > plain.evaluate(back, reverse=True)["precision@1"] + 0.1
    assert spelled.spelled(2.0).evaluate(gold)["precision@1"] > after  # the words are all but the same
    np.testing.assert_array_equal(spelled.spelled(0).common()[1], plain.common()[1])
    save_translation(spelled, tmp_path / "m")
    assert load_translation(tmp_path / "m").evaluate(gold)["precision@1"] == after
    with pytest.raises(InputError, match="weight: expected"):
        plain.spelled(-1)


def test_a_model_keeps_its_coordinates_of_spelling(blurred):
    spelled = blurred[0].spelled(0.4)
    assert spelled.settings["spelling_size"] == SIZE == 512
    settings = {name: value for name, value in spelled.settings.items() if name != "spelling_size"}
    older = replace(spelled, settings=settings)  # of before they were doubled
    assert [z.shape[1] for z in older.common()] == [12 + 256 + 2] * 2
    assert older.bring(older.source.vectors[:2], words=older.source.words[:2]).shape[1] == 12 + 256 + 2


def test_spelling_asked_for_beforehand_is_the_same(pair, model):
    spelled = learn(pair[0], pair[1], how=recipe("fast", taken=0.3, spelling=0.4))
    for one, other in zip(spelled.common(), model.spelled(0.4).common(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    with pytest.raises(InputError, match="spelling: expected"):
        recipe("fast", spelling=-0.1)


def test_what_is_exported_looks_up_alike(blurred, tmp_path):
    model = blurred[0].spelled(0.4)
    x, y = (read_vectors(path).vectors for path in write_mapped(model, tmp_path / "v", "vec"))
    assert x.shape == (600, 12 + SIZE + 2)
    found, _ = neighbours(x, y, k=1)
    answers = model.translate(model.source.words, k=1)
    expected = [answers[word][0][0] for word in model.source.words]
    assert np.mean([model.target.words[j] == word for j, word in zip(found[:, 0], expected, strict=True)]) > 0.99


def test_another_alphabet_is_not_harmed(blurred):
    plain = blurred[0]
    moved = Vectors(tuple(word.translate(RUSSIAN) for word in plain.target.words), plain.target.vectors)
    plain = replace(plain, target=moved)
    spelled = plain.spelled()
    assert spelled.settings["spelling"] == 0
    np.testing.assert_array_equal(spelled.common()[1], plain.common()[1])
