"""Array files: .npy, .npz and .safetensors, with ids and payload in a second file, NAME.rows.jsonl, where there are any."""

from __future__ import annotations

import itertools
import json
import os
import struct
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..errors import InputError
from ..files import reading, write_file
from ..words.packed import read_members
from .npy import check_shape, read_header, stream_rows, write_npy
from .protocol import Batch, Info, check_vectors, missing
from .spool import Spool, decode_rows, encode_row

if TYPE_CHECKING:
    from .address import Place

Rows = tuple[tuple[int, int], Iterator[np.ndarray[Any, Any]], Sequence[Any] | None]


class ArrayFile(ABC):
    """One table in one file: what .npy, .npz, .safetensors and FAISS files share."""

    def __init__(self, place: Place) -> None:
        self.path = Path(place.where)
        self.address = place.where
        self.spool = Spool(self.path)
        self.sidecar = self.path.with_name(self.path.name + ".rows.jsonl")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address!r})"

    def exists(self) -> bool:
        return self.path.exists() or self.spool.folder.exists()

    def info(self) -> Info:
        if not self.path.is_file():
            raise missing(self.address, "a file")
        with reading(self.address), self._table(1, 0) as (shape, _, _):
            return Info(shape[0], shape[1], self._metric())

    def read(self, size: int, start: int = 0) -> Iterator[Batch]:
        with reading(self.address), self._table(size, start) as (shape, blocks, ids):
            beside = itertools.islice(decode_rows(self.sidecar), start, None) if self.sidecar.is_file() else None
            row = start
            for block in blocks:
                vectors = check_vectors(block, self.address, row, shape[1])
                listed = range(row, row + len(vectors)) if ids is None else ids[row : row + len(vectors)]
                names: list[Any] = list(listed)
                payload: list[dict[str, Any]] = [{} for _ in vectors]
                if beside is not None:
                    names, payload = _next_rows(beside, len(vectors), self.sidecar)
                yield Batch(names, vectors, payload)
                row += len(vectors)

    def begin(self, info: Info, size: int) -> int:
        if self.path.is_file():  # a crash came after the last step but one
            self.spool.drop()
            return info.count
        if not self.spool.begun:
            self.spool.create(info)
        return self.spool.rows()

    def append(self, batch: Batch) -> None:
        self.spool.append(batch)

    def finish(self) -> None:
        """Assemble the file; the second one is complete before the first appears."""
        if self.path.is_file():
            return
        info = self.spool.about()
        if self._needs_sidecar():
            with write_file(self.sidecar) as stream:
                for id, payload in self.spool.identities():
                    stream.write(encode_row(id, payload).encode())
        with write_file(self.path) as stream:
            self._assemble(stream, info)
        self.spool.drop()

    def drop(self) -> None:
        self.path.unlink(missing_ok=True)
        self.sidecar.unlink(missing_ok=True)
        self.spool.drop()

    def replace_by(self, other: ArrayFile) -> None:
        if other.path.is_file():
            self.sidecar.unlink(missing_ok=True)  # first: the ids of one file are never beside the vectors of the other
            os.replace(other.path, self.path)
        if other.sidecar.is_file():
            os.replace(other.sidecar, self.sidecar)
        self.spool.drop()

    def space(self) -> int | None:
        return sum(one.stat().st_size for one in (self.path, self.sidecar) if one.is_file())

    def close(self) -> None:  # noqa: B027 -- the protocol asks for it
        """Nothing is held open between calls."""

    def _needs_sidecar(self) -> bool:
        return any(id != row or payload for row, (id, payload) in enumerate(self.spool.identities()))

    def _metric(self) -> str:
        return "cosine"

    @abstractmethod
    def _table(self, size: int, start: int) -> AbstractContextManager[Rows]:
        """Open the shape, the rows from ``start`` on in blocks of ``size``, and the ids (None for row numbers)."""

    @abstractmethod
    def _assemble(self, stream: BinaryIO, info: Info) -> None:
        """Write the whole file from the spool."""


