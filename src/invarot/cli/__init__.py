"""The command line: one file per subcommand."""

from __future__ import annotations

import sys

from ..errors import InputError, MemoryBound, MissingExtra
from .app import app

BAD_INPUT, INTERRUPTED = 2, 130


def main() -> None:
    """Run the command line: input and file errors print one line and exit with 2, Ctrl-C exits with 130."""
    from . import (  # noqa: F401 -- each registers its command
        align,
        demo,
        evaluate,
        export,
        migrate,
        register,
        reproduce,
        translate,
    )

    try:
        app()
    except (InputError, MissingExtra, MemoryBound, OSError) as error:  # OSError: disk full, permission denied
        print(f"invarot: {error}", file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None
    except SystemExit as done:
        if done.code == INTERRUPTED:  # typer's exit code for Ctrl-C
            print("invarot: stopped; nothing was half-written", file=sys.stderr)
        raise
