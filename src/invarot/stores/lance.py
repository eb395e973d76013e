"""LanceDB tables, in a folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, MissingExtra
from .columns import choose_columns, describe_columns, from_arrow, make_schema, to_arrow
from .protocol import Batch, Info, folder_size, missing, rechunk

if TYPE_CHECKING:
    from .address import Place


class LanceTable:
    """A table; each batch is added in one transaction."""

    def __init__(self, place: Place) -> None:
        if "://" in place.where:
            raise InputError(
                f"store: expected a LanceDB folder on this machine, got {place.where!r}; copy it here first"
            )
        self.folder, self.name, self.options = Path(place.where), place.collection, place.options
        self.address = f"lancedb:{place.where}#{place.collection}"
        self.table: Any = None
        self.like: Info | None = None

    def exists(self) -> bool:
        return self._files.is_dir()

    def info(self) -> Info:
        schema = self._open().schema
        vector, id = choose_columns(schema, self.options, self.address)
        return describe_columns(schema, self._open().count_rows(), self._dimension(vector), vector, id, "cosine")

    def read(self, size: int, start: int = 0) -> Iterator[Batch]:
        vector, id = choose_columns(self._open().schema, self.options, self.address)
        yield from rechunk(self._rows(size, start, vector, id, self._dimension(vector)), size)

    def _rows(self, size: int, start: int, vector: str, id: str | None, dimension: int) -> Iterator[Batch]:
        row = start
        for found in self._open().search().offset(start).to_batches(batch_size=size):
            yield from_arrow(found, vector, id, self.address, row, dimension)
            row += found.num_rows

    def _dimension(self, vector: str) -> int:
        size = getattr(self._open().schema.field(vector).type, "list_size", -1)
        if size > 0:
            return int(size)
        first = self._open().search().limit(1).to_arrow().column(vector).to_pylist()
        if not first or not first[0]:
            raise InputError(
                f"{self.address}: expected rows with vectors, got an empty table or an empty first vector; name another store"
            )
        return len(first[0])

    def begin(self, info: Info, size: int) -> int:
        self.like = info
        if self.exists():
            try:
                return int(self._open().count_rows())
            except InputError:  # a crash while the table was made: there is no row in it
                shutil.rmtree(self._files)
        self.table = _connect(self.folder).create_table(self.name, schema=make_schema(info, fixed=True))
        return 0

    def append(self, batch: Batch) -> None:
        assert self.like is not None, "begin was not called"
        self._open().add(to_arrow(batch, make_schema(self.like, fixed=True), self.like, self.address))

    def finish(self) -> None:
        """A table is complete as it is; to join its fragments, ``table.optimize()``, takes memory for all of them."""

    def drop(self) -> None:
        if self.exists():
            _connect(self.folder).drop_table(self.name)
        self.table = None

    def replace_by(self, other: LanceTable) -> None:
        old = self._files.with_name(f".{self._files.name}.replaced")
        if other.exists():
            shutil.rmtree(old, ignore_errors=True)
            if self.exists():
                self._files.rename(old)
            other._files.rename(self._files)
        shutil.rmtree(old, ignore_errors=True)
        self.table = other.table = None

    def space(self) -> int | None:
        return folder_size(self._files)

    def close(self) -> None:
        self.table = None

    @property
    def _files(self) -> Path:
        return self.folder / f"{self.name}.lance"

    def _open(self) -> Any:
        if self.table is None:
            if not self.exists():
                raise missing(self.address, "a LanceDB table")
            try:
                self.table = _connect(self.folder).open_table(self.name)
            except ValueError as error:
                raise InputError(
                    f"{self.address}: expected a LanceDB table, got a folder that cannot be read as one ({error}); name another, or restore it from a copy"
                ) from error
        return self.table


def _connect(folder: Path) -> Any:
    try:
        import lancedb
    except ImportError as error:
        raise MissingExtra("A LanceDB table", "lancedb") from error
    return lancedb.connect(str(folder))
