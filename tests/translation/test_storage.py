"""Saving and loading a translation: the same answers, and a clear word about a folder that is not one."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

import invarot
from invarot.errors import InputError
from invarot.folders import TRANSLATION
from invarot.translation import StepRecord, Translation, adjust, learn, load, recipe
from invarot.words import Vectors

from ..saved import edit, put_together, split_in_two, take_apart


@pytest.fixture(scope="module")
def finished(larger_pair):
    """A model in which every step is applied."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("invarot.translation.steps.penalties.FEWEST_PENALISED", 500)
        how = recipe("fast", local_centring=0.2, match_penalty=0.3, rank_penalty=0.02)
        return adjust(learn(*larger_pair[:2], how=how), spelling=0.4)


def test_round_trip(finished, tmp_path):
    assert all(step.applied for step in finished.steps)
    finished.save(tmp_path / "m")
    again = load(tmp_path / "m")
    for one, other in zip(again.clouds, finished.clouds, strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.source.words == finished.source.words
    assert str(again) == str(finished)
    assert (again.verdict, again.recipe, again.settings) == (finished.verdict, finished.recipe, finished.settings)
    assert repr(again.history) == repr(finished.history)
    for one, other in zip(again.steps, finished.steps, strict=True):
        assert one.as_dict() == other.as_dict()
        assert one.arrays.keys() == other.arrays.keys()
        for name, array in one.arrays.items():
            np.testing.assert_array_equal(array, other.arrays[name])
            assert array.dtype == other.arrays[name].dtype


def test_no_field_is_forgotten():
    """A field added to a model or to a record has to be stored too."""
    assert {field.name for field in fields(Translation)} == {
        "source", "target", "steps", "verdict", "recipe", "history", "settings",
    }  # fmt: skip
    assert {field.name for field in fields(StepRecord)} == {"name", "applied", "detail", "seconds", "values", "arrays"}


def test_words_with_line_breaks_are_kept(tmp_path, model):
    odd = replace(model, source=Vectors(("two\nlines", "\udc80", *model.source.words[2:]), model.source.vectors))
    odd.save(tmp_path / "m")
    assert load(tmp_path / "m").source.words == odd.source.words


def test_a_file_that_is_not_whole(tmp_path, model):
    model.save(tmp_path / "m")
    (tmp_path / "m" / "translation.safetensors").write_bytes(b"cut")
    with pytest.raises(InputError, match=r"translation\.safetensors: expected a valid file, got a damaged"):
        load(tmp_path / "m")


def test_two_files_of_an_earlier_version(tmp_path, model):
    model.save(tmp_path / "m")
    split_in_two(tmp_path / "m", TRANSLATION)
    assert load(tmp_path / "m").translate("waa") == model.translate("waa")


def test_an_older_format_has_to_be_learned_again(tmp_path, model):
    model.save(tmp_path / "m")
    edit(tmp_path / "m", TRANSLATION, lambda facts: facts.update(format_version=2))
    with pytest.raises(InputError, match=r"expected format version 3 in .*, got 2, .* learn it again"):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda facts: facts.pop("recipe"), "got no 'recipe'"),
        (lambda facts: facts["recipe"].update(p=0.5), "p: expected a number ≥ 1"),
        (lambda facts: facts["steps"].pop(), "steps: expected prepare, solve"),
        (lambda facts: facts["steps"][1].update(applied=False), "steps.solve: expected it applied"),
        (lambda facts: facts["steps"][3]["values"].update(share="much"), "local centring.share: expected a number"),
        (lambda facts: facts["steps"][4]["values"].update(size=7), "spelling.size: expected a multiple of 8"),
        (lambda facts: facts["steps"][0]["values"].update(prepare=["unit"]), "got one 'prepare.source_mean_0'"),
        (lambda facts: facts["steps"][0]["values"].update(prepare=["wash"]), "expected unit, center, none"),
        (lambda facts: facts["history"].append({"objective": 1.0}), "history: expected the fields of Step"),
        (lambda facts: facts["history"].append({"pairs": 1.0}), "history.stage: expected a text"),
        (lambda facts: facts.update(source=None), "source: expected an object"),
        (lambda facts: facts["verdict"].update(word="x"), "verdict.word"),
    ],
)
def test_missing_unknown_and_wrong_parts(tmp_path, finished, change, complaint):
    finished.save(tmp_path / "m")
    edit(tmp_path / "m", TRANSLATION, change)
    with pytest.raises(InputError, match=f"expected a complete invarot translation in .*{complaint}.*; learn it again"):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("source.words", lambda array: np.frombuffer(b'["a", "a"]', np.uint8), "different words"),
        ("source.words", lambda array: np.frombuffer(b"[1]", np.uint8), "expected a text"),
        ("source.words", lambda array: array[:-1], "JSONDecodeError|delimiter"),
        ("source.vectors", lambda array: array[:-1], "expected one row per word|of shape"),
        ("refine.source_map", lambda array: array[:-1], "of shape"),
        ("local centring.source_neighbours", lambda array: array + len(array), "expected rows from 0"),
        ("penalties.source_best", lambda array: array[:-1], "of shape"),
    ],
)
def test_wrong_arrays(tmp_path, finished, name, change, complaint):
    finished.save(tmp_path / "m")
    arrays, facts = take_apart(tmp_path / "m", TRANSLATION)
    put_together(tmp_path / "m", TRANSLATION, {**arrays, name: np.ascontiguousarray(change(arrays[name]))}, facts)
    with pytest.raises(InputError, match=f"expected a complete invarot translation in .*({complaint})"):
        load(tmp_path / "m")


def test_each_loader_names_the_other(tmp_path, model, pair):
    model.save(tmp_path / "m")
    with pytest.raises(InputError, match=r"holds an invarot translation; load it with invarot\.translation\.load"):
        invarot.load(tmp_path / "m")
    invarot.align(pair[0].vectors, pair[1].vectors, start="axes").save(tmp_path / "a")
    with pytest.raises(InputError, match=r"holds an invarot alignment; load it with invarot\.load"):
        load(tmp_path / "a")
