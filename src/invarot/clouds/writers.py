"""Write point clouds, atomically."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..files import write_file
from .cloud import AXES, NORMALS, Cloud, Floats, as_cloud
from .readers import find_suffix

PLY_TYPES = {"i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint", "f4": "float"}


def write_cloud(path: str | os.PathLike[str], cloud: Any, *, overwrite: bool = True) -> Path:
    """Write a cloud in the format of the suffix, and return the path; ``.gz`` after it compresses.

    ``.ply`` (binary) and ``.csv`` keep normals and columns, ``.obj`` and ``.xyz`` the normals, ``.npy`` the points alone.
    Coordinates keep all digits. ``cloud`` may also be an (n, 3) array. An existing file
    is replaced, unless ``overwrite=False``.
    """
    path = Path(path)
    check_output(path)
    content = _WRITERS[find_suffix(path)](as_cloud(cloud, "cloud"))
    with write_file(path, overwrite=overwrite) as stream:
        stream.write(gzip.compress(content, mtime=0) if path.suffix.lower() == ".gz" else content)
    return path


def check_output(path: Path) -> None:
    """Raise unless a cloud can be written to ``path``."""
    if find_suffix(path) not in _WRITERS:
        raise InputError(
            f"{path}: expected one of {', '.join(_WRITERS)} (also with .gz), got {path.suffix or 'no suffix'}; choose another name"
        )
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: expected a file in a folder that exists, got none; create {path.parent} first")


def _list_columns(cloud: Cloud) -> dict[str, Floats]:
    """Return all columns by name, points first."""
    found = dict(zip(AXES, cloud.points.T, strict=True))
    if cloud.normals is not None:
        found |= zip(NORMALS[0], cloud.normals.T, strict=True)
    return found | dict(cloud.columns)


def _write_ply(cloud: Cloud) -> bytes:
    columns = {name.replace(" ", "_"): values for name, values in _list_columns(cloud).items()}
    kinds = [_find_kind(values) for values in columns.values()]
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(cloud)}"]
    header += [f"property {PLY_TYPES.get(kind, 'double')} {name}" for name, kind in zip(columns, kinds, strict=True)]
    table = np.empty(len(cloud), dtype=[(str(i), f"<{kind}") for i, kind in enumerate(kinds)])
    for i, values in enumerate(columns.values()):
        table[str(i)] = values
    return "\n".join([*header, "end_header\n"]).encode() + table.tobytes()


def _find_kind(values: Floats) -> str:
    """Return the type of a column in a PLY file; what it has no type for is a double."""
    kind = values.dtype.str[1:]
    return kind if kind in PLY_TYPES else "f8"


def _write_rows(columns: list[Floats], separator: str, start: str = "") -> str:
    """Return a line for each point; the shortest digits that restore each number."""
    rows = zip(*(values.tolist() for values in columns), strict=True)
    return "".join(f"{start}{separator.join(map(repr, row))}\n" for row in rows)


def _write_csv(cloud: Cloud) -> bytes:
    columns = _list_columns(cloud)
    return (",".join(columns) + "\n" + _write_rows(list(columns.values()), ",")).encode()


def _write_xyz(cloud: Cloud) -> bytes:
    normals = [] if cloud.normals is None else list(cloud.normals.T)
    return _write_rows([*cloud.points.T, *normals], " ").encode()


def _write_obj(cloud: Cloud) -> bytes:
    normals = "" if cloud.normals is None else _write_rows(list(cloud.normals.T), " ", "vn ")
    return (_write_rows(list(cloud.points.T), " ", "v ") + normals).encode()


def _write_npy(cloud: Cloud) -> bytes:
    stream = io.BytesIO()
    np.save(stream, cloud.points, allow_pickle=False)
    return stream.getvalue()


_WRITERS: dict[str, Callable[[Cloud], bytes]] = {
    ".ply": _write_ply,
    ".csv": _write_csv,
    ".xyz": _write_xyz,
    ".txt": _write_xyz,
    ".obj": _write_obj,
    ".npy": _write_npy,
}
