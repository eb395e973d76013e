"""Reading and writing what the user named: files, links, pipes, devices, standard input and output."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from invarot import files, parts
from invarot.errors import InputError, MemoryBound
from invarot.files import check_target, find_descriptor, local_file, reading, write_file
from invarot.parts import clear_leftovers

as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")


def put(path: object, content: bytes, **options: bool) -> None:
    with write_file(path, **options) as stream:
        stream.write(content)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


# -- writing ---------------------------------------------------------------------------------------------------------


def test_a_new_file_and_a_replaced_one(tmp_path):
    path = tmp_path / "a"
    put(path, b"one")
    path.chmod(0o640)
    put(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(tmp_path) == ["a"]


def test_nothing_is_overwritten_unasked(tmp_path):
    path = tmp_path / "a"
    put(path, b"mine", overwrite=False)
    with pytest.raises(InputError, match=r"where there is a file of 4 bytes of 20\d\d-.*--force"):
        put(path, b"new", overwrite=False)
    assert path.read_bytes() == b"mine"


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_stays(tmp_path, monkeypatch, links):
    path = tmp_path / "a"
    if not links:
        monkeypatch.setattr(files.os, "link", lambda *_: (_ for _ in ()).throw(OSError("no hard links here")))
    with pytest.raises(InputError, match="expected a new file"), write_file(path, overwrite=False):
        path.write_bytes(b"mine")
    assert path.read_bytes() == b"mine"
    assert names(tmp_path) == ["a"]
    put(tmp_path / "b", b"new", overwrite=False)
    assert names(tmp_path) == ["a", "b"]


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), write_file(path) as stream:
        stream.write(b"half" * (1 // 0))
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_a_link_is_followed_and_stays(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("made")
    put(tmp_path / "link", b"new")
    put(tmp_path / "dangling", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dangling").is_symlink()
    assert (tmp_path / "real").read_bytes() == (tmp_path / "made").read_bytes() == b"new"
    with pytest.raises(InputError, match="expected a new file"):
        put(tmp_path / "link", b"other", overwrite=False)


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "precious").write_bytes(b"mine")
    tokens = iter(["0" * 16, "0" * 16, "1" * 16])
    (tmp_path / f".invarot-{'0' * 16}.part").symlink_to("precious")
    monkeypatch.setattr(parts.secrets, "token_hex", lambda size: next(tokens))
    put(tmp_path / "a", b"new")
    assert (tmp_path / "precious").read_bytes() == b"mine"
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_pipe_is_written_through(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    put(pipe, b"through", overwrite=False)
    reader.join()
    assert got == [b"through"]
    assert pipe.is_fifo()


def test_devices_stay_devices(tmp_path):
    put("/dev/null", b"gone", overwrite=False)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(OSError, match="No space left"):
        put("/dev/full", b"x")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "link"])
def test_standard_output(tmp_path, name):
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = f"from invarot.files import write_file\nwith write_file({name!r}, overwrite=False) as s: s.write(b'out')"
    piped = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True)
    assert piped.stdout == b"out"
    with open(tmp_path / "file", "wb") as stream:  # as the shell does: > file
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=stream, check=True)
    with open(tmp_path / "file", "ab") as stream:  # and >> file
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stdout=stream, check=True)
    assert (tmp_path / "file").read_bytes() == b"outout"
    assert (tmp_path / "link").is_symlink()
    assert stat.S_ISLNK(os.lstat("/dev/stdout").st_mode)


def test_a_full_disk(tmp_path):
    """A limit on the size of files stands in for a full disk: the error is the system's, nothing is half-written."""
    code = (
        "import resource, sys\nfrom invarot.files import write_file\nresource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "with write_file('a') as s: s.write(b'x' * 1000)"
    )
    (tmp_path / "a").write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "OSError: [Errno 27] File too large" in done.stderr
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("name", ["no/such", "", "a\0b", "x" * 300])
def test_places_that_cannot_be_written(tmp_path, name):
    with pytest.raises(InputError, match="path: expected a file"):
        check_target(f"{tmp_path}/{name}")


@as_root
def test_read_only_files_and_folders(tmp_path):
    (tmp_path / "a").write_bytes(b"mine")
    (tmp_path / "a").chmod(0o444)
    with pytest.raises(InputError, match="which is read-only"):
        put(tmp_path / "a", b"new")
    tmp_path.chmod(0o555)
    with pytest.raises(InputError, match="in a writable directory"):
        put(tmp_path / "b", b"new")
    tmp_path.chmod(0o755)
    assert names(tmp_path) == ["a"]


def test_many_writers_of_one_path(tmp_path):
    path = tmp_path / "a"
    contents = [bytes([number]) * 50_000 for number in range(4)]
    put(path, contents[0])
    stop = threading.Event()
    failures: list[BaseException] = []

    def write(content: bytes) -> None:
        while not stop.is_set():
            try:
                put(path, content)
            except BaseException as error:
                failures.append(error)
                return

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in writers:
        thread.start()
    try:
        assert all(path.read_bytes() in contents for _ in range(240))
    finally:
        stop.set()
        for thread in writers:
            thread.join()
    assert not failures
    assert names(tmp_path) == ["a"]


def test_leftovers_of_the_dead_are_cleared_and_those_of_the_living_stay(tmp_path):
    dead = tmp_path / f".invarot-{'0' * 16}.part"
    dead.write_bytes(b"half")
    (tmp_path / ".invarot-notes.part").write_bytes(b"somebody's")
    with write_file(tmp_path / "a") as stream:
        stream.write(b"x")
        assert not dead.exists()
        clear_leftovers(tmp_path)
        put(tmp_path / "b", b"y")
    assert names(tmp_path) == [".invarot-notes.part", "a", "b"]


# -- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [RuntimeError, NotImplementedError, AttributeError, RecursionError, EOFError, KeyError]
)
def test_whatever_a_parser_raises_names_the_file(error):
    with (
        pytest.raises(InputError, match="here: expected a valid file, got a damaged or different one"),
        reading("here"),
    ):
        raise error("within")


def test_the_guard_lets_our_errors_through():
    with pytest.raises(InputError, match=r"^mine$"), reading("here"):
        raise InputError("mine")
    with pytest.raises(MemoryBound, match=r"^here: expected a file that fits memory"), reading("here"):
        raise MemoryError
    with (
        pytest.raises(InputError, match="here: expected a file that can be read, got: Permission denied"),
        reading("here"),
    ):
        raise PermissionError(13, "Permission denied")
    with pytest.raises(KeyboardInterrupt), reading("here"):
        raise KeyboardInterrupt


def test_pipes_and_devices_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, what in ((tmp_path / "pipe", "a named pipe"), ("/dev/zero", "a device"), (tmp_path, "a directory")):
        with pytest.raises(InputError, match=f"got {what}"), local_file(path):
            pass


def test_standard_input(tmp_path):
    code = "from invarot.files import local_file\nwith local_file('-') as p: print(p.read_bytes())"
    done = subprocess.run([sys.executable, "-c", code], input=b"in", capture_output=True, check=True)
    assert done.stdout == b"b'in'\n"


def test_descriptors(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    assert [find_descriptor(name, 7) for name in ("-", "/dev/fd/3", "/proc/self/fd/12", "/dev/stderr")] == [7, 3, 12, 2]
    assert [find_descriptor(name, 7) for name in ("a", "/dev/null", tmp_path / "loop", "a\0")] == [None] * 4
