"""word2vec's binary format: a header line, then each word, a space, and its float32 values."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from ..errors import InputError
from .decimals import is_number
from .text import header
from .vectors import FIRST_BYTES, Findings, WordTable

BINARY_BLOCK = 1 << 22
LONGEST_WORD = 1 << 14
WIDEST = 1 << 20


def looks_binary(sample: bytes, *, named_binary: bool) -> bool:
    """Return whether a file with these first bytes is word2vec binary rather than text."""
    first, _, rest = sample.partition(b"\n")
    if header(first) is None:
        return named_binary
    fields = rest.split()
    numbers = sum(map(is_number, fields))
    if numbers > len(fields) // 4:  # a NUL inside a word does not make a text binary
        return False
    return named_binary or b"\x00" in rest


def read_binary(
    stream: BinaryIO, *, size: int | None, limit: int | None, errors: str, findings: Findings
) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
    """Read words and vectors of a word2vec binary file."""
    source = findings.source
    promised = header(stream.readline(256))
    if promised is None or promised[1] < 1:
        raise InputError(f"{source}: expected a first line 'count dimension', got none; is this word2vec binary?")
    count, dimension = promised
    if dimension > WIDEST:
        raise InputError(
            f"{source}: expected at most {WIDEST} values per word, got {dimension} in the header; is this word2vec binary?"
        )
    width = 4 * dimension
    expected = min(count, FIRST_BYTES // width if size is None else size // (width + 1) + 1)  # the header may be wrong
    rows = WordTable(dimension, expected=expected, limit=limit, errors=errors, findings=findings)
    buffer, at, seen, ended = b"", 0, 0, False
    while seen < count and not rows.full and not ended:
        chunk = stream.read(BINARY_BLOCK + width)
        ended = not chunk
        buffer, at = buffer[at:] + chunk, 0
        words: list[str] = []
        starts: list[int] = []
        places: list[int] = []
        room = count - seen if limit is None else min(count - seen, limit - len(rows))
        while len(words) < room:
            space = buffer.find(b" ", at)
            if space < 0 or space + 1 + width > len(buffer):
                break
            word = buffer[at:space].lstrip(b"\n")  # the original word2vec ends each row with a line break
            if len(word) > LONGEST_WORD:
                raise InputError(f"{source}: expected a word in row {seen + 1}, got none; is this word2vec binary?")
            seen += 1
            words.append(rows.decode(word, seen))
            starts.append(space + 1)
            places.append(seen)
            at = space + 1 + width
        if words:
            table = np.empty((len(words), dimension), "<f4")
            for row, start in enumerate(starts):
                table[row] = np.frombuffer(buffer, "<f4", dimension, start)
            rows.extend(words, table, places)
            ended = False
        elif len(buffer) > LONGEST_WORD + width + BINARY_BLOCK:
            raise InputError(f"{source}: expected a word in row {seen + 1}, got none; is this word2vec binary?")
    _check_end(rows, seen, count, buffer[at:] + stream.read(64), findings)
    return rows.finish()


def _check_end(rows: WordTable, seen: int, count: int, rest: bytes, findings: Findings) -> None:
    if not len(rows):
        raise InputError(
            f"{findings.source}: expected a complete row, got none; the file is truncated or not word2vec binary"
        )
    if rows.full:
        return
    if seen < count:
        findings.remark(f"the header says {count} words, the file ends after {seen} complete rows (truncated?)")
    elif rest.strip(b"\n"):
        findings.remark(f"the header says {count} words, more bytes follow row {seen} and were not read (wrong count?)")
