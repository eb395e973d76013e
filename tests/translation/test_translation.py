"""Learning, storing and asking a translation, on pairs of vocabularies with a known answer."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.translation import PRESETS, Checkpoint, learn, load_translation, recipe, save_translation
from invarot.translation.watch import Clock, step_watcher
from invarot.words import Vectors, load_core_pair


def rotated_pair(
    n: int = 300, d: int = 12, extra: int = 0, seed: int = 0
) -> tuple[Vectors, Vectors, list[tuple[str, str]]]:
    """A vocabulary and its noisy, rotated, shuffled copy in ``d + extra`` dimensions."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(1.0, size=(n, d)) * np.linspace(0.5, 2, d)
    turn = np.linalg.qr(rng.standard_normal((d + extra, d + extra)))[0][:d]
    order = rng.permutation(n)
    y = (x @ turn)[order] + 0.01 * rng.standard_normal((n, d + extra))
    words = [f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(n)]
    source = Vectors(tuple(words), x.astype(np.float32))
    target = Vectors(tuple("T" + words[i] for i in order), y.astype(np.float32))
    return source, target, [(word, "T" + word) for word in words]


@pytest.fixture(scope="module")
def pair():
    return rotated_pair()


@pytest.fixture(scope="module")
def model(pair):
    return learn(pair[0], pair[1], how="fast")


def test_a_rotated_vocabulary_is_translated(pair, model):
    scores = model.evaluate(pair[2])
    assert scores["precision@1"] > 0.99
    assert scores["queries"] == 300
    assert scores["coverage"] == 1.0
    assert scores["retrieval"] == "csls"
    assert model.verdict.word == "aligned"
    assert model.translate(["waa"], k=2)["waa"][0][0] == "Twaa"
    assert model.translate(["Twaa"], reverse=True)["Twaa"][0][0] == "waa"


@pytest.mark.parametrize("extra", [0, 5])
def test_fifty_words_and_unequal_dimensions(extra):
    source, target, gold = rotated_pair(50, 6, extra)
    assert learn(source, target).evaluate(gold)["precision@1"] > 0.9


def test_history_shows_every_stage_and_the_time_of_each(model):
    stages = {row["stage"] for row in model.history}
    assert "refine" in stages
    assert any(stage.startswith("solve 300") for stage in stages)
    assert set(model.settings["seconds"]) == {"solve 300", "refine"}


def test_stages_and_refinement_are_switchable(pair):
    plain = learn(pair[0], pair[1], how=recipe("fast", stages=(100, 300), rounds=0))
    assert set(plain.settings["seconds"]) == {"solve 100", "solve 300", "refine"}
    assert all(row["stage"] != "refine" for row in plain.history)
    assert np.allclose(plain.source_map @ plain.source_map.T, np.eye(12), atol=1e-4)  # the solver's own orthogonal map


def test_words_that_are_not_kept_help_the_fit(pair, model):
    source, target, _ = pair
    cut = learn(source, target, how="fast", keep=120)
    assert (len(cut.source), len(cut.target)) == (120, 120)
    assert cut.settings["fitted_words"] == [300, 300]
    np.testing.assert_array_equal(cut.source_map, model.source_map)  # fitted on all
    alone = learn(source.first(120), target.first(120), how="fast")
    assert np.abs(alone.source_map - cut.source_map).max() > 1e-3
    with pytest.raises(InputError, match="keep: expected"):
        learn(source, target, keep=3)


def test_a_dictionary_is_watched_and_changes_nothing(pair, model):
    seen = learn(pair[0], pair[1], how="fast", dictionary=pair[2])
    watched = [(row["stage"], row["precision@1"]) for row in seen.history if "precision@1" in row]
    assert [stage for stage, _ in watched] == ["solve 300"] + ["refine"] * (len(watched) - 1)
    assert watched[-1][1] == pytest.approx(seen.evaluate(pair[2])["precision@1"])
    np.testing.assert_array_equal(seen.source_map, model.source_map)
    strange = learn(pair[0], pair[1], how="fast", dictionary=[("no", "such")])
    assert not any("precision@1" in row for row in strange.history)


def test_a_step_that_shows_its_map_is_measured(pair, model):
    @dataclass
    class Shown:
        map: np.ndarray
        stage: str = "solve"
        objective: float = 0.0

    source, target, gold = pair
    x, y = model.prepare_source.apply(source.vectors), model.prepare_target.apply(target.vectors)
    right = step_watcher(x, y, source.words, target.words, gold)
    clock = Clock(None)
    observe = clock.observer("solve 300", right)
    for shown in (model.source_map @ model.target_map.T, np.eye(12)):
        observe(Shown(shown))
    observe(Shown(np.eye(12), "race"))
    assert clock.history[0]["right"] > 0.99 > 0.5 > clock.history[1]["right"]
    assert all("map" not in event for event in clock.history)
    assert "right" not in clock.history[2]
    assert step_watcher(x, y, source.words, target.words, [("no", "word")]) is None


