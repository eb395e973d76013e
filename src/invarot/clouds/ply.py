"""The vertices of a PLY file: ascii or binary, of either byte order."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..errors import InputError
from .cloud import Cloud, Floats, build_cloud

TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4", "double": "f8",
    "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "float32": "f4",
    "float64": "f8", "int64": "i8", "uint64": "u8",
}  # fmt: skip
ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
END = re.compile(rb"(?:^|[\r\n])end_header[ \t]*(\r\n|\n|\r)")
DAMAGED = "the file is cut short or damaged; copy or export it again"


@dataclass(frozen=True)
class Property:
    """A value per row, or a list of them: ``counter`` is then the type of the number of its values."""

    name: str
    kind: str
    counter: str | None = None


@dataclass(frozen=True)
class Element:
    name: str
    count: int
    properties: tuple[Property, ...] = ()

    @property
    def scalars(self) -> list[Property]:
        return [one for one in self.properties if one.counter is None]

    @property
    def has_lists(self) -> bool:
        return len(self.scalars) < len(self.properties)

    def least_size(self) -> int:
        """Return the number of bytes of a binary row whose lists are empty."""
        return sum(np.dtype(one.counter or one.kind).itemsize for one in self.properties)


def parse_ply(data: bytes, source: str) -> Cloud:
    """Return the vertices of a PLY file; its faces and other elements are skipped."""
    if not data.startswith(b"ply"):
        raise InputError(f"{source}: expected a PLY file, which begins with 'ply', got {data[:8]!r}; check the format")
    end = END.search(data)
    if end is None:
        raise InputError(f"{source}: expected a PLY header that ends with 'end_header', got none; {DAMAGED}")
    order, elements = _parse_header(data[: end.start()], source)
    names = [element.name for element in elements]
    if "vertex" not in names or elements[names.index("vertex")].count == 0:
        raise InputError(f"{source}: expected points (element vertex), got none; export the vertices or points")
    at = names.index("vertex")
    vertex = elements[at]
    missing = sorted({"x", "y", "z"} - {one.name.lower() for one in vertex.scalars})
    if missing:
        raise InputError(
            f"{source}: expected vertices with properties x, y and z, got none named {', '.join(missing)}; rename them"
        )
    if order == "":
        columns = _read_ascii(data[end.end() :], elements[:at], vertex, source)
    else:
        offset = end.end()
        for element in elements[:at]:
            offset = _skip_binary(data, offset, element, order, source)
        columns = _read_binary(data, offset, vertex, order, source)
    return build_cloud([one.name for one in vertex.scalars], columns, source)


def _parse_header(header: bytes, source: str) -> tuple[str, list[Element]]:
    """Return the byte order ("" for ascii) and the elements in their order."""
    order: str | None = None
    elements: list[Element] = []
    for line in header.decode("latin-1").splitlines()[1:]:
        words = line.split()
        try:
            if words[:1] == ["format"]:
                order = ORDERS[words[1]]
            elif words[:1] == ["element"]:
                elements.append(Element(words[1], int(words[2])))
                if elements[-1].count < 0:
                    raise ValueError(line)
            elif words[:1] == ["property"]:
                last = elements.pop()
                elements.append(Element(last.name, last.count, (*last.properties, _parse_property(words))))
        except (KeyError, IndexError, ValueError) as error:
            raise InputError(f"{source}: expected a PLY header, got the line {line[:80]!r}; {DAMAGED}") from error
    if order is None:
        raise InputError(f"{source}: expected a format line in the PLY header, got none; {DAMAGED}")
    return order, elements


def _parse_property(words: list[str]) -> Property:
    if words[1] == "list":
        counter = TYPES[words[2]]
        if counter.startswith("f"):
            raise ValueError(words)
        return Property(words[4], TYPES[words[3]], counter)
    return Property(words[2], TYPES[words[1]])


def _check_room(element: Element, each: int, room: int, source: str) -> None:
    """Raise unless ``room`` bytes can hold rows of at least ``each`` bytes, before anything is allocated."""
    needed = element.count * each
    if needed > room:
        raise InputError(
            f"{source}: expected {element.count} rows of element {element.name} ({needed} bytes or more), as the header says, got "
            f"{room}; {DAMAGED}"
        )


def _skip_binary(data: bytes, offset: int, element: Element, order: str, source: str) -> int:
    """Return where the element ends."""
    _check_room(element, element.least_size(), len(data) - offset, source)
    if not element.has_lists:
        return offset + element.count * element.least_size()
    return _walk_rows(data, offset, element, order, source)[1]


def _read_binary(data: bytes, offset: int, vertex: Element, order: str, source: str) -> list[Floats]:
    """Return the columns of the scalar properties, in native byte order."""
    _check_room(vertex, vertex.least_size(), len(data) - offset, source)
    scalars = vertex.scalars
    row = np.dtype([(str(i), order + one.kind) for i, one in enumerate(scalars)])
    if vertex.has_lists:
        packed = _walk_rows(data, offset, vertex, order, source)[0]
        table = np.frombuffer(packed, dtype=row)
    else:
        table = np.frombuffer(data, dtype=row, count=vertex.count, offset=offset)
    return [table[str(i)].astype(one.kind) for i, one in enumerate(scalars)]


def _walk_rows(data: bytes, offset: int, element: Element, order: str, source: str) -> tuple[bytes, int]:
    """Return the bytes of the scalars of all rows, lists left out, and where the element ends."""
    steps = [(np.dtype(one.kind).itemsize, one.counter) for one in element.properties]
    byteorder: Literal["little", "big"] = "little" if order == "<" else "big"
    kept = []
    for _ in range(element.count):
        for size, counter in steps:
            if counter is None:
                kept.append(data[offset : offset + size])
                offset += size
                continue
            width = int(counter[1])
            many = int.from_bytes(data[offset : offset + width], byteorder, signed=counter.startswith("i"))
            offset += width + max(many, 0) * size
        if offset > len(data):
            raise InputError(f"{source}: expected {element.count} rows of element {element.name}, got fewer; {DAMAGED}")
    return b"".join(kept), offset


def _read_ascii(body: bytes, before: list[Element], vertex: Element, source: str) -> list[Floats]:
    """Return the columns of the scalar properties; each row of an element is a line."""
    _check_room(
        vertex, 2 * len(vertex.properties), len(body) + 1, source
    )  # a digit and what separates it from the next
    lines = [line for line in re.split("[\r\n]+", body.decode("latin-1")) if line.strip()]
    start = sum(element.count for element in before)
    rows = lines[start : start + vertex.count]
    if len(rows) < vertex.count:
        raise InputError(f"{source}: expected {vertex.count} points, as the header says, got {len(rows)}; {DAMAGED}")
    if vertex.has_lists:
        rows = [" ".join(_scalars_of(line.split(), vertex, source)) for line in rows]
    scalars = vertex.scalars
    try:
        table = np.loadtxt(io.StringIO("\n".join(rows)), comments=None, ndmin=2)
    except ValueError as error:
        raise InputError(
            f"{source}: expected {len(scalars)} numbers in a line, got others ({error}); {DAMAGED}"
        ) from error
    if table.shape[1] != len(scalars):
        raise InputError(f"{source}: expected {len(scalars)} numbers for each vertex, got {table.shape[1]}; {DAMAGED}")
    return [_cast(values, one.kind) for values, one in zip(table.T, scalars, strict=True)]


def _scalars_of(words: list[str], vertex: Element, source: str) -> list[str]:
    """Return the words of a row that are not in a list."""
    kept, at = [], 0
    try:
        for one in vertex.properties:
            if one.counter is None:
                kept.append(words[at])
                at += 1
            else:
                at += 1 + int(words[at])
    except (IndexError, ValueError) as error:
        raise InputError(f"{source}: expected a vertex, got the line {' '.join(words)[:80]!r}; {DAMAGED}") from error
    return kept


def _cast(values: Floats, kind: str) -> Floats:
    """Return the values in their type, where it holds them."""
    with np.errstate(all="ignore"):
        cast = values.astype(kind)
    return cast if kind[0] == "f" or np.array_equal(cast, values) else values
