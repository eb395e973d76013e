"""docs/reproduce.md has the tables of results/reproduce, written by benchmarks/reproduce_page.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import reproduce_page

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not (ROOT / "results" / "reproduce").exists(), reason="the results are not part of this checkout"
)


def test_the_page_is_up_to_date():
    text = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    assert reproduce_page.render(text) == text


def test_scores_of_unknown_code_are_marked():
    rows = [{"precision_csls": 50.0, "refined_csls": 52.0, "commit": "abc"}, {"precision_csls": 51.0, "commit": "abc"}]
    assert reproduce_page._show_scores(rows, 2) == "50.5 ± 0.5 → 52.0"
    assert reproduce_page._show_scores([rows[0] | {"commit": "not recorded"}], 1) == "50.0* → 52.0"
    assert reproduce_page._show_scores([], 1) == "not run"


def test_scores_say_how_many_seeds_they_have():
    rows = [{"precision_csls": 50.0, "refined_csls": 52.0, "commit": "abc"}, {"precision_csls": 51.0, "commit": "abc"}]
    assert reproduce_page._show_scores(rows, 3) == "50.5 ± 0.5 (2) → 52.0"
    assert reproduce_page._show_scores(rows[:1], 1) == "50.0 → 52.0"
