"""``--overlap``: words without a translation are named by every command, and forced by none."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from invarot.cli import align, export, translate  # noqa: F401 -- each registers its command
from invarot.cli.app import app
from invarot.words import write_vectors

from ..commands import make_runner
from ..translation.pairs import rotated_pair


def run(*words: object):
    """The command in this process."""
    done = make_runner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """300 words a side, the first 200 of which are translations of each other; orphans.json: the others."""
    path = tmp_path_factory.mktemp("untranslated")
    source, target, _ = rotated_pair(400)
    source, target = (side.take(np.argsort(side.words)) for side in (source, target))  # now the rows correspond
    source, target = source.take(np.arange(300)), target.take(np.r_[0:200, 300:400])
    write_vectors(path / "a.vec", source.words, source.vectors)
    write_vectors(path / "b.vec", target.words, target.vectors)
    (path / "orphans.json").write_text(json.dumps([side.words[200:] for side in (source, target)]))
    fast = ("align", path / "a.vec", path / "b.vec", "--preset", "fast")
    for name, options in (("part", ("--overlap", "auto", "--report", path / "part.html")), ("whole", ())):
        (path / f"{name}.txt").write_text(run(*fast, "-o", path / name, *options).stderr)
    return path


def read_orphans(folder):
    return json.loads((folder / "orphans.json").read_text())


def test_align_says_how_many_have_none(folder):
    said = (folder / "part.txt").read_text()
    found = re.search(
        r"overlap: (\d+)% of the source words and (\d+)% .* a translation; (\d+) and (\d+) have none", said
    )
    assert [int(one) for one in found.groups()] == pytest.approx([67, 67, 100, 100], abs=5)
    assert "have none" not in (folder / "whole.txt").read_text()


@pytest.mark.parametrize("side", [0, 1])
def test_translate_names_them_and_forces_none(folder, side):
    orphans = read_orphans(folder)[side]
    back = ["--reverse"] if side else []
    found = json.loads(run("translate", folder / "part", *orphans, "--json", *back).stdout)
    assert sum(best == [] for best in found.values()) > 80
    forced = json.loads(run("translate", folder / "part", *orphans, "--json", "--all", *back).stdout)
    whole = json.loads(run("translate", folder / "whole", *orphans, "--json", *back).stdout)
    assert all(len(best) == 5 for answers in (forced, whole) for best in answers.values())
    lacking = next(word for word, best in found.items() if not best)
    assert run("translate", folder / "part", lacking, *back).stdout == f"{lacking}\t(no translation)\n"


def test_the_others_are_translated(folder):
    words = [line.split()[0] for line in (folder / "a.vec").read_text().splitlines()[1:201]]
    found = json.loads(run("translate", folder / "part", *words, "--json").stdout)
    assert sum(bool(best) and best[0]["word"] == f"T{word}" for word, best in found.items()) > 175


def test_export_leaves_them_out_and_says_so(folder):
    done = run("export", folder / "part", "-o", folder / "part.tsv")
    listed = {line.split("\t")[0] for line in (folder / "part.tsv").read_text().splitlines()}
    assert len(listed & set(read_orphans(folder)[0])) < 20
    assert f"{300 - len(listed)} words have no translation and are not in it" in done.stderr
    assert "no translation" not in run("export", folder / "whole", "-o", folder / "whole.tsv").stderr
    assert len((folder / "whole.tsv").read_text().splitlines()) == 300


def test_the_report_names_them(folder):
    page = (folder / "part.html").read_text()
    assert page.count("<small>no translation</small>") == pytest.approx(100, abs=5)
    assert "67% of the source words and 67% of the target words have a counterpart" in page
