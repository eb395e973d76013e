"""A number names the code it comes from."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import invarot
from invarot.experiments.provenance import describe_commit


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_tracked_file_is_of_its_commit_and_dirty_once_changed(tmp_path):
    file = tmp_path / "code.py"
    file.write_text("x = 1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "code.py")
    git(tmp_path, "commit", "-q", "-m", "one")
    commit = describe_commit(file)
    assert re.fullmatch("[0-9a-f]{7,}", commit)
    (tmp_path / "results").mkdir()
    result = tmp_path / "results" / "a.csv"
    result.write_text("1\n")
    git(tmp_path, "add", "results")
    git(tmp_path, "commit", "-q", "-m", "two")
    commit = describe_commit(file)
    result.write_text("2\n")
    assert describe_commit(file) == commit  # a run that writes its results does not change the code
    file.write_text("x = 2\n")
    assert describe_commit(file) == f"{commit}-dirty"
    installed = tmp_path / "installed.py"  # in the same folder, but no part of that checkout
    installed.write_text("")
    assert describe_commit(installed) == f"invarot {invarot.__version__}"


def test_without_a_checkout_it_is_the_version(tmp_path):
    assert describe_commit(tmp_path / "code.py") == f"invarot {invarot.__version__}"


def git(folder, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)
