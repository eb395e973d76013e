"""What can go wrong, by name."""

from __future__ import annotations


class InputError(ValueError):
    """An argument is not what was expected; the message names it, what came, and what to do."""


class MissingExtra(ImportError):
    """An optional dependency is not installed; the message is the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency that is not installed: pip install 'invarot[{extra}]'")


class MemoryBound(MemoryError):
    """The problem does not fit the memory bound; the message says what would."""


class NotConverged(UserWarning):
    """A solve stopped before it settled."""


class NotAligned(RuntimeError):
    """``require="aligned"`` was asked and the verdict was otherwise; ``result`` holds what was found."""

    def __init__(self, message: str, result: object) -> None:
        super().__init__(message)
        self.result = result
