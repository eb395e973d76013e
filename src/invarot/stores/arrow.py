"""Parquet and Arrow files. Written as one part per batch in a folder beside the file, joined at the end."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..files import reading, write_file
from .columns import choose_columns, describe_columns, from_arrow, make_schema, pyarrow, to_arrow
from .protocol import Batch, Info, missing, rechunk
from .spool import check_parent

if TYPE_CHECKING:
    from .address import Place


class _Table(ABC):
    """What Parquet and Arrow files share: all but how record batches are read and written."""

    def __init__(self, place: Place) -> None:
        self.path, self.address, self.options = Path(place.where), place.where, place.options
        self.parts = self.path.with_name(self.path.name + ".part")
        self.like: Info | None = None

    def exists(self) -> bool:
        return self.path.exists() or self.parts.exists()

    def info(self) -> Info:
        with reading(self.address):
            schema, count = self._describe()
            vector, id = choose_columns(schema, self.options, self.address)
            return describe_columns(schema, count, self._dimension(schema, vector), vector, id, "cosine")

    def read(self, size: int, start: int = 0) -> Iterator[Batch]:
        with reading(self.address):
            schema, _ = self._describe()
            vector, id = choose_columns(schema, self.options, self.address)
            yield from rechunk(self._rows(size, start, vector, id, self._dimension(schema, vector)), size)

    def _rows(self, size: int, start: int, vector: str, id: str | None, dimension: int) -> Iterator[Batch]:
        row = 0
        for table in self._batches(size):
            skipped = min(max(start - row, 0), table.num_rows)
            row += table.num_rows
            if skipped < table.num_rows:
                first = row - table.num_rows + skipped
                yield from_arrow(table.slice(skipped), vector, id, self.address, first, dimension)

    def _dimension(self, schema: Any, vector: str) -> int:
        size = getattr(schema.field(vector).type, "list_size", -1)
        if size > 0:
            return int(size)
        first = next((one.column(vector)[0].as_py() for one in self._batches(1) if one.num_rows), None)
        if not first:
            raise InputError(
                f"{self.address}: expected rows with vectors, got an empty table or an empty first vector; name another store"
            )
        return len(first)

    def begin(self, info: Info, size: int) -> int:
        check_parent(self.parts)
        self.like = info
        if self.path.is_file():  # a crash came after the last step but one
            shutil.rmtree(self.parts, ignore_errors=True)
            return info.count
        self.parts.mkdir(exist_ok=True)
        counts = [int(part.stem.split("-")[2]) for part in self._finished_parts()]
        return sum(counts)

    def append(self, batch: Batch) -> None:
        """Write a part, named after its number and its count of rows; the name appears when it is complete."""
        assert self.like is not None, "begin was not called"
        table = to_arrow(batch, make_schema(self.like, fixed=False), self.like, self.address)
        number = len(self._finished_parts())
        with write_file(self.parts / f"part-{number:08d}-{len(batch)}.arrow") as stream:
            pyarrow().feather.write_feather(table, stream, compression="uncompressed")

    def finish(self) -> None:
        assert self.like is not None, "begin was not called"
        if self.path.is_file():
            return
        schema = make_schema(self.like, fixed=False)
        with write_file(self.path) as stream, self._writer(stream, schema) as writer:
            for part in self._finished_parts():
                writer.write_table(pyarrow().feather.read_table(part, memory_map=False))
        shutil.rmtree(self.parts)

    def drop(self) -> None:
        self.path.unlink(missing_ok=True)
        shutil.rmtree(self.parts, ignore_errors=True)

    def replace_by(self, other: _Table) -> None:
        if other.path.is_file():
            os.replace(other.path, self.path)
        shutil.rmtree(self.parts, ignore_errors=True)

    def space(self) -> int | None:
        return self.path.stat().st_size if self.path.is_file() else 0

    def close(self) -> None:  # noqa: B027 -- the protocol asks for it
        """Nothing is held open between calls."""

    def _finished_parts(self) -> list[Path]:
        return sorted(self.parts.glob("part-*.arrow"))

    def _check_file(self) -> None:
        if not self.path.is_file():
            raise missing(self.address, "a file")

    def _damaged(self, kind: str, error: Exception) -> InputError:
        return InputError(f"{self.address}: expected {kind}, got a damaged or different file ({error}); write it again")

    @abstractmethod
    def _describe(self) -> tuple[Any, int]:
        """Return the schema and the number of rows."""

    @abstractmethod
    def _batches(self, size: int) -> Iterator[Any]:
        """Yield record batches of at most ``size`` rows."""

    @abstractmethod
    def _writer(self, stream: Any, schema: Any) -> Any:
        """Return a writer of record batches to a stream."""


class ParquetFile(_Table):
    def _describe(self) -> tuple[Any, int]:
        pa = pyarrow()
        self._check_file()
        try:
            file = pa.parquet.ParquetFile(self.path)
        except pa.ArrowInvalid as error:
            raise self._damaged("a Parquet file", error) from error
        return file.schema_arrow, file.metadata.num_rows

    def _batches(self, size: int) -> Iterator[Any]:
        yield from pyarrow().parquet.ParquetFile(self.path).iter_batches(batch_size=size)

    def _writer(self, stream: Any, schema: Any) -> Any:
        return pyarrow().parquet.ParquetWriter(stream, schema)


class ArrowFile(_Table):
    """The IPC file format, also called Feather 2."""

    def _describe(self) -> tuple[Any, int]:
        pa = pyarrow()
        self._check_file()
        try:
            with pa.memory_map(str(self.path)) as source, pa.ipc.open_file(source) as file:
                return file.schema, sum(file.get_batch(k).num_rows for k in range(file.num_record_batches))
        except pa.ArrowInvalid as error:
            raise self._damaged("an Arrow file", error) from error

    def _batches(self, size: int) -> Iterator[Any]:
        pa = pyarrow()
        with pa.memory_map(str(self.path)) as source, pa.ipc.open_file(source) as file:
            for batch in _whole_batches(file):
                for row in range(0, batch.num_rows, size):
                    yield batch.slice(row, size)

    def _writer(self, stream: Any, schema: Any) -> Any:
        return pyarrow().ipc.new_file(stream, schema)


def _whole_batches(file: Any) -> Iterator[Any]:
    """Yield the record batches, checked: Arrow ends the process over buffers that are shorter than they say."""
    for k in range(file.num_record_batches):
        batch = file.get_batch(k)
        batch.validate(full=True)
        yield batch
