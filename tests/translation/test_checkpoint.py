"""A run that was killed continues where it stopped."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.errors import InputError
from invarot.translation import learn, recipe

HOW = recipe("fast", stages=(60, 120), start="axes")


class Killed(Exception):
    pass


def kill(event):
    if event["stage"].startswith("solve 120"):
        raise Killed


def test_a_killed_run_continues(tmp_path, pair):
    source, target = pair[0].first(120), pair[1].first(120)
    with pytest.raises(Killed):
        learn(source, target, how=HOW, on_event=kill, checkpoint=tmp_path / "c")
    seen = []
    model = learn(
        source, target, how=HOW, on_event=lambda event: seen.append(event["stage"]), checkpoint=tmp_path / "c"
    )
    assert not any(stage.startswith("solve 60") for stage in seen)  # not done again
    assert any(stage.startswith("solve 120") for stage in seen)
    np.testing.assert_array_equal(model.source_map, learn(source, target, how=HOW).source_map)


def test_a_folder_belongs_to_one_run(tmp_path, pair):
    source, target, _ = pair
    learn(source, target, how="fast", checkpoint=tmp_path / "c")
    for other in ({"rng": 1}, {"how": recipe("fast", rounds=2)}):
        with pytest.raises(InputError, match="other vectors or other settings"):
            learn(source, target, **{"how": "fast", **other}, checkpoint=tmp_path / "c")
    with pytest.raises(InputError, match="other vectors or other settings"):
        learn(source.first(200), target, how="fast", checkpoint=tmp_path / "c")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="holds something else"):
        learn(source, target, how="fast", checkpoint=tmp_path / "other")


def test_stages_of_one_size_do_not_take_each_other_for_themselves(tmp_path, pair):
    """With few words all stages of a recipe have one size."""
    source, target = pair[0].first(120), pair[1].first(120)
    how = recipe("paper", stages=(500, 600, 700), start="axes")
    plain = learn(source, target, how=how)
    for _ in range(2):  # the second time everything is there
        model = learn(source, target, how=how, checkpoint=tmp_path / "c")
        np.testing.assert_array_equal(model.source_map, plain.source_map)
        assert repr(model.history) == repr(plain.history)
    assert sorted(entry.name for entry in (tmp_path / "c").iterdir() if entry.is_dir()) == [
        "stage-1",
        "stage-2",
        "stage-3",
    ]


@pytest.mark.parametrize("left", ["run.new", ".invarot-0123456789abcdef.part"])
def test_a_run_killed_while_it_claims_the_folder(tmp_path, pair, left):
    (tmp_path / left).write_text("half")
    learn(pair[0].first(60), pair[1].first(60), how=HOW, checkpoint=tmp_path)
    assert not (tmp_path / left).exists()


def test_a_run_killed_while_it_saves_a_stage(tmp_path, pair):
    source, target = pair[0].first(120), pair[1].first(120)
    model = learn(source, target, how=HOW, checkpoint=tmp_path)
    (tmp_path / "stage-2" / "alignment.safetensors").rename(tmp_path / "stage-2" / ".invarot-0123456789abcdef.part")
    again = learn(source, target, how=HOW, checkpoint=tmp_path)
    np.testing.assert_array_equal(again.source_map, model.source_map)
    assert [entry.name for entry in (tmp_path / "stage-2").iterdir()] == ["alignment.safetensors"]
