"""Rows on their way into one file: a folder beside it, which survives a crash and is assembled at the end."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from .protocol import Batch, Info

VECTORS, ROWS, ABOUT = "vectors.f4", "rows.jsonl", "about.json"


class Spool:
    """The folder ``FILE.part``: vectors as raw float32, ids and payload as a line of JSON each.

    A row counts when both its vector and its line are complete; what lies beyond is cut off before the next row is added.
    """

    def __init__(self, file: Path) -> None:
        self.folder = file.with_name(file.name + ".part")

    def create(self, info: Info) -> None:
        check_parent(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        (self.folder / VECTORS).touch()
        (self.folder / ROWS).touch()
        # last: a folder with this file has all three
        write_synced(self.folder / ABOUT, json.dumps({"dimension": info.dimension, "metric": info.metric}).encode())

    @property
    def begun(self) -> bool:
        return (self.folder / ABOUT).is_file()

    def about(self) -> Info:
        facts = json.loads((self.folder / ABOUT).read_text())
        return Info(self.rows(), facts["dimension"], facts["metric"])

    def rows(self) -> int:
        """Count the complete rows, and cut off what a crash left of another."""
        width = 4 * json.loads((self.folder / ABOUT).read_text())["dimension"]
        whole = (self.folder / VECTORS).stat().st_size // width
        count, end = 0, 0
        with open(self.folder / ROWS, "r+b") as lines:
            for line in lines:
                if count == whole or not line.endswith(b"\n"):
                    break
                count, end = count + 1, end + len(line)
            lines.truncate(end)
        os.truncate(self.folder / VECTORS, count * width)
        return count

    def append(self, batch: Batch) -> None:
        lines = "".join(encode_row(id, payload) for id, payload in zip(batch.ids, batch.payload, strict=True))
        _add(self.folder / VECTORS, np.ascontiguousarray(batch.vectors, dtype="<f4").tobytes())
        _add(self.folder / ROWS, lines.encode())

    def blocks(self, rows: int = 4096) -> Iterator[bytes]:
        """Yield the bytes of the vectors, a few thousand rows at a time."""
        width = 4 * self.about().dimension
        with open(self.folder / VECTORS, "rb") as stream:
            while block := stream.read(rows * width):
                yield block

    def identities(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield the id and payload of every row."""
        yield from decode_rows(self.folder / ROWS)

    def drop(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def encode_row(id: Any, payload: dict[str, Any]) -> str:
    try:
        return json.dumps({"id": id, "payload": payload} if payload else {"id": id}, ensure_ascii=False) + "\n"
    except TypeError as error:
        raise InputError(
            f"payload: expected values that JSON can hold, got {error} in row {id!r}; migrate to .parquet or LanceDB"
        ) from error


def decode_rows(path: Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            try:
                row = json.loads(line)
                yield row["id"], row.get("payload", {})
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputError(
                    f'{path}: expected a line {{"id": …, "payload": {{…}}}} per row, got {line[:60]!r}; write both files again'
                ) from error


def write_synced(path: Path, content: bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(f"store: expected a file in a folder that exists, got {path}; create {path.parent} first")


def _add(path: Path, content: bytes) -> None:
    with open(path, "ab") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
