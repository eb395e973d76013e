"""The rule: what evidence is worth, and what may not be called aligned whatever it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from invarot import Evidence
from invarot.alignment.judging.rule import RULE, decide, estimate_resolution, features

GOOD = Evidence(
    split=0.8, twins=0.9, points=300, nearer=15.0, drift=0.5, shape=20.0, crowding=15.0, dimensions=5.0
)  # fmt: skip
BAD = Evidence(
    split=0.2, twins=-0.9, points=300, nearer=0.0, drift=0.0, shape=1.0, crowding=-1.0, dimensions=5.0
)  # fmt: skip
LOOSE = Evidence(
    split=0.8, twins=-0.3, points=400, nearer=1.0, drift=0.05, shape=4.0, crowding=4.0, dimensions=4.0
)  # fmt: skip


def test_good_evidence_and_bad():
    assert decide(GOOD).word == "aligned"
    assert decide(BAD).word == "failed"
    assert decide(GOOD).probability > 0.95 > 0.1 > decide(BAD).probability
    assert decide(GOOD).resolution.estimate < 0.02 < 0.25 < decide(BAD).resolution.estimate


@pytest.mark.parametrize(
    ("better", "worse"),
    [({"twins": 0.5}, {"twins": -0.5}), ({"crowding": 9.0}, {"crowding": 0.0}), ({"shape": 9.0}, {"shape": 0.0}),
     ({"drift": 0.3}, {"drift": 0.0}), ({"density": 0.8}, {"density": 0.2}), ({"nearer": 9.0}, {"nearer": 0.0})],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_each_kind_of_evidence_counts(better, worse):
    assert decide(replace(LOOSE, **better)).probability > decide(replace(LOOSE, **worse)).probability


def test_a_loose_map_is_coarse_and_says_how_fine():
    coarse = decide(replace(LOOSE, twins=-1.5, crowding=12.0, drift=0.1, density=0.7))
    assert coarse.word == "coarse"
    assert not coarse
    assert 0.01 < coarse.resolution.estimate < 0.2
    assert coarse.reasons[0].startswith("right to within about")


def test_features_are_bounded():
    wild = Evidence(
        split=0.6, twins=-900.0, points=10**6, crowding=9e9,
        drift=-9.0, nearer=-1e9, shape=1e9, dimensions=1e6,
    )  # fmt: skip
    nothing = Evidence(split=0.0, twins=1.0, points=0)
    for one in (wild, nothing):
        assert all(abs(value) <= 14 for value in features(one).values())
        assert 0 <= decide(one).probability <= 1
    for models in (RULE, RULE["copy"]):
        for part in ("fine", "right"):
            assert set(models[part]["weights"]) <= set(features(wild))
    assert set(features(wild)) == set(RULE["right"]["weights"])


def test_the_surer_the_finer():
    found = [estimate_resolution(sure, 300) for sure in (0.0, 0.3, 1.0, 1.7, 2.0)]
    for one in found:
        assert 0 <= one.low <= one.estimate <= one.high <= 1
    estimates = [one.estimate for one in found]
    assert estimates == sorted(estimates, reverse=True)
    assert estimates[0] > 0.3 > 0.05 > estimates[-1]
    assert estimate_resolution(0.7, 300).estimate not in estimates  # between the knots too


@pytest.mark.parametrize("rivals", [1, 2, 7])
def test_rivals_of_a_right_map_share_its_probability(rivals):
    """At most one of several maps that put points on their targets is right: a symmetry."""
    found = decide(replace(GOOD, rivals=rivals))
    assert found.symmetric
    assert found.word == "doubtful"
    assert found.probability <= 1 / (1 + rivals)
    assert f"{rivals} other map{'s' * (rivals > 1)} as good: the clouds look symmetric" in found.reasons[0]


def test_rivals_of_a_wrong_map_are_no_symmetry():
    bad = decide(replace(BAD, rivals=1))
    assert not bad.symmetric
    assert bad.word == "failed"
    assert "symmetric" not in str(bad)
    assert bad.probability < decide(BAD).probability
    assert not decide(GOOD).symmetric


def test_a_handful_of_points_must_be_a_copy():
    fitting = replace(GOOD, twins=0.8)
    assert decide(replace(fitting, points=40)).word == "aligned"
    few = decide(replace(fitting, points=10))
    assert (few.word, few.probability) == ("doubtful", 0.5)
    assert few.reasons[0] == "only 10 points: many maps would fit as well"
    assert decide(replace(fitting, twins=0.99, points=10)).word == "aligned"


def test_an_answer_that_another_start_beats_is_not_called_right():
    beaten = decide(replace(GOOD, better=1))
    assert beaten.word == "doubtful"
    assert beaten.probability <= 0.5
    assert "another start, or a map that was not allowed, scores higher" in beaten.reasons[0]
    assert decide(replace(LOOSE, better=1)).word in ("doubtful", "failed")
    assert decide(replace(BAD, better=1)).word == "failed"


def test_degenerate_clouds_have_failed_whatever_the_evidence():
    found = decide(GOOD, "x is a point")
    assert (found.word, found.probability, found.reasons[0]) == ("failed", 0.0, "x is a point")


def test_reasons_are_sentences_about_the_evidence():
    nearer, farther = (decide(replace(BAD, twins=twins)).reasons for twins in (0.75, -3.0))
    assert nearer[0] == "held-out points lie 0.5 times as far from a target as neighbours from each other"
    assert "2 times as far" in farther[0]
    assert nearer[1] == "maps fitted without them send 20% to the same target"


def test_a_copy_needs_no_contest():
    """What a contest would give is not measured then, and not missed."""
    copy = Evidence(split=1.0, twins=0.9, points=300)
    assert decide(copy).word == "aligned"
    assert decide(copy).resolution.estimate < 0.05
    assert decide(replace(copy, split=0.7)).word != "aligned"
    assert decide(replace(copy, rivals=1)).symmetric
