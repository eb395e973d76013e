"""Text formats: one word and its numbers per line (word2vec and fastText with a header, GloVe without one).

The file is read in blocks. In a block the words are split off and all numbers are parsed together; only a block with
irregular lines, or with text that is not a number, is parsed line by line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from ..errors import InputError
from .decimals import parse_rows
from .vectors import FIRST_BYTES, Findings, WordTable

TEXT_BLOCK = 1 << 18  # bytes of text at a time: fits the cache, and is all the memory used besides the result
LONGEST_LINE = 1 << 22
LONGEST_NUMBER = 18  # digits of a number in a header
SHORT = "row with too few values (dropped)"
LONG = "row with too many values (dropped)"
NOT_NUMERIC = "row with a value that is not a number (dropped)"
SPACES = "word with spaces (kept)"


def read_blocks(stream: BinaryIO, source: str) -> Iterator[list[bytes]]:
    """Yield the lines of ``stream``, a block at a time, without line breaks."""
    rest = b""
    while chunk := stream.read(TEXT_BLOCK):
        rest += chunk
        if b"\n" not in chunk:
            if len(rest) > LONGEST_LINE:
                raise InputError(
                    f"{source}: expected text, got no line break within {LONGEST_LINE >> 20} MiB; "
                    "give the file its usual suffix (.bin, .npz, .npy, .safetensors) or pass format="
                )
            continue
        lines = rest.split(b"\n")
        rest = lines.pop()
        yield lines
    if rest:
        yield [rest]


def header(line: bytes) -> tuple[int, int] | None:
    """Return ``(count, dimension)`` if the line is two whole numbers, else None."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) <= LONGEST_NUMBER for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def usual_dimension(lines: list[bytes], source: str, promised: int = 0) -> int:
    """Return the most common number of values in the first lines; on a tie, the one the header ``promised``."""
    counts = Counter(len(line.split()) - 1 for line in islice(filter(bytes.strip, lines), 200))
    if not counts:
        raise InputError(f"{source}: expected words with vectors, got none; check that the file is complete")
    dimension, most = counts.most_common(1)[0]
    if promised and counts[promised] == most:
        dimension = promised
    if dimension < 1:
        raise InputError(
            f"{source}: expected a word and its numbers on every line, got one field on most lines; check that it is a file of vectors"
        )
    return dimension


def split_carefully(line: bytes, dimension: int) -> tuple[bytes, list[float]] | str:
    """Return the word and its numbers, or the reason why the line is not a row."""
    parts = line.rsplit(None, dimension)
    if len(parts) <= dimension:
        return SHORT
    try:
        values = [float(part) for part in parts[1:]]
    except ValueError:
        return NOT_NUMERIC
    if any(b"_" in part for part in parts[1:]):  # Python accepts 1_000, other programs do not
        return NOT_NUMERIC
    extra = parts[0].split()[1:]
    if extra and all(_is_fraction(field) for field in extra):  # "word 0.1 …": too many values, not a word with spaces
        return LONG
    return parts[0].strip(), values


