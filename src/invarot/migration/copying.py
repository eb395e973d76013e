"""Copy a store through an adapter: in batches, to go on after a crash, with ids and payload kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..checks import check_count
from ..errors import InputError
from ..stores import Batch, Info, Store
from ..stores.address import open_beside, parse_address, same_place
from ..stores.protocol import is_url
from .adapter import Adapter, load

BATCH_ROWS = 2048  # rows per batch
WRITING, COMPLETE = "writing", "complete"
REPLACING = "replacing"  # all rows are written, to a store beside the one whose place it takes


def journal_of(destination: Store) -> Path:
    """Return the path of a destination's journal: a file beside it (of a server, in the working folder) with its adapter and its state."""
    place = parse_address(destination.address)
    if not place.engine:
        return Path(place.where + ".adapter.safetensors")
    folder = Path() if is_url(place.where) else Path(place.where).parent
    stem = place.collection if is_url(place.where) else f"{Path(place.where).name}.{place.collection}"
    return folder / f"{stem}.adapter.safetensors"


def find_unfinished(old: Store, new: Store, destination: Store) -> Adapter | None:
    """Return the adapter of the unfinished copy at a destination, or None if there is none.

    Raises InputError if that copy has another source or sample, or was written to another destination.
    """
    path = journal_of(destination)
    if not path.exists():
        return None
    adapter = load(path)
    if adapter.facts.get("state") not in (WRITING, REPLACING):
        return None
    wanted = {"source": old.address, "sample": new.address, "destination": destination.address}
    for name, address in wanted.items():
        if adapter.facts.get(name) != address:
            raise InputError(
                f"{destination.address}: expected the {name} of the unfinished copy there, {adapter.facts.get(name)}, got "
                f"{address}; finish that copy, or start again with replace_existing=True"
            )
    return adapter


def map_store(
    old: Store,
    destination: Store,
    adapter: Adapter,
    *,
    info: Info | None = None,
    replace_existing: bool = False,
    size: int = BATCH_ROWS,
    on_rows: Callable[[int], None] | None = None,
) -> int:
    """Write every row of ``old``, mapped, to a new store; return their number.

    The adapter is written beside the destination first. A copy that was stopped or killed goes on when it is called again
    with the adapter of :func:`find_unfinished`; no row is lost or written twice. ``old`` is only read.

    Parameters
    ----------
    old, destination : Store
    adapter : Adapter
    info : Info, optional
        Description of ``old`` (``Migration.old``), after which the new store is made. By default that of its first row.
    replace_existing : bool
        Replace what is at the destination: the copy is written beside it, and takes its place when it is complete. Without
        this, a store that exists is an error.
    size : int
        Rows per batch; a copy that goes on keeps the size it began with.
    on_rows : callable, optional
        Called with the number of rows written so far, after each batch.
    """
    check_count(size, "size")
    if same_place(old.address, destination.address):
        raise InputError(
            f"destination: expected another store than the source, got {old.address} for both; choose another"
        )
    if replace_existing:
        return _replace_store(old, destination, adapter, info, size, on_rows)
    return _write_store(old, destination, adapter, info, size, on_rows, COMPLETE)


def _replace_store(
    old: Store,
    destination: Store,
    adapter: Adapter,
    info: Info | None,
    size: int,
    on_rows: Callable[[int], None] | None,
) -> int:
    """Write a copy beside the destination, or finish one, and put it in its place."""
    beside = open_beside(destination.address)
    journal = journal_of(beside)
    if adapter.facts.get("state") not in (WRITING, REPLACING) or not journal.exists():
        beside.drop()
        journal.unlink(missing_ok=True)
        if not destination.exists():
            journal_of(destination).unlink(missing_ok=True)
            return _write_store(old, destination, adapter, info, size, on_rows, COMPLETE)
    if adapter.facts.get("state") != REPLACING:
        _write_store(old, beside, adapter, info, size, on_rows, REPLACING)
        adapter = load(journal)
    beside.close()
    destination.replace_by(beside)
    facts = {**adapter.facts, "destination": destination.address, "state": COMPLETE}
    Adapter(adapter.map, facts).save(journal_of(destination))
    journal.unlink()
    return int(facts["count"])


def _write_store(
    old: Store, destination: Store, adapter: Adapter, info: Info | None, size: int, on_rows: Callable[[int], None] | None,
    state: str,
) -> int:  # fmt: skip
    """Write a new store, or go on with one; its journal ends in ``state``."""
    journal = journal_of(destination)
    unfinished = adapter.facts.get("state") == WRITING and journal.exists()
    if not unfinished:
        adapter = _open_journal(old, destination, adapter, info or _look(old), size)
    facts = adapter.facts
    shape = replace(old.info(), dimension=adapter.map.shape[1], whole_ids=facts["whole_ids"], payload=facts["payload"])
    if shape.count != facts["count"]:
        raise InputError(
            f"{old.address}: expected {facts['count']} rows, as when the copy began, got {shape.count}; start again with "
            "replace_existing=True"
        )
    done = destination.begin(shape, facts["batch"])
    for batch in old.read(facts["batch"], start=done) if done < shape.count else ():
        destination.append(Batch(batch.ids, adapter.apply(batch.vectors), batch.payload))
        done += len(batch)
        if on_rows is not None:
            on_rows(done)
    destination.finish()
    _check_complete(destination, shape.count)
    Adapter(adapter.map, {**facts, "state": state}).save(journal)
    return done


def _look(old: Store) -> Info:
    """Describe a store that no sample was drawn from, by its first row."""
    first = next(old.read(1), None)
    return replace(old.info(), whole_ids=first is not None and isinstance(first.ids[0], int))


def _open_journal(old: Store, destination: Store, adapter: Adapter, info: Info, size: int) -> Adapter:
    """Write the adapter beside a destination that does not exist yet, with what a copy needs to go on."""
    if destination.exists():
        raise InputError(
            f"{destination.address}: expected a new store, got one that exists; choose another name, or pass replace_existing=True"
        )
    facts: dict[str, Any] = {
        **adapter.facts, "source": old.address, "destination": destination.address, "state": WRITING, "batch": size,
        "count": info.count, "whole_ids": info.whole_ids, "payload": info.payload,
    }  # fmt: skip
    found = Adapter(adapter.map, facts)
    found.save(journal_of(destination))
    return found


def _check_complete(destination: Store, count: int) -> None:
    found = destination.info().count
    if found != count:
        raise InputError(
            f"{destination.address}: expected {count} rows at the end, got {found}, since another program wrote to it; start again "
            "with replace_existing=True"
        )
