"""Read point clouds and the vertices of meshes."""

from __future__ import annotations

import gzip
import io
import math
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from tokenize import TokenError

import numpy as np

from ..errors import InputError
from ..files import check_file, reading
from ..words.packed import open_stream
from .cloud import Cloud, build_cloud
from .ply import parse_ply
from .text import parse_obj, parse_table


def read_cloud(path: str | os.PathLike[str]) -> Cloud:
    """Read a point cloud, or the vertices of a mesh; the format is that of the suffix, ``.gz`` after it unpacks.

    Parameters
    ----------
    path : file
        ``.ply``: ascii or binary, faces and other elements skipped. ``.obj``: the ``v`` lines. ``.xyz``, ``.txt``, ``.pts``,
        ``.csv``: numbers separated by commas, semicolons, tabs or blanks; a header that names x, y and z decides which columns
        they are, else they are the first three. ``.npy``: an array (n, ≥ 3), or with fields x, y, z.

    Returns
    -------
    Cloud
        Points, normals where the file names them (nx, ny, nz), and all other columns of numbers.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.csv"
    >>> _ = path.write_text("intensity,x,y,z\\n9,0,0,1\\n8,0,2,0\\n7,3,0,0\\n")
    >>> cloud = read_cloud(path)
    >>> cloud.points.shape, list(cloud.columns)
    ((3, 3), ['intensity'])
    """
    path = Path(path)
    suffix = find_suffix(path)
    if suffix not in PARSERS:
        raise InputError(
            f"{path}: expected one of {', '.join(PARSERS)} (also with .gz), got {path.suffix or 'no suffix'}; rename or "
            "convert the file"
        )
    check_file(path)
    with reading(path):
        data = _read_all(path)
        if not data:
            raise InputError(f"{path}: expected points, got an empty file; copy or export it again")
        return PARSERS[suffix](data, str(path))


def _read_all(path: Path) -> bytes:
    try:
        with open_stream(path) as stream:
            return stream.read()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"{path}: expected a whole gzip file, got a damaged or truncated one; copy it again"
        ) from error


def find_suffix(path: Path) -> str:
    """Return the suffix that names the format, in lower case, ``.gz`` aside."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def parse_npy(data: bytes, source: str) -> Cloud:
    """Return the points of an .npy file; the header's claim is checked before memory is taken, and nothing is unpickled."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except (ValueError, SyntaxError, EOFError, TokenError) as error:
        raise InputError(
            f"{source}: expected a file written by np.save, got another ({error}); save it again"
        ) from error
    fields = [name for name in dtype.names or () if dtype[name].kind in "fiu"]
    plain = len(shape) == (1 if fields else 2) and (fields or dtype.kind in "fiu")
    if dtype.hasobject or not plain or min(shape) < 1:
        raise InputError(
            f"{source}: expected an array (n, 3) of numbers, got shape {shape} of {dtype}; save the points with np.save"
        )
    count, room = math.prod(shape), len(data) - stream.tell()
    if count * dtype.itemsize > room:
        raise InputError(
            f"{source}: expected {count * dtype.itemsize} bytes of numbers, as its header says, got {room}; the file is cut "
            "short or damaged: copy or save it again"
        )
    array = np.frombuffer(data, dtype=dtype, count=count, offset=stream.tell())
    if fields:
        return build_cloud(fields, [array[name] for name in fields], source)
    table = array.reshape(shape, order="F" if fortran else "C")
    return build_cloud([f"column{i + 1}" for i in range(shape[1])], list(table.T), source)


def _table(suffix: str) -> Callable[[bytes, str], Cloud]:
    return lambda data, source: parse_table(data, source, suffix=suffix)


PARSERS: dict[str, Callable[[bytes, str], Cloud]] = {
    ".ply": parse_ply,
    ".obj": parse_obj,
    **{suffix: _table(suffix) for suffix in (".xyz", ".txt", ".pts", ".csv")},
    ".npy": parse_npy,
}
