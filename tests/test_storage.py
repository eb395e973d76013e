"""Saving and loading: the same answers, and a clear word about every file that is not whole."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import fields

import numpy as np
import pytest

import invarot
from invarot import Exact, Schatten, Schedule, Search, Sinkhorn, Stages, folders, storage
from invarot.alignment.result import Alignment
from invarot.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.gamma(2.0, size=(40, 3))
TURN = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
NEW = RNG.normal(size=(5, 3))


@pytest.fixture(scope="module")
def result():
    return invarot.align(X, X[::-1] @ TURN + 1, translate=True, start="axes")


@pytest.fixture
def saved(result, tmp_path):
    result.save(tmp_path / "found")
    return tmp_path / "found"


def edit(folder, change):
    """Change the JSON and give it a checksum that agrees again."""
    file = folder / storage.ALIGNMENT.facts_file
    facts = json.loads(file.read_text())
    change(facts)
    facts["checksum"] = folders._checksum(facts)
    file.write_text(json.dumps(facts))


def same(one: Alignment, other: Alignment) -> None:
    np.testing.assert_array_equal(np.asarray(one.map), other.map)
    np.testing.assert_array_equal(np.asarray(one.transform(NEW)), other.transform(NEW))
    np.testing.assert_array_equal(np.asarray(one.inverse_transform(NEW)), other.inverse_transform(NEW))
    np.testing.assert_array_equal(np.asarray(one.plan.dense()), other.plan.dense())
    np.testing.assert_array_equal(np.asarray(one.matches()), other.matches())
    assert str(one) == str(other)
    assert (one.objective, one.status, one.starts, one.verdict) == (
        other.objective,
        other.status,
        other.starts,
        other.verdict,
    )
    assert one.settings == other.settings
    assert one.notes == other.notes
    assert repr(one.history.rows()) == repr(other.history.rows())  # repr: the first plan_change is NaN


def test_same_answers_after_loading(result, saved):
    same(result, invarot.load(saved))


def test_exact_plan_and_finite_p(tmp_path):
    found = invarot.align(X, X[::-1] @ TURN, solver=Exact(), p=2, start="axes")
    found.save(tmp_path / "exact")
    again = invarot.load(tmp_path / "exact")
    same(found, again)
    assert again.plan.rows.dtype == found.plan.rows.dtype


def test_options_in_groups_and_notes(tmp_path):
    solver = Sinkhorn(schedule=Schedule(0.1, 0.8, 0.02), stages=Stages(np.array([10, 20])), refit=True, memory="1GB")
    search = Search(ordered=True, side=(np.arange(40.0), np.arange(40.0)), n_jobs=2)
    found = invarot.align(X, X[::-1] @ TURN, p=Schatten(np.float32(4), radius=2), solver=solver, search=search,
                          start="signature")  # fmt: skip
    assert any(note.startswith("n_jobs: no effect") for note in found.notes)
    found.save(tmp_path / "grouped")
    again = invarot.load(tmp_path / "grouped")
    same(found, again)
    assert again.settings["solver"]["stages"] == {"sizes": [10, 20], "of": "points"}
    assert again.settings["maps"] == {"family": "Schatten", "p": 4.0, "radius": 2, "whiten": False}


def test_each_library_and_dtype(lib, tmp_path):
    x = lib.array(X, dtype="float32")
    found = invarot.align(x, lib.array(X[::-1] @ TURN, dtype="float32"), start="axes")
    found.save(tmp_path / "single")
    again = invarot.load(tmp_path / "single")
    assert isinstance(again.map, np.ndarray)
    assert again.map.dtype == np.float32
    np.testing.assert_array_equal(lib.numpy(found.map), again.map)
    np.testing.assert_array_equal(lib.numpy(found.plan.u), again.plan.u)


def test_no_field_is_forgotten():
    """A field added to Alignment has to be stored too."""
    known = {"map", "offset", "plan", "objective", "history", "status", "starts", "verdict", "settings", "notes"}
    assert {field.name for field in fields(Alignment)} == known


def test_json_is_strict_and_says_what_it_is(saved):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    facts = json.loads((saved / "alignment.json").read_text(), parse_constant=refuse)
    assert (facts["format"], facts["format_version"]) == ("invarot alignment", 1)
    assert facts["library_version"] == invarot.__version__
    assert facts["settings"]["p"] == {"float": "inf"}
    assert invarot.load(saved).settings["p"] == math.inf
    assert sorted(entry.name for entry in saved.iterdir()) == ["alignment.json", "alignment.safetensors"]


@pytest.mark.parametrize("value", [math.inf, -math.inf, 0.1, None, True, "word", [1, [2.5, math.inf]], {"a": {"b": 1}}])
def test_values_survive(value):
    text = json.dumps(folders.encode(value, "here"), allow_nan=False)
    assert folders.decode(json.loads(text)) == value


def test_values_that_cannot_be_stored():
    with pytest.raises(InputError, match=r"settings\.start.*got set"):
        folders.encode({"start": {1}}, "settings")


# -- files that are not whole ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["alignment.json", "alignment.safetensors"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 0.9999])
def test_cut_short(saved, file, share):
    content = (saved / file).read_bytes()
    (saved / file).write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError, match=rf"{file}.*truncated or altered.*; save it again"):
        invarot.load(saved)


def test_altered_array(saved):
    content = bytearray((saved / "alignment.safetensors").read_bytes())
    content[-5] ^= 1
    (saved / "alignment.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="to match their checksums, got an altered file"):
        invarot.load(saved)


def test_altered_facts(saved):
    file = saved / "alignment.json"
    file.write_text(file.read_text().replace('"SETTLED"', '"MARGINALS"'))
    with pytest.raises(InputError, match="to match its checksum, got an altered file"):
        invarot.load(saved)


def test_arrays_of_another_alignment(saved, tmp_path):
    invarot.align(X, X @ TURN, start="axes").save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "alignment.safetensors", saved)
    with pytest.raises(InputError, match="checksums"):
        invarot.load(saved)


def test_another_format_version(saved):
    edit(saved, lambda facts: facts.update(format_version=2, library_version="9.0"))
    with pytest.raises(
        InputError, match=r"expected format version 1 .* got 2, written by invarot 9\.0; align the points again"
    ):
        invarot.load(saved)


@pytest.mark.parametrize("change", [
    lambda facts: facts.pop("verdict"),
    lambda facts: facts.update(status="SPLENDID"),
    lambda facts: facts["plan"].update(kind="other"),
    lambda facts: facts["history"][0].update(unheard=1),
])  # fmt: skip
def test_missing_or_unknown_parts(saved, change):
    edit(saved, change)
    with pytest.raises(InputError, match="a complete alignment"):
        invarot.load(saved)


@pytest.mark.parametrize("missing", ["alignment.json", "alignment.safetensors"])
def test_a_file_is_gone(saved, missing):
    (saved / missing).unlink()
    with pytest.raises(InputError, match=f"has no {missing}"):
        invarot.load(saved)


@pytest.mark.parametrize("content", ["[1, 2]", '{"format": "something else"}', "{}"])
def test_not_ours(saved, content):
    (saved / "alignment.json").write_text(content)
    with pytest.raises(InputError, match="not written by this library"):
        invarot.load(saved)


def test_nothing_there(tmp_path):
    with pytest.raises(InputError, match="not a folder"):
        invarot.load(tmp_path / "nothing")


# -- writing ---------------------------------------------------------------------------------------------------------


def test_replaces_an_alignment_and_nothing_else(result, saved, tmp_path):
    other = invarot.align(X, X @ TURN, start="axes")
    other.save(saved)
    np.testing.assert_array_equal(invarot.load(saved).map, other.map)
    (saved / "notes.txt").write_text("keep me")
    with pytest.raises(InputError, match=r"holds 'notes\.txt'"):
        result.save(saved)
    np.testing.assert_array_equal(invarot.load(saved).map, other.map)
    assert (saved / "notes.txt").read_text() == "keep me"
    file = tmp_path / "file"
    file.write_text("keep me")
    with pytest.raises(InputError, match="which is a file"):
        result.save(file)
    assert file.read_text() == "keep me"


def test_leaves_a_stranger_of_the_same_name_alone(result, tmp_path):
    (tmp_path / "alignment.json").write_text('{"mine": 1}')
    with pytest.raises(InputError, match="was not written by this library"):
        result.save(tmp_path)
    assert (tmp_path / "alignment.json").read_text() == '{"mine": 1}'


def test_an_empty_folder_and_missing_parents(result, tmp_path):
    (tmp_path / "empty").mkdir()
    result.save(tmp_path / "empty")
    result.save(str(tmp_path / "one" / "two"))
    same(invarot.load(tmp_path / "empty"), invarot.load(tmp_path / "one" / "two"))


def test_through_a_link(result, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    result.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    same(invarot.load(tmp_path / "link"), result)


@pytest.mark.parametrize("where", ["write", "rename"])
def test_a_failed_save_changes_nothing(saved, monkeypatch, where):
    before = invarot.load(saved)
    other = invarot.align(X, X @ TURN, start="axes")

    def fail(*_):
        raise OSError("disk full")

    if where == "write":
        monkeypatch.setattr(folders, "_write", fail)
    else:
        rename, calls = folders.os.rename, []

        def fail_second(*paths):
            calls.append(paths)
            return fail() if len(calls) == 2 else rename(*paths)

        monkeypatch.setattr(folders.os, "rename", fail_second)
    with pytest.raises(OSError, match="disk full"):
        other.save(saved)
    monkeypatch.undo()
    same(before, invarot.load(saved))
    assert [entry.name for entry in saved.parent.iterdir()] == ["found"]