def test_many_words_are_refined_in_two_sizes(pair, monkeypatch):
    monkeypatch.setattr(sys.modules["invarot.translation.learn"], "MANY", 200)
    found = learn(pair[0], pair[1], how="fast")
    pairs = [row["pairs"] for row in found.history if row["stage"] == "refine"]
    assert max(pairs[:1]) <= 100 < max(pairs)  # the first rounds see a third of the words
    assert found.evaluate(pair[2])["precision@1"] > 0.99


def test_presets_differ_and_unknown_ones_are_named():
    assert len({repr(preset) for preset in PRESETS.values()}) == 3
    with pytest.raises(InputError, match="did you mean 'fast'"):
        recipe("fasd")
    with pytest.raises(InputError, match="p: expected a number ≥ 1"):
        recipe("best", p=0.5)


def test_same_seed_same_answer(pair, model):
    again = learn(pair[0], pair[1], how="fast")
    assert np.array_equal(again.source_map, model.source_map)


def test_save_and_load(tmp_path, pair, model):
    save_translation(model, tmp_path / "m")
    again = load_translation(tmp_path / "m")
    assert again.source.words == model.source.words
    assert again.evaluate(pair[2]) == model.evaluate(pair[2])
    assert again.verdict == model.verdict
    assert again.history == json.loads(json.dumps(model.history)) or len(again.history) == len(model.history)
    (tmp_path / "m" / "translation.safetensors").write_bytes(b"cut")
    with pytest.raises(InputError, match="cut short or altered"):
        load_translation(tmp_path / "m")


def test_a_killed_run_goes_on_where_it_was(tmp_path, pair):
    source, target, _ = pair
    how = recipe("fast", stages=(100, 300))

    class Killed(Exception):
        pass

    def kill(event):
        if event["stage"].startswith("solve 300"):
            raise Killed

    with pytest.raises(Killed):
        learn(source, target, how=how, on_event=kill, checkpoint=Checkpoint(tmp_path / "c", source, target, how, 0))
    seen = []
    model = learn(
        source, target, how=how, on_event=lambda event: seen.append(event["stage"]),
        checkpoint=Checkpoint(tmp_path / "c", source, target, how, 0),
    )  # fmt: skip
    assert not any(stage.startswith("solve 100") for stage in seen)  # not done again
    assert (
        np.array_equal(model.source_map, learn(source, target, how=how).source_map) or model.verdict.word == "aligned"
    )
    with pytest.raises(InputError, match="other vectors or other settings"):
        Checkpoint(tmp_path / "c", source, target, how, 1)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="holds something else"):
        Checkpoint(tmp_path / "other", source, target, how, 0)


def test_words_with_line_breaks_are_kept(tmp_path, model):
    odd = replace(model, source=Vectors(("two\nlines", "\udc80", *model.source.words[2:]), model.source.vectors))
    save_translation(odd, tmp_path / "m")
    assert load_translation(tmp_path / "m").source.words == odd.source.words


def test_one_word_or_none_may_be_asked_for(model):
    assert model.translate("waa") == model.translate(["waa"])
    assert model.translate([]) == {}


def test_objects_of_other_libraries_are_taken(pair, model):
    keyed = [SimpleNamespace(index_to_key=list(side.words), vectors=side.vectors) for side in pair[:2]]
    assert learn(*keyed, how="fast").source.words == model.source.words


def test_unknown_words_and_useless_dictionaries_are_named(model):
    with pytest.raises(InputError, match="not in the vocabulary of 300 words: zzz"):
        model.translate(["zzz"])
    with pytest.raises(InputError, match="is it the right direction"):
        model.evaluate([("Twaa", "waa")])
    with pytest.raises(InputError, match="at least 10 words"):
        learn(model.source.first(5), model.target)


def test_mapped_vectors_share_a_space(pair, model):
    left, right = model.mapped()
    row = right.index()["T" + left.words[0]]
    assert float(left.vectors[0] @ right.vectors[row]) > 0.95


def test_the_shipped_pair_is_whole():
    english, spanish, gold = load_core_pair()
    assert len(english) == len(spanish) == 5000
    assert len({left for left, _ in gold}) >= 300
