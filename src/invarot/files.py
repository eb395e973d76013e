"""Files as the caller names them: one guard around everything that reads, one function that writes.

``-`` is standard input or output, and so are ``/dev/stdin``, ``/dev/stdout`` and ``/dev/fd/N``. A regular file is written
beside its place under a random name and moved there when it is whole; a pipe or a device is written straight through.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import InputError, MemoryBound, MissingExtra
from .parts import clear_leftovers, create_part

Name = str | os.PathLike[str]
STANDARD = "-"
KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


# -- reading ---------------------------------------------------------------------------------------------------------


@contextmanager
def reading(path: object) -> Iterator[None]:
    """Turn whatever a parser raises over the file ``path`` into an `InputError` that names the file."""
    try:
        yield
    except (InputError, MemoryBound, MissingExtra):
        raise
    except MemoryError as error:
        raise MemoryBound(f"{path}: expected a file that fits memory, got too large a one; read fewer words") from error
    except Exception as error:
        if isinstance(error, OSError) and error.strerror:  # a damaged gzip file is an OSError too, without one
            raise InputError(f"{path}: expected a file that can be read, got: {error.strerror}; check it") from error
        raise InputError(
            f"{path}: expected a valid file, got a damaged or different one ({type(error).__name__}: {str(error)[:200]}); "
            "copy or download it again"
        ) from error


@contextmanager
def local_file(path: Name) -> Iterator[Path]:
    """Yield a regular file with the content of ``path``: the file itself, or a copy of what standard input gives."""
    descriptor = find_descriptor(path, 0)
    if descriptor is None:
        check_file(path)
        yield Path(path)
        return
    with tempfile.NamedTemporaryFile(prefix="invarot-") as copy:
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            shutil.copyfileobj(stream, copy)
        copy.flush()
        try:
            yield Path(copy.name)
        except InputError as error:  # should name what the caller named
            raise InputError(str(error).replace(copy.name, name_path(path))) from error


def check_file(path: Name) -> None:
    """Raise unless ``path`` is a regular file: a pipe without a writer would hang, a device never end."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError as error:
        raise InputError(f"{path}: expected a file, got no such file; check the path") from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{path}: expected a file, got a directory; pass the file inside it")
    if not stat.S_ISREG(mode):
        kind = next((name for is_kind, name in KINDS if is_kind(mode)), "something else")
        raise InputError(f"{path}: expected a regular file, got {kind}; pass - and redirect it: < {path}")


def name_path(path: Name, standard: str = "standard input") -> str:
    """Return ``path`` as a message should show it: ``standard`` for ``-``."""
    return standard if os.fspath(path) == STANDARD else str(path)


def find_descriptor(path: Name, standard: int) -> int | None:
    """Return the open descriptor that ``path`` names: ``standard`` for ``-``, N for /dev/fd/N or a link to it; else None."""
    name = os.fspath(path)
    if name == STANDARD:
        return standard
    for _ in range(40):  # the most links that Linux follows
        found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,9})", name)
        if found:
            return int(found[1])
        if "\0" in name or not os.path.islink(name):
            return None
        name = os.path.normpath(os.path.join(os.path.dirname(name), os.readlink(name)))
    return None


# -- writing ---------------------------------------------------------------------------------------------------------


def check_target(path: Name, *, overwrite: bool = True, name: str = "path") -> None:
    """Raise unless `write_file` can write to ``path``; the message says what is there."""
    if find_descriptor(path, 1) is not None:
        return
    try:
        found: os.stat_result | None = os.stat(path)
    except FileNotFoundError:
        found = None  # or a link to a file that is not there yet
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: expected a file to write to, got {str(path)!r} ({error}); choose another") from error
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise InputError(
            f"{name}: expected a file in an existing directory, got {path}, which is a directory; name a file in it"
        )
    if found is not None and stat.S_ISREG(found.st_mode) and not overwrite:
        raise _already_there(path, name)
    if found is not None and not os.access(path, os.W_OK):
        raise InputError(f"{name}: expected a file that can be written, got {path}, which is read-only; choose another")
    if found is None or stat.S_ISREG(found.st_mode):
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            raise InputError(
                f"{name}: expected a file in an existing directory, got {path}; create the directory first"
            )
        if not os.access(folder, os.W_OK):
            raise InputError(f"{name}: expected a file in a writable directory, got {path}; choose another")


def _already_there(path: Name, name: str) -> InputError:
    found = os.stat(path)
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.st_mtime))
    return InputError(
        f"{name}: expected a new file, got {path}, where there is a file of {found.st_size:,} bytes of {when}; choose "
        "another path, or overwrite it with --force (overwrite=True)"
    )


@contextmanager
def write_file(path: Name, *, overwrite: bool = True, name: str = "path") -> Iterator[BinaryIO]:
    """Open ``path`` for writing, whatever it is; if the block fails, a regular file stays as it was.

    Parameters
    ----------
    path : the file, which may be new; a link is followed; a pipe or a device is written straight through
    overwrite : whether an existing regular file may be replaced
    name : the argument that errors name
    """
    check_target(path, overwrite=overwrite, name=name)
    try:
        with _open_target(path, overwrite, name) as stream:
            yield stream
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(
            error.errno, error.strerror, name_path(path, "standard output")
        ) from error  # a full disk names no file


@contextmanager
def _open_target(path: Name, overwrite: bool, name: str) -> Iterator[BinaryIO]:
    descriptor = find_descriptor(path, 1)
    if descriptor is not None:
        sys.stdout.flush()
        with os.fdopen(os.dup(descriptor), "wb") as stream:
            yield stream
    elif os.path.exists(path) and not os.path.isfile(path):
        with os.fdopen(os.open(path, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)), "wb") as stream:
            yield stream
    else:
        with _write_beside(os.path.realpath(path), overwrite, name) as stream:
            yield stream


@contextmanager
def _write_beside(target: str, overwrite: bool, name: str) -> Iterator[BinaryIO]:
    folder = os.path.dirname(target)
    clear_leftovers(folder)
    temporary, descriptor = create_part(folder)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            if os.path.exists(target):
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
            os.fsync(stream.fileno())
            if overwrite:
                os.replace(temporary, target)
            else:
                _put_new(temporary, target, name)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _put_new(temporary: str, target: str, name: str) -> None:
    """Move ``temporary`` to ``target`` unless there is something: a link, unlike a rename, replaces nothing."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise _already_there(target, name) from None
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise _already_there(target, name) from None
        os.rename(temporary, target)
    else:
        os.unlink(temporary)
