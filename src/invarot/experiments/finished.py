"""The finished cells of an experiment, ``cells.jsonl``: several programs may add to one file, and none loses what another added."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import write_file
from ..parts import lock_folder

Finished = dict[str, Any]  # a cell: its name, its rows, and where they come from


def read_finished(store: Path, identity: dict[str, Any]) -> dict[str, Finished]:
    """Read the finished cells of an earlier run with the same options; an incomplete line is skipped.

    Cells of other options are hours of work: they are neither used nor replaced.
    """
    found: dict[str, Finished] = {}
    lines = store.read_text(encoding="utf-8").splitlines() if store.exists() else []
    if not lines:
        return found
    of = _parse(lines[0])
    if of != identity:
        told = "another file" if of is None else ", ".join(f"{key} {value!r}" for key, value in of.items())
        raise InputError(
            f"--out: expected a new folder, or cells of {', '.join(f'{key} {value!r}' for key, value in identity.items())}, "
            f"got {store} with {len(lines) - 1} cells of {told}; choose another folder, or delete that file"
        )
    for line in lines[1:]:
        cell = _parse(line)
        if cell is not None and "name" in cell:
            found[cell["name"]] = cell
    return found


def append_finished(store: Path, cell: Finished) -> None:
    """Add a finished cell at the end."""
    with lock_folder(store.parent), store.open("ab") as stream:
        cut = stream.tell() > 0 and store.read_bytes()[-1:] != b"\n"  # by a program that was killed
        stream.write(("\n" * cut + json.dumps(cell) + "\n").encode())


def merge_finished(
    store: Path,
    identity: dict[str, Any],
    more: Mapping[str, Finished] | None = None,
    *,
    order: Sequence[str] | None = None,
) -> dict[str, Finished]:
    """Write the file again with all cells that are in it and ``more``, those in ``order`` alone if given; return them."""
    with lock_folder(store.parent):
        found = read_finished(store, identity) | dict(more or {})
        if order is not None:
            found = {name: found[name] for name in order if name in found}
        lines = [json.dumps(identity), *(json.dumps(cell) for cell in found.values())]
        with write_file(store) as stream:
            stream.write(("\n".join(lines) + "\n").encode())
    return found


def _parse(line: str) -> Finished | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
