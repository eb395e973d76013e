"""Recipes: every field is checked, however the recipe is made, and every field does something."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.folders import decode, encode
from invarot.translation import PRESETS, Recipe, learn, recipe
from invarot.translation.pipeline import PIPELINE
from invarot.transport.schedule import Schedule

from .pairs import rotated_pair

WRONG = {
    "name": (5, "name: expected a word, got 5"),
    "prepare": ("unit", "prepare: expected a sequence of unit, center, none, got 'unit'; pass a tuple"),
    "stages": ((300, 100), r"stages: expected growing numbers of words such as \(2000, 10000\), got \(300, 100\)"),
    "schedule": (0.1, "schedule: expected an invarot.Schedule or None, got 0.1"),
    "start": (5, "start: expected one of auto, random, .*, got 5"),
    "effort": ("silly", "effort: expected one of quick, normal, high, max, got 'silly'"),
    "p": (0.5, "p: expected a number ≥ 1, got 0.5"),
    "overlap": (1.5, "overlap: expected a number > 0 and ≤ 1, got 1.5"),
    "rounds": (-1, "rounds: expected a whole number ≥ 0, got -1"),
    "refine_words": (1.5, "refine_words: expected a whole number ≥ 2, got 1.5"),
    "local_centring": (2, "local_centring: expected a number ≥ 0 and ≤ 1, got 2"),
    "match_penalty": (-0.1, "match_penalty: expected a number ≥ 0"),
    "rank_penalty": ("much", "rank_penalty: expected a number ≥ 0"),
    "spelling": (-1, "spelling: expected a number ≥ 0"),
    "ordered": ("yes", "ordered: expected True or False, got 'yes'"),
}


def test_every_field_is_checked():
    assert set(WRONG) == {field.name for field in fields(Recipe)}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_is_an_error_that_names_the_field(name):
    value, message = WRONG[name]
    for make in (recipe, Recipe, lambda **changes: replace(PRESETS["fast"], **changes)):
        with pytest.raises(InputError, match=message):
            make(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"), [("prepare", ("units",)), ("prepare", 3), ("stages", ()), ("stages", 5000), ("stages", (1,))]
)
def test_sequences_are_checked_one_by_one(name, value):
    with pytest.raises(InputError, match=f"{name}: expected"):
        Recipe(**{name: value})


@pytest.mark.parametrize("start", ["seeds", "given", "silly"])
def test_a_start_that_needs_more_than_words_is_refused(start):
    with pytest.raises(InputError, match="start: expected one of auto"):
        Recipe(start=start, effort=None)


def test_unknown_names_are_errors():
    with pytest.raises(InputError, match="did you mean 'fast'"):
        recipe("fasd")
    with pytest.raises(InputError, match="recipe: expected a known option, got 'taken'"):
        recipe(taken=0.3)


def test_effort_goes_with_the_search_alone():
    assert recipe(start="axes").effort is None
    assert recipe("paper", start="auto").effort == "high"
    with pytest.raises(InputError, match="effort: expected None with start='axes', which does not search, got 'max'"):
        recipe(start="axes", effort="max")


def test_a_rank_penalty_needs_ordered_rows():
    assert recipe(ordered=False).rank_penalty == 0 < recipe().rank_penalty
    for make in (recipe, Recipe):
        with pytest.raises(InputError, match="rank_penalty: expected 0 with ordered=False"):
            make(ordered=False, rank_penalty=0.02)


@pytest.mark.parametrize("made", [*PRESETS.values(), recipe(stages=[100, 300], p=2, schedule=Schedule(0.5, 0.9, 0.1))])
def test_round_trip(made):
    text = json.dumps(encode(made.as_dict(), "recipe"), allow_nan=False)
    assert Recipe.from_dict(decode(json.loads(text))) == made


def test_every_field_belongs_to_one_step():
    read = [name for step in PIPELINE for name in step.fields]
    assert sorted(read) == sorted({field.name for field in fields(Recipe)} - {"name", "refine_words"})


CHANGES = {
    "prepare": {"prepare": ("center",)},
    "stages": {"stages": (60, 120)},
    "schedule": {"schedule": Schedule(0.2, 0.8, 0.05)},
    "start": {"start": "axes"},
    "effort": {"effort": "quick"},
    "p": {"p": 4.0},
    "overlap": {"overlap": 0.8},
    "rounds": {"rounds": 1},
    "refine_words": {"refine_words": 80},
    "local_centring": {"local_centring": 0.2},
    "match_penalty": {"match_penalty": 0.3},
    "rank_penalty": {"rank_penalty": 0.05},
    "spelling": {"spelling": 0.5},
    "ordered": {"ordered": False},
    "name": {"name": "mine"},
}
RECORD_ONLY = {"effort", "ordered", "name"}  # the first start is good enough, and all points take part in the solve


@pytest.fixture(scope="module")
def small():
    with pytest.MonkeyPatch.context() as patch:  # the finishing steps, among fewer words than they pay for
        patch.setattr("invarot.translation.steps.local_centring.FEWEST_CENTRED", 100)
        patch.setattr("invarot.translation.steps.penalties.FEWEST_PENALISED", 100)
        source, target, _ = rotated_pair(120, 8)
        yield source, target, learn(source, target, how="fast")


def outcome(model):
    """Return the solved map, and the scores between the languages."""
    x, y = model.clouds
    return model.steps[1].arrays["source_map"], x @ y.T


@pytest.mark.parametrize("name", [field.name for field in fields(Recipe)])
def test_every_field_changes_the_outcome_or_the_record(small, name):
    source, target, plain = small
    changed = learn(source, target, how=recipe("fast", **CHANGES[name]))
    same = [np.array_equal(one, other) for one, other in zip(outcome(changed), outcome(plain), strict=True)]
    assert all(same) == (name in RECORD_ONLY)
    shown = [(record.name, record.status) for record in changed.steps]
    before = [(record.name, record.status) for record in plain.steps]
    assert shown != before or name in {"name", "schedule", "ordered"}
    assert getattr(changed.recipe, name) != getattr(plain.recipe, name)


def test_p_may_be_infinite():
    assert Recipe().p == math.inf
