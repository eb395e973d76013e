"""The log named "invarot", and how progress is shown: one live line on a terminal, log lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

EVERY = 5.0  # seconds between two log lines of one run
LIVE = 0.1  # seconds between two updates of a live line

logger = logging.getLogger("invarot")
logger.addHandler(logging.NullHandler())

Line = Callable[[str, bool], None]  # a text, and whether it stays on the screen

_begun: ContextVar[float | None] = ContextVar("begun", default=None)
_line: ContextVar[Line | None] = ContextVar("line", default=None)


class StepLike(Protocol):
    """What is logged of a step; :class:`invarot.Step` has it all."""

    @property
    def stage(self) -> str: ...
    @property
    def step(self) -> int: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def objective(self) -> float: ...
    @property
    def left(self) -> int | None: ...


def log_line(text: str, *, keep: bool = False) -> None:
    """Log one line at level INFO, with the time since the run began; ``keep`` leaves it on a live terminal."""
    begun = _begun.get()
    stamped = text if begun is None else f"[{format_seconds(time.perf_counter() - begun)}] {text}"
    logger.info(stamped)
    line = _line.get()
    if line is not None:
        line(stamped, keep)


class Watch:
    """Follow the steps of a solve: a log line every few seconds, with the time spent and the time to expect."""

    def __init__(self, name: str = "") -> None:
        self.name = f"{name}, " if name else ""
        self.logged = self.shown = self.stage_begun = time.perf_counter()
        self.stage, self.done = "", 0  # steps since the first of the stage

    def __call__(self, step: StepLike) -> None:
        now = time.perf_counter()
        if step.stage != self.stage or not step.step:
            # What came before the first step of a stage (its starts, the stage before) says nothing of the steps to come.
            self.stage, self.stage_begun, self.done = step.stage, now, 0
        else:
            self.done += 1
        due, line = now - self.logged >= EVERY, _line.get()
        if due:
            self.logged = now
            logger.info("%s", self._describe(step, now))
        if line is not None and (due or now - self.shown >= LIVE):
            line(self._describe(step, now), False)
        self.shown = now

    def _describe(self, step: StepLike, now: float) -> str:
        begun = _begun.get()
        spent = now - (self.stage_begun if begun is None else begun)
        text = f"[{format_seconds(spent)}] {self.name}{step.stage}: step {step.step + 1}, epsilon {step.epsilon:.3g}, "
        text += f"objective {step.objective:.5g}"
        rest = (step.left or 0) * (now - self.stage_begun) / self.done if self.done else 0.0
        if rest >= 1:
            text += f"; about {format_seconds(rest)} more at this stage"
        return text


@contextmanager
def run(*, progress: bool = False) -> Iterator[None]:
    """Time a run, and with ``progress`` show its log on standard error; inside another run, do nothing."""
    if _begun.get() is not None:
        yield
        return
    token = _begun.set(time.perf_counter())
    try:
        with _show() if progress else _silence():
            yield
    finally:
        _begun.reset(token)


@contextmanager
def show_progress() -> Iterator[None]:
    """Show the log of all that runs inside, on standard error: a live line on a terminal, else a line every few seconds.

    The logger ``"invarot"`` gets these lines in any case.

    Examples
    --------
    >>> import numpy as np, invarot
    >>> x = np.random.default_rng(0).gamma(2.0, size=(50, 3))
    >>> with invarot.show_progress():
    ...     result = invarot.align(x, x[::-1])
    """
    with run(progress=True):
        yield


@contextmanager
def _silence() -> Iterator[None]:
    yield


@contextmanager
def _show() -> Iterator[None]:
    """Show the log: a live line on a terminal; elsewhere log lines, unless the program already prints them."""
    if sys.stderr.isatty():
        with _live_line() as line:
            token = _line.set(line)
            try:
                yield
            finally:
                _line.reset(token)
        return
    if logger.isEnabledFor(logging.INFO) and _prints():
        yield
        return
    handler, level = logging.StreamHandler(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _prints() -> bool:
    """Return whether a handler of the program gets what is logged."""
    return any(not isinstance(one, logging.NullHandler) for one in (*logger.handlers, *logging.getLogger().handlers))


@contextmanager
def _live_line() -> Iterator[Line]:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, markup=False, highlight=False)
    with console.status("") as status:

        def write(text: str, keep: bool) -> None:
            if keep:
                console.print(text)
            status.update(Text(text))

        yield write


def format_seconds(seconds: float) -> str:
    """Write a time span for people.

    Examples
    --------
    >>> format_seconds(7.4), format_seconds(95), format_seconds(3700)
    ('7 s', '1:35 min', '1:01 h')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60}:{whole % 60:02d} min" if whole < 3600 else f"{whole // 3600}:{whole % 3600 // 60:02d} h"


def combine(*watchers: Callable[[Any], object] | None) -> Callable[[Any], None]:
    """Return one function that calls every watcher that is not None, in order."""
    known = [one for one in watchers if one is not None]

    def call(step: Any) -> None:
        for one in known:
            one(step)

    return call
