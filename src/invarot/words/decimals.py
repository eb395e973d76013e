"""Parse many numbers written as text, at once.

Most vectors are plain decimals (``-0.0312``). These are parsed by array operations on all of them together: find the
blanks and the points, load the adjacent digits as one 64-bit word each, and convert eight digits to a number by three
multiplications. Everything else goes through NumPy's parser. Both give the nearest float64, then float32.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

TOP_BYTES = np.array([0] + [(1 << 64) - (1 << (64 - 8 * k)) for k in range(1, 9)], np.uint64)  # the last k characters
POWERS = 10.0 ** np.arange(16)
# Neighbouring fields of 8, 16 and 32 bits: left × 10^(their digits) + right, in the upper half, shifted down.
JOIN = tuple(
    tuple(np.uint64(number) for number in step)
    for step in (
        (0x0F0F0F0F0F0F0F0F, 10 * (1 << 8) + 1, 8),
        (0x00FF00FF00FF00FF, 100 * (1 << 16) + 1, 16),
        (0x0000FFFF0000FFFF, 10_000 * (1 << 32) + 1, 32),
    )
)


def parse_rows(rows: list[bytes], dimension: int) -> np.ndarray[Any, Any] | None:
    """Parse rows of ``dimension`` fields separated by single spaces: (n, dimension) float32, None if any is not a number."""
    table = np.empty((len(rows), dimension), np.float32)
    plain = [row.count(b".") == dimension and b"e" not in row for row in rows]
    for wanted in (True, False):
        chosen = [row for row, is_plain in enumerate(plain) if is_plain is wanted]
        if not chosen:
            continue
        text = b" ".join([rows[row] for row in chosen])
        values = parse_plain(text, len(chosen) * dimension) if wanted else None
        if values is None:
            values = parse_any(text, len(chosen) * dimension)
        if values is None:
            return None
        table[chosen] = values.reshape(-1, dimension)
    return table


def parse_any(text: bytes, count: int) -> np.ndarray[Any, Any] | None:
    """Parse ``count`` numbers in any notation; None if there are more, fewer, or other text."""
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("error", DeprecationWarning)  # how older NumPy reports text that is not a number
        try:
            values = np.fromstring(text, dtype=np.float32, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    return values if values.size == count else None


def parse_plain(text: bytes, count: int) -> np.ndarray[Any, Any] | None:
    """Parse ``count`` numbers of the form ``-12.345``, separated by single spaces; None if any has another form."""
    if text.translate(None, b"0123456789.- "):
        return None
    padded = b" " * 8 + text + b" "  # so that at least eight characters precede every end
    characters = np.frombuffer(padded, np.uint8)
    ends = np.flatnonzero(characters == ord(" "))[8:]
    points = np.flatnonzero(characters == ord("."))
    if len(ends) != count or len(points) != count:
        return None
    starts = np.concatenate((np.array([8]), ends[:-1] + 1))
    negative = characters[starts] == ord("-")
    whole = points - starts - negative
    decimals = ends - points - 1
    # One point inside every field and no sign elsewhere: all other characters are digits.
    if whole.min() < 1 or decimals.min() < 1 or np.count_nonzero(negative) != text.count(b"-"):
        return None
    most_whole, most_decimals = int(whole.max()), int(decimals.max())
    if most_whole > 8 or most_whole + most_decimals > 15:  # up to 15 digits every step below is exact
        return None
    windows = np.ndarray((len(padded) - 7,), "<u8", padded, 0, (1,))
    power = POWERS[decimals]
    if most_whole == 1:
        values = (characters[points - 1] - np.uint8(ord("0"))) * power
    else:
        values = _parse_digits(windows, points, whole) * power
    values += _parse_digits(windows, ends, np.minimum(decimals, 8))
    if most_decimals > 8:
        values += _parse_digits(windows, np.maximum(ends - 8, 8), np.maximum(decimals - 8, 0)) * POWERS[8]
    values /= power
    signed: np.ndarray[Any, Any] = np.where(negative, -values, values).astype(np.float32)
    return signed


def _parse_digits(windows: np.ndarray[Any, Any], ends: np.ndarray[Any, Any], count: np.ndarray[Any, Any]) -> Any:
    """Return the integers in the last ``count`` (at most 8) characters before ``ends``."""
    value = windows[ends - 8]
    value &= TOP_BYTES[count]
    for mask, factor, shift in JOIN:
        value &= mask
        value *= factor
        value >>= shift
    return value


def is_number(text: str | bytes) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
