"""Known pairs: the same texts in both models, by their ids."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..stores import Store
from .sample import READ, Sample

SAME_IDS = "ids"  # instead of a file: rows of the same id in both stores
MOST_PAIRS = 5000  # pairs that are used; more change neither the map nor the measurement


def find_pairs(pairs: Any, old: Store, new: Store, name: str, *, share: float = 1.0) -> dict[str, str]:
    """Return the ids of known pairs, old to new, as strings; at most 5,000, the first.

    ``pairs`` is None, a sequence of (old id, new id), a file with two ids per line (a tab or blanks between them), or
    ``"ids"``: this ``share`` of the rows of the same id in both stores, spread over the store.
    """
    if pairs is None:
        return {}
    if isinstance(pairs, str) and pairs == SAME_IDS:
        listed: Iterable[tuple[Any, Any]] = _common_ids(old, new, name, share)
    elif isinstance(pairs, str | os.PathLike):
        listed = _read(Path(pairs), name)
    else:
        listed = pairs
    found: dict[str, str] = {}
    for before, after in listed:
        found.setdefault(str(before), str(after))
        if len(found) == MOST_PAIRS:
            break
    return found


def take_pairs(
    pairs: dict[str, str], old: Sample, new: Sample, name: str
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the vectors of the pairs that both samples hold, row by row: (k, dx) and (k, dy)."""
    both = [(old.kept[a], new.kept[b]) for a, b in pairs.items() if a in old.kept and b in new.kept]
    if pairs and not both:
        first = next(iter(pairs.items()))
        raise InputError(
            f"{name}: expected ids of the old and of the new store, got {len(pairs)} pairs of which none is in both, the first "
            f"{first}; check their order"
        )
    x = np.array([a for a, _ in both], np.float32).reshape(len(both), old.info.dimension)
    return x, np.array([b for _, b in both], np.float32).reshape(len(both), new.info.dimension)


def _read(path: Path, name: str) -> list[tuple[str, str]]:
    if not path.is_file():
        raise InputError(
            f"{name}: expected a file of two ids per line, or {SAME_IDS!r}, got {path}, which is not a file; check the path"
        )
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        parts = line.split("\t") if "\t" in line else line.split()
        if not parts:
            continue
        if len(parts) != 2:
            raise InputError(
                f"{name}: expected two ids per line, got {line[:60]!r} in line {number} of {path}; correct that line"
            )
        found.append((parts[0].strip(), parts[1].strip()))
    return found


def _common_ids(old: Store, new: Store, name: str, share: float) -> Iterable[tuple[str, str]]:
    known = {str(id) for batch in new.read(READ) for id in batch.ids}
    found = [str(id) for batch in old.read(READ) for id in batch.ids if str(id) in known]
    if not found:
        raise InputError(
            f"{name}: expected some ids that are in the old and in the new store, got none in common; check that both stores hold the same texts"
        )
    step = max(math.ceil(1 / share), len(found) // MOST_PAIRS)
    return [(id, id) for id in found[::step]]
