"""The typer application, and functions shared by its commands."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .. import __version__
from ..alignment.verdict import Verdict
from ..checks import check_choice, check_number
from ..errors import InputError, MemoryBound, MissingExtra
from ..retrieval.scores import METHODS
from .text import escape_unsafe, print_json, print_line

__all__ = [
    "EXIT_CODES",
    "Force",
    "Retrieval",
    "app",
    "escape_unsafe",
    "parse_overlap",
    "print_json",
    "print_line",
    "print_verdict",
]

app = typer.Typer(
    name="invarot",
    help="Align two embedding spaces with nothing paired: from two files of word vectors to a dictionary.",
    no_args_is_help=True,
    invoke_without_command=True,  # for --version alone
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# no markup by default: words and paths may contain brackets
stdout = Console(soft_wrap=True, markup=False)
stderr = Console(stderr=True, soft_wrap=True, markup=False)


def _check_retrieval(method: str) -> str:
    return check_choice(method, "--retrieval", METHODS)


Retrieval = Annotated[str, typer.Option("--retrieval", help=f"{', '.join(METHODS)}.", callback=_check_retrieval)]

EXIT_CODES = {"aligned": 0, "coarse": 0, "failed": 3, "doubtful": 4}
BAD_INPUT = 2
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]


def run() -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # half a character, or a letter that the terminal lacks
    try:
        app()
    except (InputError, MissingExtra, MemoryBound, OSError) as error:  # OSError: disk full, permission denied
        print(f"invarot: {escape_unsafe(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else BAD_INPUT if done.code else 0
    return 0


@app.callback()
def root(version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True)) -> None:
    """Align two embedding spaces with nothing paired."""
    warnings.showwarning = _show_warning
    if version:
        print(__version__)
        raise typer.Exit


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    stderr.print(f"[yellow]warning:[/] {escape(escape_unsafe(str(message)))}", highlight=False, markup=True)


def print_verdict(verdict: Verdict, console: Console) -> None:
    color = {"aligned": "green", "coarse": "cyan", "doubtful": "yellow", "failed": "red"}[verdict.word]
    text = f"verdict: [bold {color}]{verdict.word}[/] (probability {verdict.probability:.2f}, resolution {verdict.resolution})"
    console.print(text, highlight=False, markup=True)
    for reason in verdict.reasons:
        console.print(f"  · {escape_unsafe(reason)}", highlight=False)


@contextmanager
def progress(quiet: bool) -> Iterator[Any]:
    """Yield an ``on_event`` for :func:`invarot.translation.learn` that draws a progress bar on stderr; None if quiet."""
    if quiet:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn())
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bar:
        task = bar.add_task("reading", total=None)

        def listen(event: dict[str, Any]) -> None:
            if event["stage"] == "refine":
                text = f"refine · {event['pairs']} mutual pairs · {event['changed']:.0%} new"
            else:
                text = f"{event['stage']} · epsilon {event['epsilon']:.3g} · objective {event['objective']:.4f}"
            bar.update(task, description=text, advance=1)

        yield listen


def parse_overlap(text: str) -> str | float | None:
    """Return what ``align`` takes for the value of --overlap."""
    if text in ("auto", "none"):
        return None if text == "none" else text
    try:
        share = float(text)
    except ValueError:
        raise InputError(f"--overlap: expected auto, none or a number in (0, 1], got {text!r}") from None
    return check_number(share, "--overlap", low=0, high=1, open_low=True)
