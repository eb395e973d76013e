"""One check of what a saved file says: dataclasses from plain values, and arrays by type and shape."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from .errors import InputError

T = TypeVar("T")
PLAIN = {float: "a number", int: "a whole number", bool: "true or false", str: "a text", type(None): "nothing"}
KINDS = {"f": "finite numbers", "w": "finite numbers ≥ 0", "h": "finite numbers, also float16", "i": "whole numbers"}


def build(kind: type[T], values: Any, where: str, **given: Any) -> T:
    """Build the dataclass ``kind`` from a dict of plain values, each checked by its annotation.

    Fields that are ``given`` come from elsewhere and must not be in ``values``.
    """
    check(dict[str, Any], values, where)
    wanted = [field for field in fields(kind) if field.name not in given]  # type: ignore[arg-type]
    required = {field.name for field in wanted if field.default is MISSING and field.default_factory is MISSING}
    unknown, missing = values.keys() - {field.name for field in wanted}, required - values.keys()
    if unknown or missing:
        what = f"an unknown {sorted(unknown)[0]!r}" if unknown else f"no {sorted(missing)[0]!r}"
        raise InputError(f"{where}: expected the fields of {kind.__name__}, got {what}")
    hints = get_type_hints(kind)
    return kind(**given, **{name: check(hints[name], value, f"{where}.{name}") for name, value in values.items()})


def check(hint: Any, value: Any, where: str) -> Any:
    """Return ``value`` as the annotation ``hint`` has it (a list as a tuple, a dict as a dataclass), or raise."""
    if hint is Any:
        return value
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _check_any(inner, value, where)
    if origin in (tuple, list, Sequence):
        found = [check(inner[0], one, where) for one in _expect(isinstance(value, list), value, where, "a list")]
        return found if origin is list else tuple(found)
    if origin in (dict, Mapping):
        _expect(isinstance(value, dict), value, where, "an object")
        return {name: check(inner[1], one, f"{where}.{name}") for name, one in value.items()}
    if is_dataclass(hint):
        return build(hint, value, where)  # type: ignore[arg-type]
    if isinstance(hint, type) and issubclass(hint, Enum):
        known = isinstance(value, str) and value in hint.__members__
        return hint[_expect(known, value, where, f"one of {', '.join(hint.__members__)}")]
    fits = isinstance(value, (int, float) if hint is float else hint)
    return _expect(fits and (hint is bool or not isinstance(value, bool)), value, where, PLAIN[hint])


def _check_any(hints: tuple[Any, ...], value: Any, where: str) -> Any:
    for hint in hints:
        try:
            return check(hint, value, where)
        except InputError as error:
            last = error
    raise last


def _expect(fits: bool, value: Any, where: str, what: str) -> Any:
    if not fits:
        raise InputError(f"{where}: expected {what}, got {str(value)[:40]!r}")
    return value


def check_arrays(arrays: Mapping[str, np.ndarray[Any, Any]], shapes: Mapping[str, str]) -> dict[str, int]:
    """Check that ``arrays`` are those of ``shapes``, and return the size of each dimension.

    Parameters
    ----------
    arrays : name -> array
    shapes : name -> kind and dimensions
        Such as ``"f n d"``: finite numbers of shape (n, d), with the same n and d wherever they occur, all at least 1.

    Examples
    --------
    >>> check_arrays({"map": np.eye(2, 3), "offset": np.zeros(3)}, {"map": "f dx dy", "offset": "f dy"})
    {'dx': 2, 'dy': 3}
    """
    odd = sorted(arrays.keys() ^ shapes.keys())
    if odd:
        raise InputError(
            f"arrays: expected {', '.join(sorted(shapes))}, got {'one' if odd[0] in arrays else 'no'} {odd[0]!r}"
        )
    sizes: dict[str, int] = {}
    for name, text in shapes.items():
        kind, *dimensions = text.split()
        array = arrays[name]
        wrong = array.ndim != len(dimensions) or any(
            sizes.setdefault(one, size) != size or size < 1 for one, size in zip(dimensions, array.shape, strict=False)
        )
        if wrong or not _fits_kind(array, kind):
            raise InputError(
                f"{name}: expected {KINDS[kind]} of shape ({', '.join(dimensions)}) with {sizes}, got shape {array.shape} "
                f"of {array.dtype}"
            )
    return sizes


def _fits_kind(array: np.ndarray[Any, Any], kind: str) -> bool:
    if kind == "i":
        return array.dtype.kind in "iu"
    floats = ("float16", "float32", "float64") if kind == "h" else ("float32", "float64")  # few functions take float16
    return array.dtype in floats and bool(np.isfinite(array).all()) and (kind != "w" or bool((array >= 0).all()))


def check_rows(array: np.ndarray[Any, Any], count: int, name: str) -> None:
    """Raise unless all numbers of ``array`` are rows of a table of ``count``."""
    if array.min() < 0 or array.max() >= count:
        raise InputError(f"{name}: expected rows from 0 to {count - 1}, got {array.min()} to {array.max()}")
