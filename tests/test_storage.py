"""Saving and loading: the same answers, and a clear word about every file that is not whole."""

from __future__ import annotations

import json
import math
import shutil
import threading
from dataclasses import fields

import numpy as np
import pytest

import invarot
from invarot import Exact, Schatten, Schedule, Search, Sinkhorn, Stages, files, folders
from invarot.alignment.result import Alignment
from invarot.errors import InputError
from invarot.folders import ALIGNMENT

from .saved import edit, put_together, split_in_two, take_apart

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


@pytest.mark.parametrize("solver", [None, invarot.Exact()])
def test_fewer_points_than_dimensions(tmp_path, solver):
    """The plan is that of the coordinates of their span."""
    x = np.random.default_rng(0).gamma(2.0, size=(8, 60))
    result = invarot.align(x, x[::-1], solver=solver)
    result.save(tmp_path / "wide")
    again = invarot.load(tmp_path / "wide")
    np.testing.assert_array_equal(again.map, result.map)
    np.testing.assert_array_equal(again.plan.dense(), result.plan.dense())


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
    """A field added to Alignment has to be stored too; the points of the call are for pictures, and are not."""
    known = {"map", "offset", "plan", "objective", "history", "status", "starts", "verdict", "settings", "notes",
             "matched_x", "matched_y", "overlap"}  # fmt: skip
    assert {field.name for field in fields(Alignment)} == known | {"source", "target"}


def test_a_model_is_one_file_and_says_what_it_is(saved):
    _, facts = take_apart(saved, ALIGNMENT)
    assert (facts["format"], facts["format_version"]) == ("invarot alignment", 1)
    assert facts["library_version"] == invarot.__version__
    assert facts["settings"]["p"] == {"float": "inf"}
    assert invarot.load(saved).settings["p"] == math.inf
    assert [entry.name for entry in saved.iterdir()] == ["alignment.safetensors"]


def test_two_files_of_an_earlier_version(result, saved):
    split_in_two(saved, ALIGNMENT)
    same(result, invarot.load(saved))
    result.save(saved)  # replaced by one
    assert [entry.name for entry in saved.iterdir()] == ["alignment.safetensors"]
    same(result, invarot.load(saved))


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
    split_in_two(saved, ALIGNMENT)
    content = (saved / file).read_bytes()
    (saved / file).write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError, match=r"alignment\.safetensors: expected a valid file, got a damaged"):
        invarot.load(saved)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 0.9999])
def test_one_file_cut_short(saved, share):
    content = (saved / "alignment.safetensors").read_bytes()
    (saved / "alignment.safetensors").write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError, match=r"alignment\.safetensors: expected a valid file, got a damaged"):
        invarot.load(saved)


def test_altered_array(saved):
    content = bytearray((saved / "alignment.safetensors").read_bytes())
    content[-5] ^= 1
    (saved / "alignment.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="to match their checksums, got an altered file"):
        invarot.load(saved)


def test_altered_facts(saved):
    file = saved / "alignment.safetensors"
    file.write_bytes(file.read_bytes().replace(b"SETTLED", b"settled"))
    with pytest.raises(InputError, match="to match its checksum, got an altered file"):
        invarot.load(saved)


def test_arrays_of_another_alignment(saved, tmp_path):
    split_in_two(saved, ALIGNMENT)
    invarot.align(X, X @ TURN, start="axes").save(tmp_path / "other")
    split_in_two(tmp_path / "other", ALIGNMENT)
    shutil.copy(tmp_path / "other" / "alignment.safetensors", saved)
    with pytest.raises(InputError, match="checksums"):
        invarot.load(saved)


def test_another_format_version(saved):
    edit(saved, ALIGNMENT, lambda facts: facts.update(format_version=2, library_version="9.0"))
    with pytest.raises(
        InputError, match=r"expected format version 1 .* got 2, written by invarot 9\.0; align the points again"
    ):
        invarot.load(saved)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda facts: facts.pop("verdict"), "got no 'verdict'"),
        (lambda facts: facts.update(status="SPLENDID"), "status: expected one of SETTLED"),
        (lambda facts: facts["plan"].update(kind="other"), "plan.kind: expected one of entropic"),
        (lambda facts: facts["plan"].update(epsilon=0.0), "plan.epsilon: expected a number > 0"),
        (lambda facts: facts["history"][0].update(unheard=1), "an unknown 'unheard'"),
        (lambda facts: facts["history"][0].update(step="one"), "history.step: expected a whole number"),
        (lambda facts: facts.update(history=[]), "at least one step"),
        (lambda facts: facts.update(objective=None), "objective: expected a number"),
        (lambda facts: facts["starts"][0].update(finished=1), "starts.finished: expected true or false"),
        (lambda facts: facts["verdict"].update(word="perfect"), "verdict.word: expected one of aligned"),
        (lambda facts: facts["verdict"].update(reasons="none"), "verdict.reasons: expected a list"),
        (lambda facts: facts["settings"].pop("p"), "settings.p: expected a number"),
        (lambda facts: facts.update(settings=[]), "settings: expected an object"),
    ],
)
def test_missing_unknown_and_wrong_parts(saved, change, complaint):
    edit(saved, ALIGNMENT, change)
    with pytest.raises(InputError, match=f"expected a complete invarot alignment in .*{complaint}.*again"):
        invarot.load(saved)


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("map", lambda array: array[:, :2], "offset: expected finite numbers of shape"),
        ("map", lambda array: array.astype(int), "map: expected finite numbers"),
        ("map", lambda array: array.astype("f2"), "map: expected finite numbers"),
        ("map", lambda array: array * np.nan, "map: expected finite numbers"),
        ("offset", lambda array: array[None], "offset: expected finite numbers"),
        ("plan.a", lambda array: -array, "plan.a: expected finite numbers ≥ 0"),
        ("plan.z", lambda array: array[:0], "plan.z: expected finite numbers"),
        ("plan.u", lambda array: None, "got no 'plan.u'"),
    ],
)
def test_wrong_arrays(saved, name, change, complaint):
    arrays, facts = take_apart(saved, ALIGNMENT)
    changed = change(arrays.pop(name))
    put_together(
        saved, ALIGNMENT, arrays if changed is None else {**arrays, name: np.ascontiguousarray(changed)}, facts
    )
    with pytest.raises(InputError, match=f"expected a complete invarot alignment in .*{complaint}"):
        invarot.load(saved)


