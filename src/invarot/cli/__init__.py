"""The command line: one file a subcommand."""

from __future__ import annotations

import sys

from ..errors import InputError, MemoryBound, MissingExtra
from .app import app

BAD_INPUT = 2


def main() -> None:
    """Entry point: errors of the user's input are one line and exit code 2; Ctrl-C is 130."""
    from . import align, bench, demo, evaluate, export, reproduce, translate  # noqa: F401 -- each registers its command

    try:
        app()
    except (InputError, MissingExtra, MemoryBound) as error:
        print(f"invarot: {error}", file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None
    except KeyboardInterrupt:
        print("invarot: stopped; nothing was half-written", file=sys.stderr)
        raise SystemExit(130) from None
