"""The order of the steps, and which of them vectors go through."""

from __future__ import annotations

import numpy as np

from invarot.translation import StepRecord, learn, recipe
from invarot.translation.pipeline import FINISHING, PIPELINE, find_applied, map_known


def test_the_order():
    names = ["prepare", "solve", "refine", "local centring", "spelling", "penalties"]
    assert [step.name for step in PIPELINE] == names
    assert PIPELINE[3:] == FINISHING


def test_refined_maps_replace_the_solved_one(pair, model):
    assert [step.name for step, _ in find_applied(model.steps)] == ["prepare", "refine"]
    x = map_known(model.steps[:1], pair[0], "source")
    np.testing.assert_array_equal(model.clouds[0], x @ model.steps[2].arrays["source_map"])
    plain = learn(*pair[:2], how=recipe("fast", rounds=0))
    assert [step.name for step, _ in find_applied(plain.steps)] == ["prepare", "solve"]
    np.testing.assert_array_equal(plain.clouds[0], x @ plain.steps[1].arrays["source_map"])


def test_steps_that_were_not_applied_are_passed_over():
    records = [
        StepRecord("prepare", True, "unit"),
        StepRecord("spelling", False, "off"),
        StepRecord("penalties", True, ""),
    ]
    assert [step.name for step, _ in find_applied(records)] == ["prepare", "penalties"]


def test_a_record_reads_as_a_sentence():
    assert str(StepRecord("spelling", False, "no alphabet")) == "spelling: not applied: no alphabet"
    assert str(StepRecord("spelling", True, "weight 0.6")) == "spelling: weight 0.6"
    record = StepRecord("spelling", True, "weight 0.6", 0.5, {"weight": 0.6}, {"kept": np.ones(2)})
    expected = {"name": "spelling", "applied": True, "detail": "weight 0.6", "seconds": 0.5, "values": {"weight": 0.6}}
    assert record.as_dict() == expected
