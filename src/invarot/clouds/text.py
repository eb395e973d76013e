"""Points as text: tables of numbers (.xyz, .txt, .pts, .csv) and the vertices of an OBJ file."""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ..errors import InputError
from ..words.decimals import is_number
from .cloud import AXES, Cloud, Floats, build_cloud, clean_name

COMMENTS = ("#", "//")
PREAMBLE = 100  # lines before the numbers, at most
PTS = {4: ("intensity",), 6: ("red", "green", "blue"), 7: ("intensity", "red", "green", "blue")}
COLOURS = ("red", "green", "blue")
VERTEX = re.compile(rb"^[ \t]*v[ \t]+(.*)$", re.MULTILINE)
NORMAL = re.compile(rb"^[ \t]*vn[ \t]+(.*)$", re.MULTILINE)
FACE = re.compile(rb"^[ \t]*f[ \t]", re.MULTILINE)


@dataclass(frozen=True)
class Layout:
    """How a table is written: what separates its columns, which of them are numbers, their names, the number of rows it claims."""

    delimiter: str | None
    first: int  # line with the first numbers
    numbers: tuple[int, ...]
    names: tuple[str, ...]
    claimed: int | None


def parse_table(data: bytes, source: str, *, suffix: str) -> Cloud:
    """Return the points of a table: columns x, y, z where a header names them, else the first three columns of numbers."""
    text = decode_text(data, source)
    start = text[:4096]
    if ";" in start and "," in start and "." not in start:  # decimal commas
        text = text.replace(",", ".")
    comments = "#" if "//" not in text else list(COMMENTS)  # one sign is read several times faster
    layout = _find_layout(text, source)
    stream = io.StringIO(text)
    for _ in range(layout.first):
        stream.readline()
    try:
        table = np.loadtxt(stream, delimiter=layout.delimiter, comments=comments, usecols=layout.numbers, ndmin=2)
    except ValueError as error:
        raise InputError(
            f"{source}: expected rows of {len(layout.numbers)} numbers from line {layout.first + 1} on, got others ({error}); "
            "the file may be cut short: repair or drop that line"
        ) from error
    if layout.claimed is not None and layout.claimed != len(table):
        raise InputError(
            f"{source}: expected {layout.claimed} points, as its first line says, got {len(table)}; the file may be cut short"
        )
    names = list(layout.names)
    if suffix == ".pts" and len(names) in PTS and names[3].startswith("column"):
        names[3:] = PTS[len(names)]
    return build_cloud(names, list(table.T), source)


def decode_text(data: bytes, source: str) -> str:
    """Return the text of a file; raise for one that is none."""
    if b"\0" in data[:65536]:
        raise InputError(
            f"{source}: expected text, got binary data; check that the name ends in the format that the file is in"
        )
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _find_layout(text: str, source: str) -> Layout:
    """Read the lines before the first row of at least three numbers: comments, a count, a header."""
    header: list[str] = []
    claimed = None
    for at, line in enumerate(islice(io.StringIO(text), PREAMBLE)):
        bare = line.strip()
        comment = bare.startswith(COMMENTS)
        delimiter = _find_delimiter(bare)
        fields = [one.strip() for one in bare.lstrip("#/ ").split(delimiter)]
        numbers = tuple(i for i, one in enumerate(fields) if is_number(one))
        named = len(header) == len(fields) and not any(map(is_number, header))
        axes = {i for i, name in enumerate(header) if named and clean_name(name) in AXES}
        if comment or not bare:
            header = fields if bare else header
        elif len(numbers) >= 3 and "" not in fields[: numbers[2]] and axes <= set(numbers):
            names = header if named else [f"column{i + 1}" for i in range(len(fields))]
            return Layout(delimiter, at, numbers, tuple(names[i] for i in numbers), claimed)
        elif len(fields) == 1 and bare.isdigit() and claimed is None:
            claimed = int(bare)
        elif not numbers:
            header = fields
        else:
            raise InputError(
                f"{source}: expected rows of at least three numbers (x, y, z), got {bare[:60]!r} in line {at + 1}; "
                "repair or drop that line"
            )
    raise InputError(f"{source}: expected rows of at least three numbers (x, y, z), got none; check the format")


def _find_delimiter(line: str) -> str | None:
    """Return the character that separates columns; None for blanks."""
    return next((one for one in (";", ",", "\t") if one in line), None)


def parse_obj(data: bytes, source: str) -> Cloud:
    """Return the vertices of an OBJ file, with colours where each has them; normals only where there are no faces to assign them."""
    decode_text(data[:65536], source)
    table = _read_lines(VERTEX.findall(data), "v", source)
    if not len(table):
        raise InputError(f"{source}: expected points (lines 'v x y z'), got none; check the format")
    columns = dict(zip(COLOURS, table.T[-3:], strict=True)) if table.shape[1] in (6, 7) else {}
    normals = None
    if FACE.search(data) is None:
        found = NORMAL.findall(data)
        normals = _read_lines(found, "vn", source)[:, :3] if len(found) == len(table) else None
    return Cloud(table[:, :3], normals, columns, source)


def _read_lines(lines: list[bytes], keyword: str, source: str) -> Floats:
    """Return the numbers of lines of one kind; where their lengths differ, the first three."""
    if not lines:
        return np.empty((0, 3))
    text = "\n".join(line.decode("latin-1") for line in lines)
    problem: Exception
    for columns in (None, range(3)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # NumPy warns where no line has numbers
                table: Floats = np.loadtxt(io.StringIO(text), comments="#", ndmin=2, usecols=columns)
        except (ValueError, UserWarning) as error:
            problem = error
            continue
        if table.shape[1] >= 3 and len(table) == len(lines):
            return table
        problem = ValueError(f"{table.shape[1]} columns in {len(table)} of {len(lines)} lines")
    raise InputError(
        f"{source}: expected lines '{keyword} x y z', got others ({problem}); the file may be cut short: repair or drop them"
    )
