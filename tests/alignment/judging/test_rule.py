"""The rule: what evidence is worth, and what may not be called aligned whatever it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from invarot import Evidence
from invarot.alignment.judging.rule import RULE, decide, features

GOOD = Evidence(gain=0.9, split=1.0, surplus=0.5, twins=0.5, smooth=0.0, points=300)
BAD = Evidence(gain=0.0, split=0.2, surplus=0.0, twins=-0.3, smooth=0.5, points=300)
LOOSE = Evidence(gain=0.18, split=0.6, surplus=0.3, twins=-0.35, smooth=0.2, points=2000)


def test_good_evidence_and_bad():
    assert decide(GOOD).word == "aligned"
    assert decide(BAD).word == "failed"
    assert decide(GOOD).probability > 0.95 > 0.1 > decide(BAD).probability


@pytest.mark.parametrize(
    ("better", "worse"),
    [({"gain": 0.5}, {"gain": 0.1}), ({"twins": 0.5}, {"twins": -0.5}), ({"smooth": 0.0}, {"smooth": 0.9}),
     ({"surplus": 0.3}, {"surplus": 0.0}), ({"points": 2000}, {"points": 100})],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_each_kind_of_evidence_counts(better, worse):
    assert decide(replace(LOOSE, **better)).probability > decide(replace(LOOSE, **worse)).probability


def test_many_loose_points_weigh_as_much_as_few_near_ones():
    """Words of two corpora: no twins, little gain, but maps fitted without them agree far beyond chance."""
    assert decide(LOOSE).word == "aligned"
    assert decide(replace(LOOSE, points=60)).word != "aligned"
    assert decide(replace(LOOSE, gain=0.05, twins=-0.7, surplus=0.1)).word == "failed"


def test_features_are_bounded():
    wild = Evidence(gain=-40.0, split=0.6, surplus=0.9, twins=-900.0, smooth=7.0, points=10**6)
    assert features(wild) == {"gain": 0.0, "twins": -1.0, "smooth": 1.0, "sure": 1.5, "few": 0.01}
    nothing = Evidence(gain=0.0, split=0.0, surplus=-9.0, twins=0.0, smooth=-3.0, points=0)
    assert features(nothing) == {"gain": 0.0, "twins": 0.0, "smooth": 0.0, "sure": -0.5, "few": 2.0}
    assert set(features(wild)) == set(RULE["weights"])


@pytest.mark.parametrize("evidence", [GOOD, BAD, LOOSE])
@pytest.mark.parametrize("rivals", [1, 2, 7])
def test_rivals_divide_the_probability(evidence, rivals):
    """At most one of several maps that are as good is right."""
    alone, beside = decide(evidence), decide(replace(evidence, rivals=rivals))
    assert beside.probability == pytest.approx(alone.probability / (1 + rivals))
    assert f"{rivals} other map{'s' * (rivals > 1)} as good" in beside.reasons[0]
    assert beside.word != "aligned"


def test_a_symmetry_is_several_maps_that_would_each_pass():
    """Doubtful and not failed, however many they are; rivals of a wrong map are no symmetry."""
    for rivals in (1, 9):
        found = decide(replace(GOOD, rivals=rivals))
        assert found.symmetric
        assert found.word == "doubtful"
        assert "symmetric" in str(found)
    bad = decide(replace(BAD, rivals=1))
    assert not bad.symmetric
    assert bad.word == "failed"
    assert "symmetric" not in str(bad)
    assert not decide(GOOD).symmetric


def test_a_handful_of_points_must_fit_plainly():
    fitting = replace(GOOD, gain=0.8, surplus=0.9, twins=0.9)
    assert decide(replace(fitting, points=40)).word == "aligned"
    few = decide(replace(fitting, points=10))
    assert (few.word, few.probability) == ("doubtful", 0.5)
    assert few.reasons[0] == "only 10 points: many maps would fit as well"
    assert decide(replace(fitting, gain=0.99, points=10)).word == "aligned"


def test_an_answer_that_another_start_beats_is_not_called_aligned():
    beaten = decide(replace(GOOD, better=1))
    assert beaten.word == "doubtful"
    assert beaten.probability <= 0.5
    assert "another start, or a map that was not allowed, scores higher" in beaten.reasons[0]
    assert decide(replace(BAD, better=1)).word == "failed"


def test_reasons_are_sentences_about_the_evidence():
    nearer, farther = (decide(replace(LOOSE, gain=gain)).reasons for gain in (0.25, -0.25))
    assert "25% nearer to a target than by chance" in nearer[0]
    assert "25% farther from a target than by chance" in farther[0]
    assert "send 60% to the same target (chance 30%)" in nearer[1]
    assert "(chance 0%)" in decide(replace(LOOSE, split=0.1, surplus=0.3)).reasons[1]