class NpyFile(ArrayFile):
    @contextmanager
    def _table(self, size: int, start: int) -> Iterator[Rows]:
        with open(self.path, "rb") as stream:
            shape, dtype = read_header(stream, self.address)
            yield shape, stream_rows(stream, shape, dtype, size, start, self.address), None

    def _assemble(self, stream: BinaryIO, info: Info) -> None:
        write_npy(stream, info, self.spool)


class NpzFile(ArrayFile):
    """``vectors``, and ``ids`` or ``words`` where they are strings or numbers; read as a stream, compressed or not."""

    @contextmanager
    def _table(self, size: int, start: int) -> Iterator[Rows]:
        if not zipfile.is_zipfile(self.path):
            raise InputError(f"{self.address}: expected an npz file, got a damaged or different one; save it again")
        with zipfile.ZipFile(self.path) as archive:
            members = {name.removesuffix(".npy") for name in archive.namelist()}
            if "vectors" not in members:
                raise InputError(f"{self.address}: expected an array 'vectors', got {sorted(members)}; rename it")
            named = next((name for name in ("ids", "words") if name in members), None)
            ids = None if named is None else read_members(self.path, (named,))[0].tolist()
            with archive.open("vectors.npy") as stream:
                shape, dtype = read_header(stream, self.address)
                yield (
                    shape,
                    stream_rows(stream, shape, dtype, size, start, self.address),
                    _check_ids(ids, shape[0], self.address),
                )

    def _assemble(self, stream: BinaryIO, info: Info) -> None:
        with zipfile.ZipFile(stream, "w") as archive, archive.open("vectors.npy", "w", force_zip64=True) as member:
            write_npy(member, info, self.spool)  # type: ignore[arg-type]


class SafetensorsFile(ArrayFile):
    """The tensor ``vectors``, or the only table; ids in the metadata ``words``, a JSON list, where there are any."""

    @contextmanager
    def _table(self, size: int, start: int) -> Iterator[Rows]:
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(str(self.path), framework="np") as file:
                names = sorted(file.keys())
                tables = [name for name in names if len(file.get_slice(name).get_shape()) == 2]
                if "vectors" not in names and len(tables) != 1:
                    raise InputError(
                        f"{self.address}: expected one table or one named 'vectors', got {names}; rename it"
                    )
                values = file.get_slice("vectors" if "vectors" in names else tables[0])
                shape = check_shape(tuple(values.get_shape()), values[:0].dtype, self.address)
                words = (file.metadata() or {}).get("words")
                ids = _check_ids(json.loads(words) if words else None, shape[0], self.address)
                yield shape, (values[row : min(row + size, shape[0])] for row in range(start, shape[0], size)), ids
        except (SafetensorError, TypeError) as error:
            raise InputError(
                f"{self.address}: expected safetensors of float16, float32 or float64, got a file that cannot be read "
                f"({error}); save it again"
            ) from error

    def _assemble(self, stream: BinaryIO, info: Info) -> None:
        size = 4 * info.count * info.dimension
        table = {"dtype": "F32", "shape": [info.count, info.dimension], "data_offsets": [0, size]}
        header = json.dumps({"vectors": table}).encode()
        header += b" " * (-len(header) % 8)
        stream.write(struct.pack("<Q", len(header)) + header)
        for block in self.spool.blocks():
            stream.write(block)


def _next_rows(rows: Iterator[tuple[Any, dict[str, Any]]], count: int, path: Path) -> tuple[list[Any], list[Any]]:
    found = list(itertools.islice(rows, count))
    if len(found) < count:
        raise InputError(f"{path}: expected a line for every vector, got too few; write both files again")
    return [id for id, _ in found], [payload for _, payload in found]


def _check_ids(ids: Any, count: int, address: str) -> list[Any] | None:
    """Return the ids that a file lists, one text or whole number per row; None if it lists none."""
    if ids is None:
        return None
    if not isinstance(ids, list) or len(ids) != count:
        listed = f"{len(ids)} ids, {count} vectors" if isinstance(ids, list) else type(ids).__name__
        raise InputError(f"{address}: expected an id per vector, got {listed}; write the file again")
    odd = next((id for id in ids if not isinstance(id, (str, int))), None)
    if odd is not None:
        raise InputError(
            f"{address}: expected texts or whole numbers as ids, got {str(odd)[:40]!r}; write the file again"
        )
    return ids
