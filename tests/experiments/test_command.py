"""``invarot reproduce`` as a user types it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from invarot import InputError
from invarot.cli import reproduce  # noqa: F401 -- registers the command
from invarot.cli.app import app
from invarot.experiments import NAMES

pytest.importorskip("matplotlib")


def test_writes_a_folder_and_prints_a_sentence(tmp_path):
    result = CliRunner().invoke(app, ["reproduce", "schatten", "--quick", "--seed", "2", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert "schatten: CONFIRMED: the best map" in result.output
    assert "| **confirmed** | [schatten](schatten) |" in (tmp_path / "verdicts.md").read_text()
    assert {path.name for path in (tmp_path / "schatten").iterdir()} == {
        "cells.jsonl", "data.csv", "figure.png", "figure.svg", "manifest.json",
    }  # fmt: skip
    manifest = json.loads((tmp_path / "schatten" / "manifest.json").read_text())
    assert (manifest["seed"], manifest["quick"]) == (2, True)


def test_help_says_what_each_name_is_and_what_is_written():
    shown = " ".join(CliRunner().invoke(app, ["reproduce", "--help"]).output.split())
    for name, text in NAMES.items():
        assert f"{name}: {text.split(',')[0].split(';')[0][:25]}" in shown
    assert "summary.csv" in shown


def test_only_is_passed_on(tmp_path):
    options = ["reproduce", "matchings", "--quick", "--only", "cloud 1", "--out", str(tmp_path)]
    assert "6 of 7 cells were not run" in CliRunner().invoke(app, options).output


def test_unknown_names_are_named(tmp_path):
    result = CliRunner().invoke(app, ["reproduce", "noize", "--out", str(tmp_path)])
    assert isinstance(result.exception, InputError)
    assert "did you mean 'noise'" in str(result.exception)
