"""The command line: one file per subcommand."""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130
STOPPED = "invarot: stopped; nothing was half-written\n"


def main() -> None:
    """Run the command line: input and file errors print one line and exit with 2, Ctrl-C exits with 130."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else Ctrl-C is ignored, as after nohup
        signal.signal(signal.SIGINT, _leave)
    from . import (  # noqa: F401 -- each registers its command
        align,
        align_many,
        cells,
        demo,
        evaluate,
        export,
        migrate,
        register,
        reproduce,
        translate,
    )
    from .app import run_command

    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, before)
    try:
        code = run_command()
    except KeyboardInterrupt:
        code = INTERRUPTED
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)  # while the interpreter shuts down
    if code == INTERRUPTED:
        sys.stderr.write(STOPPED)
    raise SystemExit(code)


def _leave(*_: object) -> None:
    """Leave at once: nothing is being written, and modules that are half imported cannot be interrupted cleanly."""
    os.write(2, STOPPED.encode())
    os._exit(INTERRUPTED)