def test_matches_out_of_range(tmp_path):
    invarot.align(X, X[::-1] @ TURN, solver=Exact(), start="axes").save(tmp_path / "exact")
    arrays, facts = take_apart(tmp_path / "exact", ALIGNMENT)
    put_together(tmp_path / "exact", ALIGNMENT, {**arrays, "plan.columns": arrays["plan.columns"] + 1}, facts)
    with pytest.raises(InputError, match=r"plan\.columns: expected rows from 0 to 39, got 1 to 40"):
        invarot.load(tmp_path / "exact")


@pytest.mark.parametrize("missing", ["alignment.json", "alignment.safetensors"])
def test_a_file_is_gone(saved, missing):
    split_in_two(saved, ALIGNMENT)
    (saved / missing).unlink()
    with pytest.raises(InputError, match=r"has no alignment\.safetensors|not written by this library"):
        invarot.load(saved)


@pytest.mark.parametrize("content", ["[1, 2]", '{"format": "something else"}', "{}"])
def test_not_ours(saved, content):
    split_in_two(saved, ALIGNMENT)
    (saved / "alignment.json").write_text(content)
    with pytest.raises(InputError, match="not written by this library"):
        invarot.load(saved)


def test_deep_json(saved):
    arrays, facts = take_apart(saved, ALIGNMENT)
    put_together(saved, ALIGNMENT, arrays, facts)
    split_in_two(saved, ALIGNMENT)
    (saved / "alignment.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match="RecursionError"):
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


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_failed_save_changes_nothing(saved, monkeypatch, where):
    before = invarot.load(saved)
    other = invarot.align(X, X @ TURN, start="axes")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(files.os, where, fail)
    with pytest.raises(OSError, match="disk full"):
        other.save(saved)
    with pytest.raises(OSError, match="disk full"):
        other.save(saved.parent / "new")
    monkeypatch.undo()
    same(before, invarot.load(saved))
    assert [entry.name for entry in saved.parent.iterdir()] == ["found"]
    assert [entry.name for entry in saved.iterdir()] == ["alignment.safetensors"]


def test_what_a_killed_writer_left_is_cleared(result, tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / ".invarot-0123456789abcdef.part").write_bytes(b"half")
    with pytest.raises(InputError, match=r"has no alignment\.safetensors"):
        invarot.load(tmp_path / "m")
    result.save(tmp_path / "m")
    assert [entry.name for entry in (tmp_path / "m").iterdir()] == ["alignment.safetensors"]


def test_readers_beside_writers_see_whole_models(saved, result):
    other = invarot.align(X, X @ TURN, start="axes")
    known = {found.map.tobytes() for found in (result, other)}
    stop = threading.Event()

    def write(found):
        while not stop.is_set():
            found.save(saved)

    writers = [threading.Thread(target=write, args=(found,)) for found in (result, other) * 2]
    for thread in writers:
        thread.start()
    try:
        for _ in range(100):
            assert invarot.load(saved).map.tobytes() in known
    finally:
        stop.set()
        for thread in writers:
            thread.join()
    assert [entry.name for entry in saved.iterdir()] == ["alignment.safetensors"]
    assert [entry.name for entry in saved.parent.iterdir()] == ["found"]
