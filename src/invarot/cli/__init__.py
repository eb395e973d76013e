"""The command line: one file per subcommand."""

from __future__ import annotations

import sys

from ..errors import InputError, MemoryBound, MissingExtra
from .app import app

BAD_INPUT, INTERRUPTED = 2, 130


def main() -> None:
    """Entry point: errors of the user's input, and of files, are one line and exit code 2; Ctrl-C is 130."""
    from . import align, demo, evaluate, export, reproduce, translate  # noqa: F401 -- each registers its command

    try:
        app()
    except (InputError, MissingExtra, MemoryBound, OSError) as error:  # OSError: full disks, forbidden folders
        print(f"invarot: {error}", file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None
    except SystemExit as done:
        if done.code == INTERRUPTED:  # what typer makes of Ctrl-C
            print("invarot: stopped; nothing was half-written", file=sys.stderr)
        raise
