"""The command line inside a test."""

from __future__ import annotations

import inspect

from typer.testing import CliRunner


def make_runner() -> CliRunner:
    """Return a runner that keeps standard output and standard error apart; old versions have to be asked to."""
    apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner.__init__).parameters else {}
    return CliRunner(**apart)
