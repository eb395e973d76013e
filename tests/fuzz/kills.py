"""Kill the command line at random moments and before random file operations; then look at what is there.

Each run is a forked child that calls the command line. SIGKILL comes after a random time, or before the k-th time that
the child opens, renames, links or deletes a file, which is where something could be left half-done.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from invarot.folders import TRANSLATION
from invarot.translation import load
from invarot.words import write_vectors

from ..saved import take_apart
from ..translation.pairs import rotated_pair

OPERATIONS = ("open", "os.rename", "os.remove", "os.link", "os.mkdir", "os.chmod", "os.rmdir")
MOST = {
    "align": 13,
    "checkpoint": 35,
    "export": 6,
    "export vectors": 7,
    "migrate": 30,
    "migrate --force": 36,
}  # about as many operations as each makes
MAPPED = "mapped.npz"
VERDICTS = 0, 3, 4  # exit codes of every verdict: the model is written all the same


def run_child(
    words: list[str], folder: Path, *, die_at: int | None = None, after: float | None = None
) -> tuple[int, float]:
    """Run the command line in a child; return its exit code (−9 if it was killed) and the seconds it took."""
    begun = time.perf_counter()
    child = os.fork()
    if not child:
        code = 1
        with contextlib.suppress(BaseException):
            code = _run_command(words, folder, die_at)
        os._exit(code)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), time.perf_counter() - begun


def _run_command(words: list[str], folder: Path, die_at: int | None) -> int:
    os.chdir(folder)
    quiet = os.open("/dev/null", os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    done = 0

    def count(event: str, values: tuple[Any, ...]) -> None:
        nonlocal done
        if event in OPERATIONS and str(folder) in os.path.abspath(str(values[0])):
            done += 1
            if done == die_at:
                os.kill(os.getpid(), signal.SIGKILL)

    if die_at is not None:
        sys.addaudithook(count)
    sys.argv = ["invarot", *words]
    from invarot.cli import main

    try:
        main()
    except SystemExit as done_with:
        return int(done_with.code or 0)
    return 0


def read_all(folder: Path) -> tuple[dict[str, bytes], str]:
    """Return what a translation holds, without the seconds that its steps took."""
    arrays, facts = take_apart(folder, TRANSLATION)
    for name in ("checksum", "arrays"):
        facts.pop(name)
    for step in facts["steps"]:
        step.pop("seconds")
    return {name: array.tobytes() for name, array in arrays.items()}, repr(sorted(facts.items()))


def read_store(folder: Path) -> dict[str, bytes]:
    """Return what the mapped store holds."""
    with np.load(folder / MAPPED, allow_pickle=False) as arrays:
        return {name: arrays[name].tobytes() for name in arrays}


class Kills:
    """The files of one series of kills, and how everything looks when nobody kills."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

        source, target, _ = rotated_pair(40, d=3)
        write_vectors(folder / "a.vec", source.words, source.vectors)
        write_vectors(folder / "b.npz", target.words, target.vectors)
        align = ["align", "a.vec", "b.npz", "--preset", "paper", "--quiet", "--force"]
        self.commands = {
            "align": [*align, "-o", "m"],
            "checkpoint": [*align, "-o", "k", "--checkpoint", "c"],
            "export": ["export", "whole", "-o", "d.txt", "--force"],
            "export vectors": ["export", "whole", "--format", "vec", "-o", "v", "--force"],
            "migrate": ["migrate", "old.npz", "new.npz", "--map-store", MAPPED, "--check-pairs", "ids", "--at-least", "0",
                        "--sample", "200", "--effort", "quick", "--quiet"],
        }  # fmt: skip
        self.commands["migrate --force"] = [*self.commands["migrate"], "--force"]
        self._make_stores()
        self._must(["align", "b.npz", "a.vec", "--preset", "fast", "-o", "old", "--quiet"])
        self._must([*align, "-o", "whole"])
        self.seconds = {name: self._must(words) for name, words in self.commands.items()}
        self.whole = {name: (folder / name).read_bytes() for name in ("d.txt", "v.source.vec", "v.target.vec")}
        self.new, self.old = read_all(folder / "whole"), read_all(folder / "old")
        self.mapped = read_store(folder)
        self.replaced = {"vectors": np.eye(240, 3, dtype=np.float32)}  # by migrate --force

    def _make_stores(self) -> None:
        rng = np.random.default_rng(0)
        texts, turn = rng.gamma(1.0, size=(240, 3)), np.linalg.qr(rng.normal(size=(3, 3)))[0]
        ids = np.array([f"t{k}" for k in range(len(texts))])
        for name, vectors in (("old.npz", texts), ("new.npz", texts @ turn)):
            np.savez(self.folder / name, vectors=vectors.astype(np.float32), ids=ids)

    def _must(self, words: list[str]) -> float:
        code, seconds = run_child(words, self.folder)
        assert code in VERDICTS, f"{words} ended with {code}"
        return seconds

    def try_kill(self, rng: Random) -> str:
        """Kill one command and check what it left; then run it again, and check that too."""
        name = rng.choice(sorted(self.commands))
        self._prepare(name, rng)
        aimed = {"die_at": rng.randint(1, MOST[name])}
        timed = {"after": rng.random() * self.seconds[name]}
        code, _ = run_child(self.commands[name], self.folder, **(aimed if rng.random() < 0.7 else timed))
        self._check(name, finished=code != -signal.SIGKILL)
        if name != "migrate" or not (self.folder / MAPPED).exists():  # a store that is there is not written again
            self._must(self.commands[name])
        self._check(name, finished=True)
        left = [str(path) for pattern in (".invarot-*", "*.part", "*.replac*") for path in self.folder.rglob(pattern)]
        assert not left, f"left behind: {left}"
        return f"{name}, killed" if code == -signal.SIGKILL else f"{name}, too late"

    def _prepare(self, name: str, rng: Random) -> None:
        for path in ("m", "k", "c"):
            shutil.rmtree(self.folder / path, ignore_errors=True)
        for found in self.folder.glob(f"{Path(MAPPED).stem}*"):
            shutil.rmtree(found) if found.is_dir() else found.unlink()
        for path in self.whole:
            (self.folder / path).unlink(missing_ok=True)
        if name == "migrate --force":
            np.savez(self.folder / MAPPED, **self.replaced)
        if rng.random() < 0.5:  # something to be replaced
            for path in ("m", "k"):
                shutil.copytree(self.folder / "old", self.folder / path)
            for path in self.whole:
                (self.folder / path).write_bytes(b"old")

    def _check(self, name: str, *, finished: bool) -> None:
        if name == "migrate --force":
            found, old = read_store(self.folder), {key: array.tobytes() for key, array in self.replaced.items()}
            assert found == self.mapped or (found == old and not finished), "the mapped store is neither old nor new"
            return
        if name == "migrate":
            if finished or (self.folder / MAPPED).exists():
                assert read_store(self.folder) == self.mapped, "the mapped store is not whole"
            return
        if name.startswith("export"):
            for path, content in self.whole.items():
                if (path == "d.txt") == (name == "export") and (finished or (self.folder / path).exists()):
                    found = (self.folder / path).read_bytes()
                    assert found == content or (found == b"old" and not finished), f"{path} is not whole"
            return
        folder = self.folder / ("m" if name == "align" else "k")
        if finished or (folder / TRANSLATION.file).exists():
            load(folder)
            found = read_all(folder)
            assert found == self.new or (found == self.old and not finished), f"{folder.name} is neither old nor new"