def _is_fraction(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return not field.isdigit()


def parse_lines(
    lines: list[bytes], first: int, dimension: int, findings: Findings
) -> tuple[list[bytes], np.ndarray[Any, Any], list[int]]:
    """Return words, values (rows, dimension) and line numbers of the valid rows; the others are reported."""
    words: list[bytes] = []
    numbers: list[bytes] = []
    places: list[int] = []
    for place, raw in enumerate(lines, first):
        line = raw.rstrip().replace(b"\t", b" ")
        if not line:
            continue
        # Exactly one space before every value: each field is one number, or the parser fails.
        if line.count(b" ") != dimension or b"  " in line or line.startswith(b" "):
            return _parse_carefully(lines, first, dimension, findings)
        word, _, values = line.partition(b" ")
        words.append(word)
        numbers.append(values)
        places.append(place)
    table = parse_rows(numbers, dimension)
    return (words, table, places) if table is not None else _parse_carefully(lines, first, dimension, findings)


def _parse_carefully(
    lines: list[bytes], first: int, dimension: int, findings: Findings
) -> tuple[list[bytes], np.ndarray[Any, Any], list[int]]:
    """As `parse_lines`, one line at a time."""
    words: list[bytes] = []
    rows: list[list[float]] = []
    places: list[int] = []
    for place, line in enumerate(lines, first):
        if not line.strip():
            continue
        found = split_carefully(line, dimension)
        if isinstance(found, str):
            findings.add(found, place)
            continue
        word, values = found
        if len(word.split()) > 1:
            findings.add(SPACES, place, repr(word.decode("utf-8", "replace")))
        words.append(word)
        rows.append(values)
        places.append(place)
    with np.errstate(over="ignore"):
        return words, np.array(rows, np.float64).reshape(len(rows), dimension).astype(np.float32), places


def read_text(
    stream: BinaryIO, *, size: int | None, limit: int | None, errors: str, findings: Findings
) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
    """Read words and vectors of a text file; ``size`` in bytes, if known, sets the initial allocation."""
    source = findings.source
    rows: WordTable | None = None
    promised: tuple[int, int] | None = None
    number, seen = 1, 0
    for lines in read_blocks(stream, source):
        if rows is None:
            if number == 1:
                lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
                promised = _find_header(lines, source)
                if promised:
                    lines, number = lines[1:], 2
            if not any(line.strip() for line in lines):
                number += len(lines)
                continue
            dimension = usual_dimension(lines, source, promised[1] if promised else 0)
            if promised and promised[1] != dimension:
                findings.remark(f"the header says {promised[1]} values per word, most rows have {dimension} (used)")
            expected = _estimate_rows(lines, promised, size, dimension)
            rows = WordTable(dimension, expected=expected, limit=limit, errors=errors, findings=findings)
        start = tried = 0
        while start < len(lines) and not rows.full:  # rows after max_words are neither read nor reported
            had = len(rows)
            count = len(lines) if limit is None else max(limit - had, 2 * tried)
            part = lines[start : start + count]
            words, values, places = parse_lines(part, number, dimension, findings)
            rows.extend([rows.decode(word, place) for word, place in zip(words, places, strict=True)], values, places)
            tried = (
                len(part) if len(rows) == had else 0
            )  # nothing new: a larger part, or one word repeated takes for ever
            number += len(part)
            seen += sum(1 for line in part if line.strip())
            start += len(part)
        if rows.full:
            break
    if rows is None:
        raise InputError(f"{source}: expected words with vectors, got none; check that the file is complete")
    _check_counts(rows, seen, promised, findings)
    return rows.finish()


def _find_header(lines: list[bytes], source: str) -> tuple[int, int] | None:
    promised = header(lines[0])
    if promised is None or promised[1] == 1 or not b"".join(lines[1:]).strip():
        return promised
    # The first row of one-dimensional vectors looks like a header.
    return None if usual_dimension(lines[1:], source, promised[1]) == 1 else promised


def _estimate_rows(lines: list[bytes], promised: tuple[int, int] | None, size: int | None, dimension: int) -> int:
    if size is None:
        return min(promised[0] if promised else len(lines), FIRST_BYTES // (4 * dimension))
    most = size // (2 * dimension + 1) + 1  # the header may be wrong, the file size is not
    return min(promised[0] if promised else int(1.02 * size * len(lines) / max(sum(map(len, lines)), 1)) + 1, most)


def _check_counts(rows: WordTable, seen: int, promised: tuple[int, int] | None, findings: Findings) -> None:
    if promised and not rows.full and seen != promised[0]:
        findings.remark(f"the header says {promised[0]} words, the file has {seen} rows (all were read)")
    dropped = findings.count(SHORT, LONG, NOT_NUMERIC)
    if not len(rows) or dropped > seen // 2:
        raise InputError(
            f"{findings.source}: expected a word and its numbers on every line, got {dropped} of {seen} rows that do not fit "
            f"({'; '.join(findings.sentences())}); check the format of the file, or pass format="
        )
