"""Learning a translation, on pairs of vocabularies with a known answer."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.translation import adjust, learn, recipe
from invarot.words import load_core_pair

from .pairs import rotated_pair


def test_a_rotated_vocabulary_is_translated(pair, model):
    scores = model.evaluate(pair[2])
    assert scores["precision@1"] > 0.99
    assert scores["queries"] == 300
    assert scores["coverage"] == 1.0
    assert scores["retrieval"] == "csls"
    assert model.verdict.word == "aligned"


@pytest.mark.parametrize("extra", [0, 5])
def test_fifty_words_and_unequal_dimensions(extra):
    source, target, gold = rotated_pair(50, 6, extra)
    assert learn(source, target).evaluate(gold)["precision@1"] > 0.9


def test_the_steps_are_recorded_in_order(model):
    names = ["prepare", "solve", "refine", "local centring", "spelling", "penalties"]
    assert [step.name for step in model.steps] == names
    assert [step.applied for step in model.steps] == [True, True, True, False, False, False]
    assert list(model.seconds) == names
    assert all(seconds >= 0 for seconds in model.seconds.values())
    assert str(model.steps[1]) == (
        "solve: the first 300 words per side (2,500 asked for); start auto, effort normal, p = inf"
    )
    assert str(model.steps[3]) == "local centring: not applied: local_centring is 0 in the recipe"


def test_what_a_small_vocabulary_cannot_use_is_said(pair):
    found = learn(pair[0], pair[1].first(290))
    said = {step.name: step.status for step in found.steps}
    assert said["local centring"] == "not applied: 290 words, fewer than 500"
    assert said["penalties"] == "not applied: 290 words, fewer than 10,000"
    assert said["spelling"] == "not applied: spelling is 0 in the recipe"
    assert said["refine"].startswith("all 300 words per side")


def test_history_shows_every_stage(model):
    stages = {row["stage"] for row in model.history}
    assert "refine" in stages
    assert any(stage.startswith("solve 300") for stage in stages)


def test_words_that_are_not_kept_help_the_fit(pair, model):
    source, target, _ = pair
    cut = learn(source, target, how="fast", keep=120)
    assert (len(cut.source), len(cut.target)) == (120, 120)
    assert cut.settings["fitted_words"] == [300, 300]
    np.testing.assert_array_equal(cut.source_map, model.source_map)  # fitted on all
    alone = learn(source.first(120), target.first(120), how=recipe("fast", start="signature"))
    assert np.abs(alone.source_map - cut.source_map).max() > 1e-3
    with pytest.raises(InputError, match="keep: expected"):
        learn(source, target, keep=3)


def test_a_dictionary_is_measured_and_changes_nothing(pair, model):
    seen = learn(pair[0], pair[1], how="fast", dictionary=pair[2])
    measured = [(row["stage"], row["precision@1"]) for row in seen.history if "precision@1" in row]
    assert [stage for stage, _ in measured] == ["solve 300"] + ["refine"] * (len(measured) - 1)
    assert measured[-1][1] == pytest.approx(seen.evaluate(pair[2])["precision@1"])
    np.testing.assert_array_equal(seen.source_map, model.source_map)
    strange = learn(pair[0], pair[1], how="fast", dictionary=[("no", "such")])
    assert not any("precision@1" in row for row in strange.history)


def test_same_seed_same_answer(pair, model):
    again = learn(pair[0], pair[1], how="fast")
    np.testing.assert_array_equal(again.source_map, model.source_map)
    other = learn(pair[0], pair[1], how=recipe("fast", start="random"), rng=1)
    assert np.abs(other.source_map - model.source_map).max() > 0


def test_a_listener_is_told_of_every_event(pair, model):
    told = []
    found = learn(pair[0], pair[1], how="fast", on_event=told.append)
    assert told == found.history
    assert len(told) == len(model.history)


def test_objects_of_other_libraries_are_taken(pair, model):
    keyed = [SimpleNamespace(index_to_key=list(side.words), vectors=side.vectors) for side in pair[:2]]
    assert learn(*keyed, how="fast").source.words == model.source.words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"how": 5}, "how: expected a Recipe or one of best, fast, paper, got 5"),
        ({"how": "fasd"}, "did you mean 'fast'"),
        ({"device": 0}, 'device: expected "cpu", "cuda", "cuda:N", "auto" or None, got 0'),
        ({"device": "tpu"}, "device: expected"),
        ({"rng": -1}, "rng: expected"),
        (
            {"checkpoint": "no-folder", "rng": np.random.default_rng(0)},
            "rng: expected a whole number with a checkpoint",
        ),
    ],
)
def test_wrong_options_are_errors(pair, options, message):
    with pytest.raises(InputError, match=message):
        learn(pair[0], pair[1], **options)


def test_too_few_words_are_an_error(pair):
    with pytest.raises(InputError, match="source: expected at least 10 words, got 5; read more"):
        learn(pair[0].first(5), pair[1])


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_where_it_is_learned(pair, model, device):
    found = learn(pair[0], pair[1], how="fast", device=device)
    assert (model.settings["device"], found.settings["device"]) == ("cpu", device)
    np.testing.assert_allclose(found.clouds[0], model.clouds[0], atol=0 if device == "cpu" else 1e-2)


def test_adjusting_leaves_the_maps(larger_pair):
    plain = learn(*larger_pair[:2], how="fast")
    changed = adjust(plain, local_centring=0.2, spelling=0.4)
    asked = learn(*larger_pair[:2], how=recipe("fast", local_centring=0.2, spelling=0.4))
    assert changed.recipe == asked.recipe
    assert changed.steps[:3] == plain.steps[:3]
    assert [str(step) for step in changed.steps] == [str(step) for step in asked.steps]
    for one, other in zip(changed.clouds, asked.clouds, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    back = adjust(changed, spelling=0)
    assert back.steps[3] is changed.steps[3]  # before the first change nothing is fitted again
    assert back.clouds[0].shape == (600, 12)
    assert adjust(plain) is plain


def test_only_finishing_steps_can_be_adjusted(model):
    with pytest.raises(InputError, match="adjust: expected a known option, got 'rounds'"):
        adjust(model, rounds=3)
    with pytest.raises(InputError, match="spelling: expected"):
        adjust(model, spelling=-1)


def test_the_shipped_pair_is_whole():
    english, spanish, gold = load_core_pair()
    assert len(english) == len(spanish) == 5000
    assert len({left for left, _ in gold}) >= 300


def test_known_pairs_as_a_dict_are_those_pairs(pair):
    known = dict(pair[2][:8])
    told = [learn(*pair[:2], how="fast", seeds=one) for one in (known, list(known.items()))]
    assert told[0].settings["seeds"] == 8
    np.testing.assert_array_equal(told[0].source_map, told[1].source_map)


@pytest.mark.parametrize("seeds", [["in", "en"], [("a", 1)], [("a", "b", "c")], {}, []])
def test_what_is_no_list_of_pairs_is_refused(pair, seeds):
    with pytest.raises(InputError, match=r"^seeds: expected pairs of words, such as .* got .*; leave it out for none"):
        learn(*pair[:2], seeds=seeds)


@pytest.mark.parametrize(("how", "got"), [("quick", "'quick'"), (3, "3")])
def test_a_recipe_that_does_not_exist_is_named_after_its_argument(pair, how, got):
    with pytest.raises(InputError, match=rf"^how: expected .*best, fast, paper, got {got}"):
        learn(*pair[:2], how=how)
