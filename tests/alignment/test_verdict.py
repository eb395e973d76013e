"""The verdict as data: true or not, a line of text, and plain values and back."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from invarot import Evidence, InputError, Resolution, Verdict
from invarot.alignment.judging.rule import decide

EVIDENCE = Evidence(split=1.0, twins=0.5, points=300, rivals=1, better=2)


def test_plain_values_and_back():
    verdict = decide(EVIDENCE)
    values = json.loads(json.dumps(verdict.as_dict()))
    again = Verdict.from_dict(values)
    assert again == verdict
    assert isinstance(again.evidence, Evidence)
    assert isinstance(again.reasons, tuple)
    assert set(values) == {one.name for one in fields(Verdict)}
    assert set(values["evidence"]) == {one.name for one in fields(Evidence)}


def test_only_aligned_is_true():
    for word in ("aligned", "coarse", "doubtful", "failed"):
        verdict = Verdict(word, 0.5, EVIDENCE, ("one reason", "another"))
        assert bool(verdict) == (word == "aligned")
        assert str(verdict) == f"{word} (probability 0.50): one reason; another"


def test_words_in_their_order():
    said = {word: Verdict(word, 0.5, EVIDENCE, ()) for word in ("aligned", "coarse", "doubtful", "failed")}
    assert [word for word, one in said.items() if one.meets("aligned")] == ["aligned"]
    assert [word for word, one in said.items() if one.meets("coarse")] == ["aligned", "coarse"]
    with pytest.raises(InputError, match="word: expected one of aligned, coarse, got 'algned'; did you mean 'aligned'"):
        said["aligned"].meets("algned")


def test_verdicts_saved_before_there_was_a_resolution_are_read():
    old = {
        "gain": 0.9,
        "split": 1.0,
        "surplus": 0.5,
        "twins": 0.5,
        "smooth": 0.0,
        "points": 300,
        "rivals": 0,
        "better": 0,
    }
    found = Verdict.from_dict(
        {"word": "aligned", "probability": 0.9, "evidence": old, "reasons": ["fits"], "symmetric": False}
    )
    assert found
    assert found.resolution == Resolution(0.5, 0.0, 1.0)  # nothing is known of it


def test_a_resolution_is_one_line():
    assert str(Resolution(0.0312, 0.01, 0.2)) == "0.031 (0.01 to 0.2)"
