"""Saving and loading a translation: the same answers, and a clear word about a folder that is not one."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
import pytest

import invarot
from invarot import folders
from invarot.errors import InputError
from invarot.translation import StepRecord, Translation, adjust, learn, load, recipe
from invarot.words import Vectors


@pytest.fixture(scope="module")
def finished(larger_pair):
    """A model in which every step is applied."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("invarot.translation.steps.penalties.FEWEST", 500)
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
    with pytest.raises(InputError, match="truncated or altered"):
        load(tmp_path / "m")


def edit(folder, change):
    """Change the JSON and give it a checksum that agrees again."""
    file = folder / "translation.json"
    facts = json.loads(file.read_text())
    change(facts)
    facts["checksum"] = folders._checksum(facts)
    file.write_text(json.dumps(facts))


def test_an_older_format_has_to_be_learned_again(tmp_path, model):
    model.save(tmp_path / "m")
    edit(tmp_path / "m", lambda facts: facts.update(format_version=2))
    with pytest.raises(InputError, match=r"expected format version 3 in .*, got 2, .* learn it again"):
        load(tmp_path / "m")


def test_a_part_that_is_missing(tmp_path, model):
    model.save(tmp_path / "m")
    edit(tmp_path / "m", lambda facts: facts.pop("recipe"))
    with pytest.raises(InputError, match=r"got a missing or unknown part \('recipe'\); learn it again"):
        load(tmp_path / "m")


def test_each_loader_names_the_other(tmp_path, model, pair):
    model.save(tmp_path / "m")
    with pytest.raises(InputError, match=r"holds an invarot translation; load it with invarot\.translation\.load"):
        invarot.load(tmp_path / "m")
    invarot.align(pair[0].vectors, pair[1].vectors, start="axes").save(tmp_path / "a")
    with pytest.raises(InputError, match=r"holds an invarot alignment; load it with invarot\.load"):
        load(tmp_path / "a")
