"""The npy format as a stream: its header, its rows in blocks, and a table written from a spool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from ..errors import InputError
from .protocol import Info
from .spool import Spool


def check_shape(shape: tuple[int, ...], dtype: np.dtype[Any], address: str) -> tuple[int, int]:
    if len(shape) != 2 or not shape[1] or dtype.kind not in "fiu":
        raise InputError(f"{address}: expected a table (n, d) of numbers, got shape {shape} of {dtype}; convert it")
    return shape[0], shape[1]


def read_header(stream: Any, address: str) -> tuple[tuple[int, int], np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except ValueError as error:
        raise InputError(
            f"{address}: expected a plain array of numbers, got another file ({error}); save it with np.save"
        ) from error
    if fortran:
        raise InputError(f"{address}: expected rows in C order, got Fortran order; save np.ascontiguousarray(vectors)")
    return check_shape(shape, dtype, address), dtype


def stream_rows(
    stream: Any, shape: tuple[int, int], dtype: np.dtype[Any], size: int, start: int, address: str
) -> Iterator[np.ndarray[Any, Any]]:
    """Yield rows from ``start`` on, ``size`` at a time, from a stream that stands at the first row."""
    width = shape[1] * dtype.itemsize
    stream.seek(start * width, 1)
    for row in range(start, shape[0], size):
        count = min(size, shape[0] - row)
        block = stream.read(count * width)
        if len(block) < count * width:
            raise InputError(f"{address}: expected {shape[0]} rows, got a truncated file; copy it again")
        yield np.frombuffer(block, dtype).reshape(count, shape[1])


def write_npy(stream: BinaryIO, info: Info, spool: Spool) -> None:
    facts = {"descr": "<f4", "fortran_order": False, "shape": (info.count, info.dimension)}
    np.lib.format.write_array_header_1_0(stream, facts)
    for block in spool.blocks():
        stream.write(block)
