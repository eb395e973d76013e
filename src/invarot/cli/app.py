"""The typer application, and functions shared by its commands."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ..alignment.verdict import Verdict
from ..checks import check_choice, check_number
from ..errors import InputError, MemoryBound, MissingExtra, WorkersLost
from ..retrieval.scores import METHODS
from ..translation.recipe import EFFORTS
from .text import escape_unsafe, print_json, print_line
from .wording import say_reason, to_shell

__all__ = [
    "EXIT_CODES", "Device", "Effort", "Force", "Retrieval", "command", "complete", "escape_unsafe", "parse_overlap", "print_json",
    "print_line", "print_verdict",
]  # fmt: skip


class PlainFlags:
    """Help in which a flag has no type beside it; new versions of typer write <bool> there."""

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in found:
            if getattr(one, "is_bool_flag", False):
                one.display_type_rich = lambda ctx: None
        return found


class Command(PlainFlags, TyperCommand):
    pass


class Group(PlainFlags, TyperGroup):
    pass


app = typer.Typer(
    cls=Group,
    name="invarot",
    help="Align two embedding spaces with nothing paired: from two files of word vectors to a dictionary.",
    invoke_without_command=True,  # for --version alone, and for the help
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# no markup by default: words and paths may contain brackets
stdout = Console(soft_wrap=True, markup=False)
stderr = Console(stderr=True, soft_wrap=True, markup=False)


def command(name: str, **options: Any) -> Callable[[Any], Any]:
    """Register a command."""
    return app.command(name, cls=Command, **options)


def complete(choices: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a function that completes what was typed so far."""
    known = list(choices)
    return lambda incomplete: [one for one in known if one.startswith(incomplete)]


def _check_retrieval(method: str) -> str:
    return check_choice(method, "--retrieval", METHODS)


Retrieval = Annotated[
    str,
    typer.Option(
        "--retrieval", help=f"{', '.join(METHODS)}.", callback=_check_retrieval, autocompletion=complete(METHODS)
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device", help="cpu, cuda, cuda:N or auto [default: cpu].", autocompletion=complete(("cpu", "cuda", "auto"))
    ),
]

EXIT_CODES = {"aligned": 0, "coarse": 0, "failed": 3, "doubtful": 4}
BAD_INPUT = 2
Effort = Annotated[
    str | None,
    typer.Option("--effort", help=f"How long to search: {', '.join(EFFORTS)}.", autocompletion=complete(EFFORTS)),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]


def run_command() -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # half a character, or a letter that the terminal lacks
    try:
        code = _call()
        sys.stdout.flush()  # what is still in the buffer can fail too
    except BrokenPipeError:  # the reader has seen enough
        _discard_output()
        return 1
    # OSError: disk full, permission denied
    except (InputError, MissingExtra, MemoryBound, WorkersLost, OSError) as error:
        _discard_output()
        print(f"invarot: {escape_unsafe(to_shell(str(error), _command()))}", file=sys.stderr)
        return BAD_INPUT
    return code


def _call() -> int:
    try:
        app()
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else BAD_INPUT if done.code else 0
    return 0


def _discard_output() -> None:
    """Let the interpreter not try again to write, at its end, what could not be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _command() -> str | None:
    """Return the name of the command that runs."""
    return next((one for one in sys.argv[1:] if not one.startswith("-")), None)


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """Align two embedding spaces with nothing paired."""
    warnings.showwarning = _show_warning
    if version:
        print(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    stderr.print(
        f"[yellow]warning:[/] {escape(escape_unsafe(to_shell(str(message), _command())))}", highlight=False, markup=True
    )


def print_verdict(verdict: Verdict, console: Console) -> None:
    color = {"aligned": "green", "coarse": "cyan", "doubtful": "yellow", "failed": "red"}[verdict.word]
    text = f"verdict: [bold {color}]{verdict.word}[/] (probability {verdict.probability:.2f}, resolution {verdict.resolution})"
    console.print(text, highlight=False, markup=True)
    name = _command()
    for reason in verdict.reasons:
        said = say_reason(reason, name, list_options(name))
        if said is not None:
            console.print(f"  · {escape_unsafe(said)}", highlight=False)


def list_options(name: str | None) -> list[str]:
    """Return the options of a command, such as ``--seed``."""
    commands = getattr(typer.main.get_command(app), "commands", {})
    return [one for parameter in commands[name].params for one in parameter.opts] if name in commands else []


def parse_overlap(text: str) -> str | float | None:
    """Return what ``align`` takes for the value of --overlap."""
    if text in ("auto", "none"):
        return None if text == "none" else text
    try:
        share = float(text)
    except ValueError:
        raise InputError(f"--overlap: expected auto, none or a number in (0, 1], got {text!r}; write auto") from None
    return check_number(share, "--overlap", low=0, high=1, open_low=True)
