"""What is recorded of a run, and how a dictionary is measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from invarot.translation.pipeline import map_known
from invarot.translation.progress import Progress


@dataclass
class Shown:
    map: np.ndarray
    stage: str = "solve"
    objective: float = 0.0


def test_a_step_that_shows_its_map_is_measured(pair, model):
    source, target, gold = pair
    x, y = (map_known(model.steps[:1], *side) for side in ((source, "source"), (target, "target")))
    progress = Progress(dictionary=gold)
    score = progress.make_scorer(source.words, target.words)
    watch = progress.watch_solver("solve 300", lambda w: score(x @ w, y))
    for shown in (model.source_map @ model.target_map.T, np.eye(12)):
        watch(Shown(shown))
    watch(Shown(np.eye(12), "race"))
    assert progress.history[0]["right"] > 0.99 > 0.5 > progress.history[1]["right"]
    assert all("map" not in event for event in progress.history)
    assert "right" not in progress.history[2]
    assert [event["stage"] for event in progress.history] == ["solve 300", "solve 300", "solve 300, race"]


def test_nothing_is_measured_without_pairs(pair):
    source, target, gold = pair
    assert Progress().make_scorer(source.words, target.words) is None
    assert Progress(dictionary=[("no", "word")]).make_scorer(source.words, target.words) is None
    assert Progress(dictionary=gold).make_scorer(source.words, target.words) is not None


def test_only_the_first_words_are_measured(pair, model, monkeypatch):
    monkeypatch.setattr("invarot.translation.progress.MEASURED", 20)
    source, target, gold = pair
    progress = Progress(dictionary=gold)
    score = progress.make_scorer(source.words, target.words)
    common = {right[1:] for right in target.words[:20]} & set(source.words[:20])
    assert common  # else the next line says nothing
    assert score(*model.clouds) == 1.0
    far = np.where(np.arange(300)[:, None] < 20, model.clouds[0], 0.0)
    assert score(far, model.clouds[1]) == 1.0


def test_a_score_is_recorded_after_its_stage():
    progress = Progress()
    progress.record_score("solve 10", None, 1, 2)
    progress.record_score("refine", lambda x, y: x / y, 1, 2)
    assert progress.history == [{"stage": "refine", "precision@1": 0.5}]
