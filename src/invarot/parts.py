"""Files that are being written: a random name beside the target, locked while they are open, deleted when their writer was killed."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: a file left by a killed writer stays until it is deleted by hand
    fcntl = None  # type: ignore[assignment]

PART = re.compile(r"\.invarot-[0-9a-f]{16}\.part")  # a file that is being written, or was when its writer was killed
NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def create_part(folder: str) -> tuple[str, int]:
    """Create a file of a random name that holds a lock for as long as it is open."""
    while True:
        temporary = os.path.join(folder, f".invarot-{secrets.token_hex(8)}.part")
        try:
            descriptor = os.open(temporary, NEW, 0o666)
        except FileExistsError:
            continue
        _lock(descriptor, wait=True)
        if os.path.exists(temporary):  # else another writer took it for a leftover before it was locked
            return temporary, descriptor
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file; False if it is locked by another, or the file system has no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def lock_folder(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Wait until no other program holds the lock of a folder, and hold it inside; without effect where there are no such locks."""
    descriptor = os.open(folder, os.O_RDONLY) if fcntl is not None else None
    try:
        if descriptor is not None:
            _lock(descriptor, wait=True)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def clear_leftovers(folder: str | os.PathLike[str]) -> None:
    """Delete the files that killed writers left in ``folder``: nobody holds their locks."""
    for left in [entry.path for entry in os.scandir(folder) if PART.fullmatch(entry.name)]:
        try:
            descriptor = os.open(left, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError:  # gone, somebody else's, or not a file
            continue
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor, wait=False):
                Path(left).unlink(missing_ok=True)
        finally:
            os.close(descriptor)
