"""FAISS index files: any index that can reconstruct its vectors is read; a flat one is written."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from ..errors import InputError, MissingExtra
from .files import ArrayFile, Rows
from .protocol import Info

METRICS = {0: "dot", 1: "l2"}


class FaissFile(ArrayFile):
    """The vectors of an index; whole-number ids live in the file (IndexIDMap), others and payload in a second one."""

    @contextmanager
    def _table(self, size: int, start: int) -> Iterator[Rows]:
        index = self._load()
        inner, ids = index, None
        if hasattr(index, "id_map"):
            ids = _faiss().vector_to_array(index.id_map).tolist()
            inner = _faiss().downcast_index(index.index)
        yield (index.ntotal, index.d), self._reconstruct(inner, size, start), ids

    def _reconstruct(self, index: Any, size: int, start: int) -> Iterator[np.ndarray[Any, Any]]:
        for row in range(start, index.ntotal, size):
            try:
                if hasattr(index, "make_direct_map") and row == start:  # inverted lists find a row by it
                    index.make_direct_map()
                yield index.reconstruct_n(row, min(size, index.ntotal - row))
            except RuntimeError as error:
                raise InputError(
                    f"{self.address}: expected an index that holds its vectors, got a {type(index).__name__} that cannot "
                    "reconstruct them; use the vectors it was built from"
                ) from error

    def _load(self) -> Any:
        faiss = _faiss()
        try:
            return faiss.read_index(str(self.path), faiss.IO_FLAG_MMAP_IFC)  # flat codes stay on disk
        except RuntimeError as error:
            raise InputError(
                f"{self.address}: expected a FAISS index, got a damaged or different file; write it again with "
                "faiss.write_index"
            ) from error

    def _metric(self) -> str:
        return METRICS.get(self._load().metric_type, "l2")

    def _ids(self) -> list[Any] | None:
        """Return the ids if the file itself can hold them: whole numbers that are not just the row numbers."""
        ids = [id for id, _ in self.spool.identities()]
        if not all(isinstance(id, int) and -(1 << 63) <= id < 1 << 63 for id in ids):
            return None
        return ids if ids != list(range(len(ids))) else None

    def _needs_sidecar(self) -> bool:
        return any(payload or not isinstance(id, int) for id, payload in self.spool.identities())

    def _assemble(self, stream: BinaryIO, info: Info) -> None:
        """Write an IndexFlat, in an IndexIDMap2 where ids are not row numbers: the layout of faiss.write_index."""
        _faiss()
        ids = self._ids()
        if ids is not None:
            stream.write(_header(b"IxM2", info))
        stream.write(_header(b"IxF2" if info.metric == "l2" else b"IxFI", info))
        stream.write(struct.pack("<Q", info.count * info.dimension))
        for block in self.spool.blocks():
            stream.write(block)
        if ids is not None:
            stream.write(struct.pack("<Q", len(ids)) + np.asarray(ids, dtype="<i8").tobytes())


def _header(kind: bytes, info: Info) -> bytes:
    metric = 1 if info.metric == "l2" else 0
    return kind + struct.pack("<iqqqBi", info.dimension, info.count, 1 << 20, 1 << 20, 1, metric)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise MissingExtra("A FAISS index", "faiss") from error
    return faiss
