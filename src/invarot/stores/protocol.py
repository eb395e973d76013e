"""What every store can do, and the checks that all of them share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from ..errors import InputError

T = TypeVar("T")
CALL_TRIES, FIRST_PAUSE = 5, 0.5  # calls to a server, and seconds before the second one; each pause doubles


class StoreUnavailable(OSError):
    """A server does not answer. What was written so far stays; the same call again resumes there."""


@dataclass(frozen=True)
class Batch:
    """Rows of a store, in its order.

    Attributes
    ----------
    ids : n strings or whole numbers
    vectors : (n, d) float32
    payload : n dicts; empty where a row has nothing but its vector
    """

    ids: list[Any]
    vectors: np.ndarray[Any, Any]
    payload: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Info:
    """``count`` rows of ``dimension`` columns, compared by ``metric`` ("cosine", "dot" or "l2").

    The rest is what a copy needs to have the same form: the Arrow ``schema`` of id and payload where the store has one, the names
    of its columns, whether all ids are whole numbers, and whether any row has a payload.
    """

    count: int
    dimension: int
    metric: str = "cosine"
    schema: Any = None
    id_name: str = "id"
    vector_name: str = "vector"
    whole_ids: bool = False
    payload: bool = True


class Store(Protocol):
    """A collection of vectors with ids and payload.

    A store that is being written is complete only after ``finish``. ``append`` either adds a whole batch or nothing, or it
    replaces rows of the same id; so ``begin`` can say from which row a writer that was killed has to go on.
    """

    address: str

    def exists(self) -> bool:
        """Return whether there is a store at this address, complete or unfinished."""
        ...

    def info(self) -> Info:
        """Describe the store; InputError where there is none."""
        ...

    def read(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Yield the rows from ``start`` on, ``size`` at a time, always in the same order."""
        ...

    def begin(self, info: Info, size: int) -> int:
        """Create the store for rows like ``info``, or go on with one begun in batches of ``size``.

        Returns how many of its first rows are stored for certain; the next batch has to start with the row after them.
        """
        ...

    def append(self, batch: Batch) -> None:
        """Add rows."""
        ...

    def finish(self) -> None:
        """Complete the store."""
        ...

    def drop(self) -> None:
        """Delete the store, complete or not."""
        ...

    def replace_by(self, other: Any) -> None:
        """Replace this store by ``other``, a complete one of the same kind beside it; a call that was killed is finished by the next."""
        ...

    def space(self) -> int | None:
        """Return the bytes on disk; None for a server."""
        ...

    def close(self) -> None:
        """Release files and locks."""
        ...


def check_vectors(values: Any, address: str, start: int, dimension: int) -> np.ndarray[Any, Any]:
    """Return rows (n, ``dimension``) as float32, finite; errors name the row, counted from ``start``."""
    try:
        found = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{address}: expected a vector of {dimension} numbers in every row, got others after row {start} ({error}); "
            "drop or embed these rows"
        ) from error
    if found.ndim != 2 or found.shape[1] != dimension:
        raise InputError(
            f"{address}: expected vectors of {dimension} dimensions, got shape {found.shape[1:]} from row {start} on; "
            "a collection holds vectors of one model: split it"
        )
    bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(bad):
        raise InputError(
            f"{address}: expected finite vectors, got NaN or inf in row {start + int(bad[0])}; drop or embed it again"
        )
    return found


def missing(address: str, what: str) -> InputError:
    return InputError(f"{address}: expected {what}, got nothing there; check the path and the name")


def is_url(where: str) -> bool:
    return where.startswith(("http://", "https://"))


def folder_size(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum((Path(base) / name).stat().st_size for base, _, names in os.walk(folder) for name in names)


def rechunk(batches: Iterator[Batch], size: int) -> Iterator[Batch]:
    """Yield the same rows in batches of exactly ``size``, the last one aside."""
    held: list[Batch] = []
    count = 0
    for batch in batches:
        while count + len(batch) >= size:
            cut = size - count
            held.append(_slice(batch, 0, cut))
            yield _join(held)
            held, count, batch = [], 0, _slice(batch, cut, len(batch))
        if len(batch):
            held.append(batch)
            count += len(batch)
    if held:
        yield _join(held)


def _slice(batch: Batch, first: int, last: int) -> Batch:
    return Batch(batch.ids[first:last], batch.vectors[first:last], batch.payload[first:last])


def _join(parts: list[Batch]) -> Batch:
    if len(parts) == 1:
        return parts[0]
    return Batch(
        [one for part in parts for one in part.ids],
        np.concatenate([part.vectors for part in parts]),
        [one for part in parts for one in part.payload],
    )


def retry(
    call: Callable[[], T],
    address: str,
    gone: Callable[[Exception], bool],
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Return ``call()``; where ``gone`` says that the server did not answer, try again, then raise StoreUnavailable."""
    for number in range(CALL_TRIES):
        try:
            return call()
        except Exception as error:
            if not gone(error):
                raise
            if number == CALL_TRIES - 1:
                raise StoreUnavailable(
                    f"{address}: expected a server that answers, got none in {CALL_TRIES} tries ({error}); "
                    "start it and run the same command again: it resumes where it stopped"
                ) from error
            sleep(FIRST_PAUSE * 2**number)
    raise AssertionError("unreachable")
