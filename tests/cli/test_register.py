"""``invarot register``, as a person would type it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.spatial import cKDTree

from invarot import cli
from invarot.clouds import read_cloud, write_cloud

from ..clouds.pairs import moved_pair


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """The command, in this process: a new one takes a second to start."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["invarot", *map(str, words)])
        patch.setattr(warnings, "showwarning", warnings.showwarning)  # the command sets its own
        with pytest.raises(SystemExit) as done:
            cli.main()
    return subprocess.CompletedProcess(words, done.value.code or 0, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("register")
    source, target, truth = moved_pair()
    write_cloud(path / "a.ply", source)
    write_cloud(path / "b.csv", target)
    np.savetxt(path / "truth.txt", truth)
    (path / "cut.ply").write_bytes((path / "a.ply").read_bytes()[:-100])
    done = register(path, "-o", path / "moved.ply", "--picture", path / "p.png")
    assert done.returncode == 0, done.stderr
    (path / "printed").write_text(done.stdout)
    return path


def register(folder, *words, overlap="none"):
    return run("register", folder / "a.ply", folder / "b.csv", *words, "--overlap", overlap)


def test_what_is_printed_and_written(folder):
    truth = np.loadtxt(folder / "truth.txt")
    np.testing.assert_allclose(np.loadtxt(folder / "moved.matrix.txt"), truth, atol=1e-4)
    moved, target = read_cloud(folder / "moved.ply"), read_cloud(folder / "b.csv")
    assert cKDTree(target.points).query(moved.points)[0].max() < 1e-3
    assert (folder / "p.png").read_bytes().startswith(b"\x89PNG")
    lines = (folder / "printed").read_text().splitlines()
    assert lines[0].startswith("verdict: aligned")
    assert "overlap: 100.0% of the source, 100.0% of the target; RMSE of the matched part: " in "\n".join(lines)
    at = next(i for i, line in enumerate(lines) if "q = T p for column vectors" in line)
    printed = np.loadtxt(lines[at + 1 : at + 5])
    np.testing.assert_allclose(printed, truth, atol=1e-4)
    said = (folder / "moved.matrix.txt").read_text()
    assert "# verdict aligned" in said
    assert "# overlap 1.0000 of the source" in said


def test_json_and_the_place_of_the_matrix(folder, tmp_path):
    done = register(folder, "-o", tmp_path / "m.xyz.gz", "--matrix", tmp_path / "t.txt", "--json", "--seed", 1)
    found = json.loads(done.stdout)
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "t.txt"), found["matrix"])
    assert (found["overlap"], found["points"], found["verdict"]["word"]) == ([1, 1], [120, 120], "aligned")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["m.xyz.gz", "t.txt"]


def test_a_pipe_is_written_through_and_a_link_is_kept(folder, tmp_path):
    pipe, link = tmp_path / "pipe.xyz", tmp_path / "link.xyz"
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "real.xyz")
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        done = register(folder, "-o", pipe, "--matrix", tmp_path / "t.txt", "--quiet")
        if done.returncode:
            reader.kill()
        assert done.returncode == 0, done.stderr
        assert len(reader.communicate()[0].splitlines()) == 120
    assert pipe.is_fifo()
    assert register(folder, "-o", link, "--matrix", tmp_path / "t2.txt", "--quiet").returncode == 0
    assert link.is_symlink()
    assert len((tmp_path / "real.xyz").read_text().splitlines()) == 120


def test_nothing_is_overwritten_unless_asked(folder):
    before = (folder / "moved.ply").stat().st_mtime_ns
    for words in (("-o", folder / "moved.ply"), ("-o", folder / "new.ply", "--matrix", folder / "moved.matrix.txt")):
        done = register(folder, *words)
        assert done.returncode == 2
        assert "expected a new file" in done.stderr
        assert "overwrite it with --force" in done.stderr
    assert not (folder / "new.ply").exists()
    assert (folder / "moved.ply").stat().st_mtime_ns == before
    done = register(folder, "-o", folder / "moved.ply", "--force", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (folder / "moved.ply").stat().st_mtime_ns > before


def test_clouds_without_correspondence_fail(tmp_path):
    rng = np.random.default_rng(0)
    write_cloud(tmp_path / "a.ply", rng.standard_normal((150, 3)))
    write_cloud(tmp_path / "b.csv", rng.standard_normal((150, 3)))
    done = register(tmp_path, "-o", tmp_path / "m.npy", "--json")
    word = json.loads(done.stdout)["verdict"]["word"]
    assert word != "aligned"
    # by its thresholds one in a hundred wrong maps is called coarse, and rounding decides on this pair
    assert done.returncode == {"failed": 3, "doubtful": 4, "coarse": 0}[word]
    assert (tmp_path / "m.npy").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("{}/no.ply", "{}/b.csv", "-o", "{}/m.ply"), "no such file"),
        (("{}/cut.ply", "{}/b.csv", "-o", "{}/m.ply"), "cut.ply: expected 120 rows of element vertex"),
        (("{}/a.ply", "{}/b.csv", "-o", "{}/m.las"), "expected one of .ply, .csv"),
        (("{}/a.ply", "{}/b.csv", "-o", "{}/no/m.ply"), "folder that exists"),
        (("{}/a.ply", "{}/b.csv", "-o", "{}/m.ply", "--matrix", "{}/no/t.txt"), "in an existing directory"),
        (("{}/a.ply", "{}/b.csv", "-o", "{}/m.txt", "--matrix", "{}/m.txt"), "expected different files"),
        (("{}/a.ply", "{}/b.csv", "-o", "{}/m.ply", "--picture", "{}/p.bmp"), "expected a picture"),
        (("{}/a.ply", "{}/b.csv", "-o", "{}/m.ply", "--overlap", "some"), "--overlap: expected auto, none or a number"),
        (("{}/a.ply", "{}/b.csv", "-o", "{}/m.ply", "--overlap", "1.5"), "--overlap: expected a number > 0 and ≤ 1"),
        (("{}/a.ply", "{}/b.csv", "-o", "{}/m.ply", "--overlap", "nan"), "--overlap: expected a number > 0 and ≤ 1"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(folder, words, complaint):
    done = run("register", *(word.format(folder) for word in words))
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(folder.glob("m.*"))


@pytest.mark.parametrize("overlap", ["auto", "0.7"])
def test_a_part_of_the_source(folder, tmp_path, overlap):
    source, target, truth = moved_pair(300)
    write_cloud(tmp_path / "a.ply", source)
    write_cloud(tmp_path / "b.csv", target.points[target.points[:, 2] > np.quantile(target.points[:, 2], 0.3)])
    done = register(tmp_path, "-o", tmp_path / "m.ply", "--json", overlap=overlap)
    found = json.loads(done.stdout)
    np.testing.assert_allclose(found["matrix"], truth, atol=0.02)
    np.testing.assert_allclose(found["overlap"], [0.7, 1], atol=0.1)


def test_a_file_that_is_there_is_named_by_its_option(folder, tmp_path):
    (tmp_path / "moved.matrix.txt").write_text("kept")
    done = run("register", folder / "a.ply", folder / "b.csv", "-o", tmp_path / "moved.obj")
    assert done.returncode == 2
    assert done.stderr.startswith(f"invarot: --matrix: expected a new file, got {tmp_path / 'moved.matrix.txt'}, where")
    assert not (tmp_path / "moved.obj").exists()
