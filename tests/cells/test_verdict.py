"""The verdict of cells: evidence from halves of the cells, and a rule that weighs it."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.alignment.verdict import Evidence as General
from invarot.alignment.verdict import Verdict
from invarot.cells import search as searching
from invarot.cells.rivals import OTHER_TARGETS
from invarot.cells.search import search
from invarot.cells.verdict import RULE, Evidence, decide, features, gather_evidence, judge, measure_distance

from .test_search import islands

CLEAR = Evidence(0.9, 0.1, 0.01)
POOR = Evidence(0.5, 0.0, 1.2)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(searching, "FEW", 25)
    monkeypatch.setattr(searching, "RANDOM_STARTS", 60)


def even(views):
    n = len(views["linear"])
    return np.full(n, 1 / n)


def test_halves_of_one_tissue_say_the_same_and_those_of_two_tissues_do_not(few):
    x, y, *_ = islands(n=200)
    noise = {"linear": np.random.default_rng(5).normal(size=(200, 3))}
    found = []
    for other in (y, noise):
        rng = np.random.default_rng(0)
        a, b = even(x), even(other)
        found.append(gather_evidence(x, other, a, b, search(x, other, rng=rng, a=a, b=b), rng))
    assert found[0].apart < 0.1 < found[1].apart
    assert found[0].agreement > found[1].agreement + 0.2


def test_distance_is_in_units_of_the_variance():
    points = np.random.default_rng(0).normal(size=(400, 3))
    weights = np.full(400, 1 / 400)
    assert measure_distance(points, points, weights) == 0
    assert measure_distance(points, points[::-1], weights) == pytest.approx(1, abs=0.15)


def test_better_evidence_never_lowers_the_probability():
    for name, better in (("agreement", 0.8), ("lead", 0.08), ("apart", 0.02)):
        base = {"agreement": 0.7, "lead": 0.02, "apart": 0.3}
        assert decide(Evidence(**{**base, name: better}))[1] >= decide(Evidence(**base))[1]


def test_words_follow_the_rule():
    assert decide(CLEAR)[0] in ("aligned", "coarse")
    assert decide(POOR)[0] == "failed"
    assert RULE["failed"] < RULE["coarse"] <= 1
    assert np.isfinite(list(features(Evidence(0.7, np.inf, 0.0)).values())).all()


@pytest.mark.parametrize("agreement", [0.8, 0.96, 1.0])
def test_no_agreement_outweighs_halves_that_send_cells_elsewhere(agreement):
    """Twelve clusters of one shape, two pairs exchanged: 0.96, and the halves exchange others."""
    word, probability, _ = decide(Evidence(agreement, np.inf, OTHER_TARGETS + 0.01))
    assert word == "doubtful"
    assert probability <= 0.5
    assert decide(Evidence(agreement, np.inf, OTHER_TARGETS))[0] in ("aligned", "coarse")


def test_the_verdict_tells_its_reasons():
    general = Verdict("aligned", 0.97, General(0.5, 0.9, 0.5, 0.1, 0.1, 100), ("held-out points agree",))
    found = judge(general, POOR)
    assert found.word == "failed"
    assert found.evidence is general.evidence
    assert "check with marker genes" in found.reasons
    assert any("120% of the variance" in one for one in found.reasons)
    assert judge(general, CLEAR).resolution.estimate < found.resolution.estimate
