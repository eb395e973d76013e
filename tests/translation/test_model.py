"""Asking a learned translation: words, dictionaries, mapped vectors."""

from __future__ import annotations

import pytest

from invarot.errors import InputError


def test_words_are_translated_in_both_directions(model):
    assert model.translate(["waa"], k=2)["waa"][0][0] == "Twaa"
    assert len(model.translate(["waa"], k=2)["waa"]) == 2
    assert model.translate(["Twaa"], reverse=True)["Twaa"][0][0] == "waa"


def test_one_word_or_none_may_be_asked_for(model):
    assert model.translate("waa") == model.translate(["waa"])
    assert model.translate([]) == {}


def test_the_dictionary_holds_the_first_words(model):
    found = model.dictionary(7, k=3)
    assert [word for word, _ in found] == list(model.source.words[:7])
    assert dict(found) == model.translate(model.source.words[:7], k=3)
    with pytest.raises(InputError, match="count: expected"):
        model.dictionary(0)


def test_vocabularies_are_mapped_once(model, monkeypatch):
    expected = model.clouds

    def refuse(*_):
        raise AssertionError("mapped again")

    monkeypatch.setattr("invarot.translation.model.map_known", refuse)
    model.translate("waa")
    model.mapped()
    assert model.clouds[0] is expected[0]


def test_unknown_words_and_useless_dictionaries_are_named(model):
    with pytest.raises(InputError, match="got zzz, which is not among its 300 words; leave it out"):
        model.translate(["zzz"])
    with pytest.raises(InputError, match="got zzz, yyy, which are not"):
        model.translate(["zzz", "waa", "yyy"])
    with pytest.raises(InputError, match="got none among its 1 source words; check its direction"):
        model.evaluate([("Twaa", "waa")])
    with pytest.raises(InputError, match="k: expected"):
        model.translate("waa", k=0)


def test_the_method_changes_the_scores(pair, model):
    assert model.evaluate(pair[2], method="cosine")["retrieval"] == "cosine"
    assert model.translate("waa", method="cosine") != model.translate("waa")
    reverse = [(right, left) for left, right in pair[2]]
    assert model.evaluate(reverse, reverse=True)["precision@1"] > 0.99


def test_mapped_vectors_share_a_space(model):
    left, right = model.mapped()
    row = right.index()["T" + left.words[0]]
    assert float(left.vectors[0] @ right.vectors[row]) > 0.95


def test_print_shows_the_verdict_and_every_step(model):
    lines = str(model).splitlines()
    assert lines[0] == "Translation of 300 source words into 300 target words"
    assert lines[1].split()[:2] == ["verdict", "aligned"]
    for line, step in zip(lines[2:], model.steps, strict=True):
        assert line.split(maxsplit=len(step.name.split())) == [*step.name.split(), step.status]
    assert repr(model) == f"{str(model).splitlines()[0]}: aligned (probability {model.verdict.probability:.2f})"


def test_new_words_need_a_side_and_as_many_words(model):
    with pytest.raises(InputError, match="side: expected one of source, target, got 'left'"):
        model.map_new_words(model.source.vectors[:2], side="left")
    with pytest.raises(InputError, match="words: expected the 2 words of the vectors, got 1; pass words="):
        model.map_new_words(model.source.vectors[:2], words=["one"])
    with pytest.raises(InputError, match="vectors: expected a 2-D array"):
        model.map_new_words(model.source.vectors[0])
