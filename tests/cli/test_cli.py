"""The command line, as a person would type it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from invarot import InputError, __version__, cli
from invarot.cli.app import app
from invarot.translation import load
from invarot.words import Vectors, read_vectors, write_vectors
from invarot.words.spelling import SPELLING_COORDINATES, SPELLING_WEIGHT

from ..commands import make_runner
from ..translation.pairs import rotated_pair
from ..words.test_spelling import RUSSIAN

ENV = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    "OMP_NUM_THREADS": "1",
    "NO_COLOR": "1",
    "COLUMNS": "120",
}


def invarot(*words: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "invarot", *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, env=ENV, timeout=120, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli")
    source, target, gold = rotated_pair()
    write_vectors(path / "a.vec", source.words, source.vectors)
    write_vectors(path / "b.npz", target.words, target.vectors)
    (path / "gold.txt").write_text("".join(f"{left} {right}\n" for left, right in gold))
    done = invarot("align", path / "a.vec", path / "b.npz", "-o", path / "m", "--json")
    assert done.returncode == 0, done.stderr
    (path / "align.json").write_text(done.stdout)
    return path


def test_align_says_what_it_did(folder):
    summary = json.loads((folder / "align.json").read_text())
    assert summary["verdict"]["word"] == "aligned"
    assert summary["words"] == [300, 300]
    applied = {step["name"]: step["applied"] for step in summary["steps"]}
    assert list(applied) == ["prepare", "solve", "refine", "local centring", "spelling", "penalties"]
    assert applied["refine"]
    assert not applied["penalties"]
    assert summary["steps"][5]["detail"] == "300 words, fewer than 10,000"


def test_the_summary_names_what_was_not_applied(folder):
    done = invarot("align", folder / "a.vec", folder / "b.npz", "-o", folder / "m", "--force")
    lines = done.stderr.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("steps: prepare "))
    assert lines[at + 1 : at + 4] == [
        "  · local centring: not applied: 300 words, fewer than 500",
        "  · spelling: not applied: spelling is 0 in the recipe",
        "  · penalties: not applied: 300 words, fewer than 10,000",
    ]
    assert lines[-1] == f"300 × 300 words; model in {folder / 'm'}"


def test_translate(folder):
    done = invarot("translate", folder / "m", "waa", "wba", "-k", 1)
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [["waa", "Twaa"], ["wba", "Twba"]]
    assert "--all" not in done.stderr
    done = invarot("translate", folder / "m", "--reverse", "--json", "--all", stdin="Twaa\n")
    assert json.loads(done.stdout)["Twaa"][0]["word"] == "waa"
    assert "--all: no effect, since the model was learned without an overlap" in done.stderr
    done = invarot("translate", folder / "m", "nosuchword", "[/b]")
    assert done.returncode == 2
    assert "nosuchword, [/b]" in done.stderr


def test_evaluate(folder):
    done = invarot("evaluate", folder / "m", "--dictionary", folder / "gold.txt", "--json")
    scores = json.loads(done.stdout)
    assert set(scores) == {"precision@1", "precision@5", "precision@10", "mrr", "coverage", "queries", "retrieval"}
    assert scores["precision@1"] > 0.99
    cosine = invarot("evaluate", folder / "m", "--dictionary", folder / "gold.txt", "--json", "--retrieval", "cosine")
    assert json.loads(cosine.stdout)["retrieval"] == "cosine"
    strange = "".join(f"zz{i} zz\n" for i in range(20)) + "waa Twaa\n"
    (folder / "other.txt").write_text(strange)
    assert (
        "check its direction"
        in invarot("evaluate", folder / "m", "--dictionary", folder / "other.txt", "--json").stderr
    )


def test_export(folder):
    assert invarot("export", folder / "m", "--format", "dictionary", "-o", folder / "d.txt").returncode == 0
    lines = (folder / "d.txt").read_text().splitlines()
    assert lines[0].split("\t")[:2] == ["waa", "Twaa"]
    assert invarot("export", folder / "m", "--format", "npz", "-o", folder / "v").returncode == 0
    assert read_vectors(folder / "v.source.npz").vectors.shape == (300, 12)
    assert invarot("export", folder / "m", "--format", "vec", "-o", folder / "v").returncode == 0
    assert (folder / "v.target.vec").read_text().startswith("300 12\n")
    done = invarot("export", folder / "m", "--format", "xlsx")
    assert done.returncode == 2
    assert "expected one of vec, npz, dictionary" in done.stderr


@pytest.mark.parametrize(
    "option",
    [("--seeds", "pairs.txt"), ("--effort", "high"), ("--overlap", "auto"), ("--extra-words", "0"), ("--mapped",), ("--preset", "fast")],
)  # fmt: skip
def test_what_torchrun_does_not_use_is_refused(option):
    import_module("invarot.cli.align")  # registers its command
    asked = make_runner().invoke(
        app, ["align", "a.npy", "b.npy", "-o", "x", *option], env={"TORCHELASTIC_RUN_ID": "none"}
    )
    assert isinstance(asked.exception, InputError)
    assert str(asked.exception).startswith(f"{option[0]}: expected none under torchrun")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("align", "no.vec", "b.vec", "-o", "m"), "no.vec"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/gold.txt"), "is a file"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/gold.txt/m"), "expected a writable folder"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/x", "--preset", "bets"), "did you mean 'best'"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/x", "--device", "tpu"), "device: expected"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/x", "--p", "0.5"), "p: expected"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/x", "--extra-words", "9"), "--max-words"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/x", "--dictionary", "{}/gold.txt"), "--report"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/x", "--report", "{}/no/page.html"), "--report: expected"),
        (("align", "-", "/dev/stdin", "-o", "{}/x"), "at most one of them from standard input"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "-"), "--output: expected a folder"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/m"), "which holds an invarot translation of 20"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/x", "--report", "{}/gold.txt"), "--report: expected a new file"),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/x", "--report", "-", "--json"), "standard output for both"),
        (("demo", "-o", "{}/m"), "which holds an invarot translation"),
        (("demo", "--report", "{}/gold.txt"), "--report: expected a new file"),
        (("export", "{}/m", "-o", "{}/gold.txt"), "--output: expected a new file"),
        (("export", "{}/m", "--format", "vec", "-o", "-"), "--output: expected the stem of two files"),
        (("export", "{}/m", "--format", "npz", "-k", "2"), "--top: expected with --format dictionary only, got npz"),
        (
            ("export", "{}/m", "-o", "{}/w.vec", "--words", "9"),
            "--words: expected with --format dictionary only, got vec",
        ),
        (("align", "{}/a.vec", "{}/b.npz", "-o", "{}/x", "--seed", "-1"), "--seed"),
        (("evaluate", "{}", "--dictionary", "{}/gold.txt"), "translation.safetensors"),
        (("evaluate", "{}/m", "--dictionary", "{}/gold.txt", "--retrieval", "softmax"), "--retrieval: expected"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(folder, words, complaint):
    done = invarot(*(word.format(folder) for word in words))
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_quiet_is_quiet(folder):
    done = invarot("align", folder / "a.vec", folder / "b.npz", "-o", folder / "q", "--quiet", "--max-words", 200)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    kept = load(folder / "q")
    assert (len(kept.source), kept.settings["fitted_words"]) == (200, [300, 300])  # more of them help the fit


def test_spelling_is_stored_and_used(folder):
    given = ("--spelling", "--json", "--preset", "fast", "--mapped")
    done = invarot("align", folder / "a.vec", folder / "b.npz", "-o", folder / "s", *given)
    assert json.loads(done.stdout)["steps"][4]["values"]["weight"] == SPELLING_WEIGHT
    assert load(folder / "s").steps[4].values["weight"] == SPELLING_WEIGHT
    assert (folder / "s-mapped.source.vec").read_text().startswith(f"300 {12 + SPELLING_COORDINATES}\n")
    found = json.loads(invarot("translate", folder / "s", "Twaa", "--json", "--reverse").stdout)["Twaa"]
    plain = json.loads(invarot("translate", folder / "m", "Twaa", "--json", "--reverse").stdout)["Twaa"]
    assert found[0]["word"] == plain[0]["word"] == "waa"
    assert found != plain


def test_spelling_is_left_out_between_alphabets(folder, tmp_path):
    held = read_vectors(folder / "b.npz")
    write_vectors(tmp_path / "c.npz", [word.translate(RUSSIAN).lower() for word in held.words], held.vectors)
    done = invarot(
        "align", folder / "a.vec", tmp_path / "c.npz", "-o", tmp_path / "m", "--spelling", "--preset", "fast"
    )
    assert "do not share an alphabet" in done.stderr
    assert not load(tmp_path / "m").steps[4].applied


def test_clouds_without_correspondence_do_not_pass_for_aligned(tmp_path):
    rng = np.random.default_rng(0)
    for name in "ab":
        words = [f"{name}{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(200)]
        write_vectors(tmp_path / f"{name}.npz", words, rng.standard_normal((200, 20)).astype(np.float32))
    done = invarot("align", tmp_path / "a.npz", tmp_path / "b.npz", "-o", tmp_path / "m", "--json", "--preset", "fast")
    word = json.loads(done.stdout)["verdict"]["word"]
    assert word != "aligned"
    assert done.returncode == {"failed": 3, "doubtful": 4}[word]


@pytest.mark.parametrize("seconds", [0.2, 1.2])
def test_interrupted_leaves_nothing_half_written(folder, seconds):
    command = [
        sys.executable,
        "-m",
        "invarot",
        "align",
        "a.vec",
        "b.npz",
        "-o",
        "killed",
        "--preset",
        "paper",
        "--force",
    ]
    process = subprocess.Popen(command, cwd=folder, env=ENV, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=60)
    assert "Traceback" not in message
    if process.returncode == 130:
        assert message.endswith("invarot: stopped; nothing was half-written\n")
    left = [name for name in os.listdir(folder) if "killed" in name]
    assert left in ([], ["killed"]), message  # all of it or nothing, and no temporary file
    if left:  # the solve was faster than the interrupt: what it wrote must be whole
        assert len(load(folder / "killed").source) == 300


def test_trouble_with_a_disk_is_one_line(monkeypatch, capsys):
    from invarot.cli import app

    monkeypatch.setattr(sys, "argv", ["invarot", "--version"])
    with pytest.raises(SystemExit, match="0"):
        cli.main()  # imports every command, before app is replaced
    capsys.readouterr()

    monkeypatch.setattr(app, "app", lambda: (_ for _ in ()).throw(OSError(28, "No space left on device", "m")))
    with pytest.raises(SystemExit, match="2"):
        cli.main()
    assert capsys.readouterr().err == "invarot: [Errno 28] No space left on device: 'm'\n"


def test_standard_input_and_output(folder):
    text = (folder / "a.vec").read_bytes()
    command = [sys.executable, "-m", "invarot"]
    options = {"capture_output": True, "env": ENV, "timeout": 120, "check": False}
    done = subprocess.run(
        [*command, "align", "-", folder / "b.npz", "-o", folder / "piped", "--report", "-"],
        input=text,
        **options,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"<!DOCTYPE html>")
    assert load(folder / "piped").source.source == "standard input"
    np.testing.assert_array_equal(load(folder / "piped").source_map, load(folder / "m").source_map)
    done = subprocess.run([*command, "export", folder / "m", "-o", "-"], **options)
    assert done.stdout.splitlines()[0].startswith(b"waa\tTwaa\t")
    done = subprocess.run([*command, "export", folder / "m", "-o", "/dev/full"], **options)
    assert (done.returncode, done.stderr) == (2, b"invarot: [Errno 28] No space left on device: '/dev/full'\n")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*command, "translate", folder / "m", "waa"], stdout=full, stderr=-1, env=ENV, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"invarot: [Errno 28] No space left on device\n"
    assert invarot("translate", folder / "m", "-", "-k", 1, stdin="waa\n").stdout.startswith("waa\tTwaa ")


def test_words_cannot_drive_the_terminal(folder, tmp_path):
    model = load(folder / "m")
    odd = ("\x1b[31mred", "\udcff", "\ud800", "\x9b2J", "two\nlines", "\u202edrow")
    odd_model = replace(model, target=Vectors(odd + model.target.words[len(odd) :], model.target.vectors))
    odd_model.save(tmp_path / "m")
    asked = [bests[0] for bests in odd_model.translate(odd, k=1, reverse=True).values()]
    for options in ((), ("--json",)):
        done = invarot("translate", tmp_path / "m", *(word for word, _ in asked), "-k", 3, *options)
        assert done.returncode == 0, done.stderr
        assert not set("\x1b\x9b\u202e") & set(done.stdout)
        assert ("\\u001b[31mred" if options else "\\x1b[31mred") in done.stdout
        assert "\\ud800" in done.stdout
    known = json.loads(done.stdout)
    assert {best["word"] for bests in known.values() for best in bests} >= {odd[0], odd[1], odd[4]}
    strange = subprocess.run(
        [sys.executable, "-m", "invarot", "translate", tmp_path / "m"],
        input=b"\xff\x1b\n",
        capture_output=True,
        env=ENV,
        check=False,
    )
    assert strange.stderr == b"not in the vocabulary: \\udcff\\x1b\n"
    done = invarot("export", tmp_path / "m", "-o", tmp_path / "d.txt")
    assert "left out 1 with a tab or a line break in a word" in done.stderr
    assert len((tmp_path / "d.txt").read_bytes().splitlines()) == 299
    from invarot.report import write_page

    write_page(load(tmp_path / "m"), tmp_path / "page.html")


def test_version():
    done = invarot("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


def test_help_reads_well():
    assert "Commands" in invarot().stdout
    text = invarot("--help").stdout
    for command in ("align", "translate", "evaluate", "export", "demo"):
        assert command in text
    text = invarot("align", "--help").stdout
    assert "--preset" in text
    assert "share an alphabet" in " ".join(text.replace("│", " ").split())


@pytest.mark.parametrize("wrong", ["some", "0", "1.5"])
def test_a_wrong_overlap_is_named(folder, wrong):
    done = invarot("align", folder / "a.vec", folder / "b.npz", "-o", folder / "part", "--overlap", wrong)
    assert done.returncode == 2
    assert "--overlap: expected" in done.stderr
    assert not (folder / "part").exists()


def test_overlap_is_said(folder):
    done = invarot(
        "align",
        folder / "a.vec",
        folder / "b.npz",
        "-o",
        folder / "part",
        "--overlap",
        "auto",
        "--json",
        "--preset",
        "fast",
    )
    summary = json.loads(done.stdout)
    assert summary["overlap"] == pytest.approx([1.0, 1.0], abs=0.05)
    assert summary["untranslated"][0] <= 15
