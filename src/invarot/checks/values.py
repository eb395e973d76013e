"""Checks of numbers, flags, choices and random states."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InputError


def check_number(value: Any, name: str, *, low: float, high: float = math.inf, open_low: bool = False) -> float:
    """Return a number in [low, high] ((low, high] with ``open_low``); inf only if ``high`` is inf."""
    ok = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    number = float(value) if ok else math.nan  # float32 cannot be compared with 1e300
    if not low <= number <= high or (open_low and number == low):
        bound = f"> {low:g}" if open_low else f"≥ {low:g}"
        upper = "" if math.isinf(high) else f" and ≤ {high:g}"
        advice = "; pass a number, such as math.inf" if isinstance(value, str) else ""
        raise InputError(f"{name}: expected a number {bound}{upper}, got {value!r}{advice}")
    return number


def check_count(value: Any, name: str, *, low: int = 1) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < low:
        raise InputError(f"{name}: expected a whole number ≥ {low}, got {value!r}")
    return int(value)


def check_flag(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name}: expected one of {', '.join(known)}, got {value!r}{_did_you_mean(value, known)}")
    return str(value)


def check_known(options: Iterable[str], known: Iterable[str], where: str) -> None:
    """Raise if any of ``options`` is not ``known``."""
    names = list(known)
    for option in options:
        if option not in names:
            advice = f"{_did_you_mean(option, names)}; known: {', '.join(names)}"
            raise InputError(f"{where}: expected a known option, got {option!r}{advice}")


def _did_you_mean(value: Any, known: list[str]) -> str:
    close = difflib.get_close_matches(str(value), known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def check_rng(value: Any, name: str = "rng") -> np.random.Generator:
    """Return a Generator from an int or a Generator; global random state is never used."""
    if isinstance(value, np.random.Generator):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0:
        return np.random.default_rng(int(value))
    raise InputError(f"{name}: expected a whole number ≥ 0 or a numpy.random.Generator, got {value!r}; pass {name}=0")
