"""Words on a terminal: characters that would drive it, or that cannot be encoded, are written as escapes."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

# Control characters (C0 but tab and line break, DEL, C1), marks that reorder a line, and halves of characters.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_unsafe(text: str) -> str:
    r"""Return ``text`` with unsafe characters as escapes.

    Examples
    --------
    >>> escape_unsafe("red: \x1b[31m, año")
    'red: \\x1b[31m, año'
    """
    return UNSAFE.sub(lambda found: _escape(ord(found[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def print_line(text: str) -> None:
    """Print one line on stdout; a word may contain anything."""
    print(escape_unsafe(text).replace("\n", "\\n"))


def print_json(value: Any) -> None:
    """Print ``value`` as JSON on stdout."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    sys.stdout.write(UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
