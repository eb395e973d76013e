"""Exceptions and warnings."""

from __future__ import annotations

import re


class InputError(ValueError):
    """An argument is invalid; the message says ``argument: expected …, got …; what to do``."""


class MissingExtra(ImportError):
    """An optional dependency is not installed; the message gives the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency that is not installed: {name_command(extra)}")


def name_command(extra: str) -> str:
    """Return the commands that install an extra: by what it needs, which works for any install, and by its name."""
    from importlib import metadata

    named = f"pip install 'invarot[{extra}]'"
    try:
        needed = metadata.requires("invarot") or []
    except metadata.PackageNotFoundError:
        return named
    wanted = (re.fullmatch(r"""([^;]+?)\s*;\s*extra\s*==\s*['"]([\w-]+)['"]""", one) for one in needed)
    names = [found[1] for found in wanted if found and found[2] == extra]
    return f"pip install {' '.join(repr(name) for name in names)} (or {named})" if names else named


class MemoryBound(MemoryError):
    """The problem exceeds the memory limit; the message says how to reduce it."""


class WorkersLost(RuntimeError):
    """Processes or machines that ran parts of a solve were lost; the message says which and what to do."""


class NotConverged(UserWarning):
    """A solve stopped before it converged."""


class NotTrusted(UserWarning):
    """A model is used whose verdict is not ``aligned``."""


class NotAligned(RuntimeError):
    """``require`` was set and the verdict is a lesser one; ``result`` holds the alignment."""

    def __init__(self, message: str, result: object) -> None:
        super().__init__(message)
        self.result = result
