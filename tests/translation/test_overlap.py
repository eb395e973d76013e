"""Vocabularies of which only a part corresponds: words without a translation are named, not forced."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.translation import learn, load, recipe

from .pairs import rotated_pair


@pytest.fixture(scope="module")
def model():
    """The first 300 words of both sides correspond up to the last 100 of each, which do not."""
    source, target, _ = rotated_pair(400)
    order = np.argsort(target.words)  # as the source words are
    assert [target.words[i][1:] for i in order] == sorted(source.words)
    source = source.take(np.argsort(source.words))
    return learn(
        source.take(np.arange(300)), target.take(order[np.r_[0:200, 300:400]]), how=recipe("fast", overlap="auto")
    )


def test_the_overlap_is_estimated_and_shown(model):
    assert model.overlap == pytest.approx((2 / 3, 2 / 3), abs=0.05)
    assert "have a translation" in str(model)
    assert "overlap auto" in str(model.steps[1])


def test_words_without_a_translation_are_named(model):
    for words, reverse in ((model.source.words, False), (model.target.words, True)):
        lacking = model.find_untranslated(reverse=reverse)
        assert len(set(lacking) & set(words[200:])) > 80
        assert len(set(lacking) & set(words[:200])) < 20


def test_they_get_no_translation_unless_forced(model):
    lacking = model.find_untranslated()[0]
    known = next(word for word in model.source.words if word not in set(model.find_untranslated()))
    found = model.translate([lacking, known])
    assert found[lacking] == []
    assert len(found[known]) == 5
    assert len(model.translate(lacking, all=True)[lacking]) == 5


def test_it_is_saved(model, tmp_path):
    model.save(tmp_path / "part")
    again = load(tmp_path / "part")
    assert again.overlap == model.overlap
    assert again.find_untranslated() == model.find_untranslated()


@pytest.mark.parametrize("wrong", ["some", 0.0, 1.5, (0.5, 0.5)])
def test_wrong_overlap_is_named(wrong):
    with pytest.raises(InputError, match="overlap: expected"):
        recipe(overlap=wrong)
    with pytest.raises(InputError, match="overlap: expected None with p=2"):
        recipe(overlap="auto", p=2)
