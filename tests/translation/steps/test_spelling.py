"""Spelling beside the vectors, in a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from invarot.cli.export import write_mapped
from invarot.errors import InputError
from invarot.retrieval import neighbours
from invarot.translation import adjust, learn, recipe
from invarot.words import Vectors, read_vectors
from invarot.words.spelling import SPELLING_COORDINATES

from ...words.test_spelling import RUSSIAN


@pytest.fixture(scope="module")
def blurred(larger_pair):
    """A model whose vectors decide little, of words that are spelled nearly alike on both sides."""
    source, target, gold = larger_pair
    noise = 0.6 * target.vectors.std() * np.random.default_rng(1).standard_normal(target.vectors.shape)
    words = tuple(word[1:] + "o" for word in target.words)
    model = learn(source, target, how="fast")
    model = replace(model, target=Vectors(words, (target.vectors + noise).astype(np.float32)))
    return model, [(left, right[1:] + "o") for left, right in gold]


def test_it_helps_where_words_are_spelled_alike(blurred):
    plain, gold = blurred
    spelled = adjust(plain, spelling=0.4)
    before, after = (one.evaluate(gold)["precision@1"] for one in (plain, spelled))
    assert 0.9 > after > before + 0.1
    back = [(right, left) for left, right in gold]
    assert spelled.evaluate(back, reverse=True)["precision@1"] > plain.evaluate(back, reverse=True)["precision@1"] + 0.1
    assert adjust(plain, spelling=2).evaluate(gold)["precision@1"] > after  # the words are all but the same
    np.testing.assert_array_equal(adjust(spelled, spelling=0).clouds[1], plain.clouds[1])


def test_the_record_says_how_it_was_applied(blurred):
    record = adjust(blurred[0], spelling=0.4).steps[4]
    assert (record.values["weight"], record.values["size"]) == (0.4, SPELLING_COORDINATES)
    assert record.status == "weight 0.4, 512 coordinates"


def test_asked_for_beforehand_it_is_the_same(pair, model):
    asked = learn(*pair[:2], how=recipe("fast", spelling=0.4))
    for one, other in zip(asked.clouds, adjust(model, spelling=0.4).clouds, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_new_words_have_to_be_named(pair, model):
    spelled = adjust(model, spelling=0.4)
    target = pair[1]
    found = spelled.map_new_words(target.vectors[:9], words=target.words[:9], side="target")
    np.testing.assert_allclose(found, spelled.clouds[1][:9], atol=1e-5)
    with pytest.raises(InputError, match="words: expected the 9 words of the vectors, since the model uses spelling"):
        spelled.map_new_words(target.vectors[:9], side="target")


def test_what_is_exported_is_retrieved_alike(blurred, tmp_path):
    model = adjust(blurred[0], spelling=0.4)
    x, y = (read_vectors(path).vectors for path in write_mapped(model, tmp_path / "v", "vec"))
    assert x.shape == (600, 12 + SPELLING_COORDINATES)
    found, _ = neighbours(x, y, k=1)
    answers = model.translate(model.source.words, k=1)
    expected = [answers[word][0][0] for word in model.source.words]
    assert np.mean([model.target.words[j] == word for j, word in zip(found[:, 0], expected, strict=True)]) > 0.99


def test_another_alphabet_is_not_harmed(blurred):
    plain = blurred[0]
    moved = Vectors(tuple(word.translate(RUSSIAN) for word in plain.target.words), plain.target.vectors)
    plain = replace(plain, target=moved)
    spelled = adjust(plain, spelling=0.6)
    assert spelled.steps[4].status == "not applied: the two vocabularies do not share an alphabet"
    np.testing.assert_array_equal(spelled.clouds[1], plain.clouds[1])
