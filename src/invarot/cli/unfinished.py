"""A copy of ``invarot migrate`` that was broken off, and whether a command may go on with it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..migration import Adapter, find_unfinished
from ..migration.fitting import SAMPLE
from ..migration.pairs import SAME_IDS
from ..stores import Store, open_beside

DEFAULTS = {"pairs": None, "check_pairs": None, "at_least": None, "sample": SAMPLE, "effort": None, "device": None, "seed": 0}  # fmt: skip


def describe_solve(
    pairs: str | None, check_pairs: str | None, at_least: float | None, sample: int, effort: str | None,
    device: str | None, seed: int,
) -> dict[str, Any]:  # fmt: skip
    """Return the options that decide what is found, and whether it is written, by name; files of pairs with their checksum."""
    values = (_identify(pairs), _identify(check_pairs), at_least, sample, effort, device, seed)
    return dict(zip(DEFAULTS, values, strict=True))


def _identify(pairs: str | None) -> str | None:
    if pairs is None or pairs == SAME_IDS or not Path(pairs).is_file():
        return pairs
    return f"{Path(pairs).name} (sha256 {hashlib.sha256(Path(pairs).read_bytes()).hexdigest()[:16]})"


def find_copy(
    old: Store, new: Store, destination: Store, asked: dict[str, Any], force: bool
) -> tuple[Adapter | None, bool]:
    """Return the adapter of the copy to go on with, if any, and whether that copy takes the place of another store.

    A copy that was begun with other options is an error; with ``force`` it is begun again.
    """
    places = [(open_beside(destination.address), True)] if force or not destination.exists() else []
    places += [] if force else [(destination, False)]
    for place, replacing in places:
        try:
            found = find_unfinished(old, new, place)
            if found is not None:
                _check_asked(found, asked, destination)
                return found, replacing
        except InputError:
            if not force:
                raise
    return None, False


def _check_asked(unfinished: Adapter, asked: dict[str, Any], destination: Store) -> None:
    begun = {**DEFAULTS, **unfinished.facts.get("asked", {})}
    for name, value in asked.items():
        if value not in (DEFAULTS[name], begun[name]):
            option = "--" + name.replace("_", "-")
            was = "without it" if begun[name] is None else f"with {begun[name]}"
            raise InputError(
                f"{option}: expected what the unfinished copy to {destination.address} was begun with, got {value}; it was begun "
                f"{was}: leave {option} out to go on, or start again with --force"
            )


def name_copy(unfinished: Adapter, destination: Store) -> str:
    """Name an unfinished copy, with the options of its solve that are not the default."""
    begun = {name: value for name, value in unfinished.facts.get("asked", {}).items() if value != DEFAULTS.get(name)}
    options = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in begun.items())
    return f"an unfinished copy to {destination.address}" + (f", begun with {options}" if options else "")
