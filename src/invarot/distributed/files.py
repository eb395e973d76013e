"""Files aligned by the ranks that torchrun started: each reads its own rows and writes its own part."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..alignment.options import Sinkhorn
from ..alignment.result import Alignment
from ..arrays import import_torch, place
from ..errors import InputError
from ..folders import ALIGNMENT, check_replaceable
from ..stores.address import open_store
from .align import align

CHUNK = 65_536  # rows read at a time


def started_by_torchrun() -> bool:
    """Return whether this process is one of several ranks, by the variables that torchrun sets."""
    return "TORCHELASTIC_RUN_ID" in os.environ or int(os.environ.get("WORLD_SIZE", "1")) > 1


def align_files(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    device: str | None = None,
    memory: str | int | None = None,
    rng: int = 0,
    p: float = float("inf"),
    ordered: bool = True,
    overwrite: bool = False,
) -> tuple[Alignment, Path, int]:
    """Align two stores of vectors (.npy, .safetensors, .parquet and the like); every rank of a torchrun calls this.

    A store of several files is given by a pattern, such as ``"x-*.safetensors"``: their rows in the order of their names.
    A rank reads its share of the rows of ``source`` and all of ``target``, and writes its part of the alignment to the folder
    ``rank-K-of-N`` in ``output``, for :func:`invarot.load`. Returns the part, its folder and the rank.
    """
    torch = import_torch("a solve over many ranks")
    with joined(torch, device) as (rank, count, where):
        folder = Path(output) / f"rank-{rank}-of-{count}"
        check_replaceable(folder, ALIGNMENT, overwrite=overwrite)
        rows = count_rows(source)
        if rows < count:
            raise InputError(f"source: expected at least one row for each of {count} ranks, got {rows}")
        x = read_rows(source, rows * rank // count, rows * (rank + 1) // count)
        y = read_rows(target, 0, count_rows(target))
        solver = Sinkhorn(memory=memory)
        result = align(place(x, where), place(y, where), p=p, rng=rng, solver=solver, ordered=ordered).on_host()
        result.save(folder)
        return result, folder, rank


def list_parts(address: str | os.PathLike[str]) -> list[str]:
    """Return the files of a pattern, sorted by name; an address without a star is one store."""
    text = os.fspath(address)
    if "*" not in text:
        return [text]
    found = sorted(glob.glob(text))
    if not found:
        raise InputError(f"{text}: expected files of this pattern, got none; check the folder and the pattern")
    return found


def count_rows(address: str | os.PathLike[str]) -> int:
    """Return the number of rows of a store, or of all files of a pattern."""
    return sum(open_store(part).info().count for part in list_parts(address))


def read_rows(address: str | os.PathLike[str], begin: int, end: int) -> np.ndarray[Any, Any]:
    """Return the rows ``begin`` to ``end`` of a store or of all files of a pattern, float32, read in chunks."""
    parts = list_parts(address)
    dimension = open_store(parts[0]).info().dimension
    out, done, before = np.empty((end - begin, dimension), np.float32), 0, 0
    for part in parts:
        info = open_store(part).info()
        if info.dimension != dimension:
            raise InputError(f"{part}: expected {dimension} columns, as in {parts[0]}, got {info.dimension}")
        first = max(begin - before, 0)
        before += info.count
        if before <= begin or done == len(out):
            continue
        for batch in open_store(part).read(min(CHUNK, max(len(out) - done, 1)), first):
            rows = batch.vectors[: len(out) - done]
            out[done : done + len(rows)] = rows
            done += len(rows)
            if done == len(out):
                break
    if done < len(out):
        raise InputError(f"{address}: expected {end} rows, got {begin + done}; was it changed while it was read?")
    return out


@contextmanager
def joined(torch: Any, device: str | None) -> Iterator[tuple[int, int, str]]:
    """Join the group that torchrun describes: its rank, its size, and the device of this rank."""
    cuda = device not in (None, "cpu") and (device != "auto" or torch.cuda.is_available())
    where = f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if cuda else "cpu"
    if cuda:
        torch.cuda.set_device(where)
    made = not torch.distributed.is_initialized()
    if made:
        torch.distributed.init_process_group("nccl" if cuda else "gloo")
    try:
        yield torch.distributed.get_rank(), torch.distributed.get_world_size(), where
    finally:
        if made:
            torch.distributed.destroy_process_group()
