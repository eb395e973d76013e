"""How the command line behaves: help, completion, known pairs, case, what it writes, what it says."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from invarot.cli.app import complete
from invarot.errors import InputError, MissingExtra
from invarot.translation import learn, recipe
from invarot.words import read_dictionary, write_vectors

from ..translation.pairs import rotated_pair

ENV = {**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1", "COLUMNS": "120"}
FAST = recipe("fast", start="signature")


def invarot(*words: object, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "invarot", *map(str, words)]
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, env={**ENV, **more}, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("manners")
    source, target, gold = rotated_pair()
    write_vectors(path / "a.vec", source.words, source.vectors)
    write_vectors(path / "b.vec", target.words, target.vectors)
    (path / "pairs.txt").write_text("".join(f"{left} {right}\n" for left, right in gold[:8]))
    learn(source, target, how=FAST).save(path / "m")
    return path


def test_alone_it_prints_help_and_is_content():
    done = invarot()
    assert done.returncode == 0
    assert "invarot [OPTIONS] COMMAND" in done.stdout


@pytest.mark.parametrize("name", ["", "align", "translate", "export", "register", "cells", "migrate"])
def test_help_names_no_type_beside_a_flag(name):
    done = invarot(*([name] if name else []), "--help")
    assert done.returncode == 0
    assert "bool" not in done.stdout.lower()
    if name in ("align", "export", "register", "cells", "migrate"):
        assert "--force" in done.stdout


def test_presets_complete():
    asking = {"_INVAROT_COMPLETE": "complete_bash", "COMP_WORDS": "invarot align --preset ", "COMP_CWORD": "3"}
    code = "import sys; sys.argv[0] = 'invarot'; from invarot.cli import main; main()"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**ENV, **asking}, check=False
    )
    assert set(shown.stdout.split()) == {"best", "fast", "paper"}
    assert complete(("best", "fast"))("f") == ["fast"]


def test_known_pairs_enter_the_solve(folder):
    words = ("align", folder / "a.vec", folder / "b.vec", "-o", folder / "s", "--preset", "fast", "--json", "--force")
    done = invarot(*words, "--seeds", folder / "pairs.txt")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"]["word"] == "aligned"
    (folder / "other.txt").write_text("zz zz\n")
    done = invarot(*words, "--seeds", folder / "other.txt")
    assert done.returncode == 2
    assert "--seeds: expected pairs of the first" in done.stderr


def test_seeds_change_the_answer_of_learn():
    source, target, gold = rotated_pair()
    random = recipe("fast", start="random", rounds=0)
    blind = learn(source, target, how=random).evaluate(gold)["precision@1"]
    told = learn(source, target, how=random, seeds=gold[:60])
    assert told.evaluate(gold)["precision@1"] > 0.9 > blind
    assert told.settings["seeds"] == 60
    with pytest.raises(InputError, match="seeds: expected pairs"):
        learn(source, target, how=FAST, seeds=[("only",)])


def test_another_case_is_found_and_said(folder):
    done = invarot("translate", folder / "m", "WAA", "-k", 1)
    assert done.stdout.split()[:2] == ["waa", "Twaa"]
    assert "WAA: not in the vocabulary, waa is" in done.stderr


def test_evaluate_reads_what_export_writes(folder):
    assert invarot("export", folder / "m", "-o", folder / "d.txt").returncode == 0
    done = invarot("evaluate", folder / "m", "--dictionary", folder / "d.txt", "--json")
    assert json.loads(done.stdout)["precision@1"] == 1.0
    assert len(read_dictionary(folder / "d.txt")) == 300


def test_one_npz_is_one_file_and_is_kept(folder):
    assert invarot("export", folder / "m", "-o", folder / "v.npz").returncode == 0
    with np.load(folder / "v.npz") as found:
        assert found["source_words"][0] == "waa"
        assert found["source_vectors"].shape == found["target_vectors"].shape
    done = invarot("export", folder / "m", "-o", folder / "v.npz")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert "overwrite=True" not in done.stderr
    assert invarot("export", folder / "m", "-o", folder / "v.npz", "--force").returncode == 0


def test_a_resumed_run_says_so(folder, caplog):
    source, target, _ = rotated_pair()
    with caplog.at_level(logging.INFO, "invarot"):
        learn(source, target, how=FAST, checkpoint=folder / "c")
        assert "resumed" not in caplog.text
        learn(source, target, how=FAST, checkpoint=folder / "c")
    assert "resumed from the checkpoint, stage 1 of 1" in caplog.text


def test_a_missing_extra_names_what_to_install():
    told = str(MissingExtra("a picture", "report"))
    assert re.search(r"pip install 'matplotlib>=[\d.]+' \(or pip install 'invarot\[report\]'\)", told)
    assert "invarot[nosuch]" in str(MissingExtra("it", "nosuch"))
