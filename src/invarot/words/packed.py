"""Compressed files: what they unpack to is bounded, so that a small file cannot fill the memory."""

from __future__ import annotations

import gzip
import math
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import InputError

GZIP_TIMES = 50  # times its size that a file may unpack to; words and numbers reach about 5
NPZ_TIMES = 200  # more, since NumPy pads all words to the longest
ALWAYS = 1 << 23  # bytes that any file may unpack to
UNPACKED_BLOCK = 1 << 20


def open_stream(path: Path) -> BinaryIO:
    """Open the file, decompressed if it is gzip."""
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    return BoundedGzip(path) if packed else path.open("rb")  # type: ignore[return-value]


class BoundedGzip(gzip.GzipFile):
    """A gzip file that refuses to unpack to very many times its size."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self.most = find_most(path, GZIP_TIMES)

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(UNPACKED_BLOCK), b""))
        content = super().read(size)
        check_unpacked(self.name, self.tell(), self.most)
        return content


def find_most(path: Path, times: int) -> int:
    """Return the number of bytes that a file may unpack to."""
    return max(ALWAYS, times * path.stat().st_size)


def check_unpacked(path: Any, size: int, most: int) -> None:
    if size > most:
        raise InputError(
            f"{path}: expected a file that unpacks to at most {most >> 20} MiB, going by its size, got more; if it is genuine, "
            "unpack it first"
        )


def read_members(path: Path, names: tuple[str, ...]) -> list[np.ndarray[Any, Any]]:
    """Read arrays of an npz file, without unpickling; their sizes are checked before anything is unpacked."""
    with zipfile.ZipFile(path) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        if not members.keys() >= set(names):
            wanted = " and ".join(map(repr, names))
            raise InputError(f"{path}: expected arrays {wanted}, got {sorted(members)[:20]}; rename them")
        chosen = [members[name] for name in names]
        check_unpacked(path, sum(member.file_size for member in chosen), find_most(path, NPZ_TIMES))
        return [_read_member(path, archive, member) for member in chosen]


def _read_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray[Any, Any]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # all that NumPy writes
        raise InputError(f"{path}: expected members stored or deflated, got another compression; save it with np.savez")
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in read_header:
            raise InputError(f"{path}: expected plain arrays, got npy version {version}; save them with np.savez")
        shape, _, dtype = read_header[version](stream)
    if dtype.hasobject:
        raise InputError(
            f"{path}: expected plain arrays, got a pickle, which can run code and is not read; save the words with "
            "np.array(words, dtype=str)"
        )
    if not dtype.itemsize or math.prod(shape) * dtype.itemsize > member.file_size:
        raise InputError(f"{path}: expected {member.filename} of shape {shape}, got fewer bytes; copy the file again")
    with archive.open(member) as stream:
        found: np.ndarray[Any, Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return found
