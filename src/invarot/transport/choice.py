"""Choose dense or streamed costs before anything is allocated, by the memory each needs."""

from __future__ import annotations

import math
import os
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, as_like, free_device_memory, has_triton, is_torch, on_cuda, to_numpy
from ..errors import InputError, MemoryBound
from ..rows import ALL, Rows
from ..threads import workers
from .acceleration import DIFFERENCES
from .cost import LEAST_ROWS, BlockedCost, Cost, block_entries
from .cut import CutCost, PartCost

if TYPE_CHECKING:
    from .gpu.cost import KernelCost

SHARE_OF_FREE = 0.5
SIMPLEX = 6  # numbers per entry of the cost that the network simplex stores: the plan and its arcs
# On CUDA, plain torch with a float32 kernel is faster up to about this many entries (results/gpu_solve.md).
CUDA_DENSE = 1 << 26
# After the second sweep a stored half-precision kernel is read instead of recomputed, if that is faster: with many entries
# (with few, launches dominate) and more multiply-adds per entry than reading it costs (results/gpu_solve.md).
KEPT_ENTRIES, KEPT_WORK = 1 << 29, 192
# In batches of plans this small, each gets a block of threads.
FUSED_STARTS, FUSED_POINTS, FUSED_DIMENSIONS = 16, 512, 16


def parse_memory(value: str | int | float | None, name: str = "memory") -> int | None:
    """Return bytes from ``"2GiB"``, ``"500 MB"`` or a number; None stays None (a share of the free memory).

    Examples
    --------
    >>> parse_memory("2GiB")
    2147483648
    """
    if value is None:
        return None
    found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)(I?)B?\s*", str(value).upper())
    try:
        size = float(found[1]) if found else math.nan
    except ValueError:
        size = math.nan
    if found is None or not size > 0:
        raise InputError(f'{name}: expected a size such as "2GiB" or a number of bytes, got {value!r}; write "2GiB"')
    base = 1024 if found[3] or not found[2] else 1000
    return int(size * base ** " KMGT".index(found[2] or " "))


def show_memory(size: int) -> str:
    """Return a size in words: bytes below 10 KiB, KiB below 10 MiB, MiB above."""
    if size < 10 << 10:
        return f"{size:,.0f} bytes"
    return f"{size / 2**10:,.0f} KiB" if size < 10 << 20 else f"{size / 2**20:,.0f} MiB"


def free_memory(like: Array) -> int:
    """Return the bytes free on the device of ``like``."""
    if on_cuda(like):
        return free_device_memory(like)
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return min(int(line.split()[1]) * 1024, _container_memory_left())
    except OSError:
        pages = os.sysconf("SC_AVPHYS_PAGES") if "SC_AVPHYS_PAGES" in os.sysconf_names else 1 << 18
        return pages * 4096
    return 1 << 30


def _container_memory_left(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the bytes a container may still allocate (cgroup v2); a huge number if it has no limit."""
    try:
        limit, used = ((root / name).read_text() for name in ("memory.max", "memory.current"))
        cached = re.search(r"^inactive_file (\d+)", (root / "memory.stat").read_text(), re.MULTILINE)
    except OSError:
        return sys.maxsize
    if limit.strip() == "max":
        return sys.maxsize
    return max(int(limit) - int(used) + (int(cached[1]) if cached else 0), 0)


def memory_needed(z: Array, y: Array, *, dense: bool, targets: int | None = None) -> int:
    """Return the peak memory in bytes of a plan step for z (s, n, d) and y (m, d).

    Points and images, the history of Anderson acceleration, a block per thread of ours (torch has its own), and the
    kernel if it is stored. With more ``targets`` than y has rows, the others are elsewhere and pass in blocks as large as y.
    """
    batch, n, d = z.shape
    m = y.shape[0] if targets is None else targets
    held = y.shape[0] if m == y.shape[0] else 2 * y.shape[0]
    points = batch * (3 * n + held) * d + 2 * held * d + 8 * batch * (n + m)
    past = 2 * batch * m * (2 * (DIFFERENCES + 1) + 2 * DIFFERENCES)  # float64 while they are combined
    block = min(max(block_entries(z), LEAST_ROWS * batch * m), batch * n * m)
    threads = 1 if is_torch(z) else workers()
    block *= 2 * min(threads, math.ceil(batch * n * m / block))
    return int(z.dtype.itemsize * (points + past + block + (batch * n * m if dense else 0)))


def check_exact_fits(n: int, m: int, *, assignment: bool, memory: int | None, like: Array) -> None:
    """Raise if an exact plan does not fit: it needs the cost matrix in float64, the network simplex also its arcs."""
    need = 8 * n * m * (1 if assignment else SIMPLEX)
    bound = memory if memory is not None else int(SHARE_OF_FREE * free_memory(to_numpy(like[:1])))
    if need > bound:
        raise MemoryBound(
            f"memory: expected {show_memory(need)} for an exact plan of {n} × {m} points, got a limit of {show_memory(bound)}; "
            "raise memory=, or use solver=Sinkhorn(), which streams"
        )


def make_cost(
    z: Array, y: Array, scale: float, a: Array, b: Array, *, memory: int | None, rows: Rows = ALL, columns: Rows = ALL,
    rough: bool = False,
) -> Cost:  # fmt: skip
    """Return a cost object for z (s, n, d): dense if its kernel fits ``memory`` bytes and is faster, else streamed.

    ``rows`` and ``columns`` say which points of x and of y are here; all processes choose alike, since each kind of cost has sums of
    its own to complete. ``rough``: kernels on a GPU may round points more, for a plan that only leads to the next map.
    """
    batch, n, d = z.shape
    m = b.shape[0]
    bound = memory if memory is not None else int(SHARE_OF_FREE * free_memory(z))
    need, whole = memory_needed(z, y, dense=False, targets=m), memory_needed(z, y, dense=True, targets=m)
    over = columns if rows.whole else rows
    short, full, large = _on_any(over, z, need > bound, whole > bound, batch * n * m > CUDA_DENSE)
    kernels, alone = on_cuda(z) and z.dtype.itemsize == 4, rows.whole and columns.whole
    small = batch >= FUSED_STARTS and max(n, m) <= FUSED_POINTS and d <= FUSED_DIMENSIONS
    if kernels and alone and small and has_triton():
        from .gpu.small import SmallCost

        return SmallCost(z, y, scale, a, b)
    if columns.whole and not full and not (kernels and large):
        return BlockedCost(z, y, scale, a, b, keep=True, rows=rows)
    if short:
        raise MemoryBound(
            f"memory: expected {show_memory(need)} for a streamed plan of {n} × {m} points in {d} dimensions ({batch} starts), "
            f"got a limit of {show_memory(bound)}; raise memory=, solve fewer starts at a time, use fewer threads, or pass float32 points"
        )
    precision = None
    if kernels:
        from .gpu.cost import POTENTIAL_ERROR, ROUGH, precision_for

        precision = precision_for(z, y, scale, within=ROUGH if rough else POTENTIAL_ERROR, rows=rows, columns=columns)
        work = d * (3 if precision == "fp32" else 1)
        kept = batch == 1 and n * m >= KEPT_ENTRIES and work > KEPT_WORK and need + 2 * n * m <= bound
        if alone and kept and has_triton():
            from .gpu.kept import KeptCost

            return KeptCost(z, y, scale, a, b, precision=precision)
    if columns.whole:
        return _stream(z, y, scale, a, b, precision, rows)
    mode = "streamed" if precision is None else f"streamed ({precision} kernels)"
    make = partial(_stream_part, z, scale, a, precision)
    return CutCost(y, b, rows=rows, columns=columns, make=make, mode=mode)


def _stream(
    z: Array, y: Array, scale: float, a: Array, b: Array, precision: str | None, rows: Rows = ALL
) -> BlockedCost | KernelCost:
    """Return a cost that is never stored: by kernels of a ``precision`` on a GPU, else in blocks of rows."""
    if precision is None:
        return BlockedCost(z, y, scale, a, b, keep=False, rows=rows)
    from .gpu.cost import KernelCost

    return KernelCost(z, y, scale, a, b, precision=precision, rows=rows)


def _stream_part(z: Array, scale: float, a: Array, precision: str | None, y: Array, b: Array) -> PartCost:
    """Return the same for a block of targets."""
    return _stream(z, y, scale, a, b, precision)


def _on_any(rows: Rows, like: Array, *flags: bool) -> tuple[bool, ...]:
    """Return whether each flag is set in any process."""
    if rows.whole:
        return flags
    return tuple(bool(flag) for flag in to_numpy(rows.max(as_like(np.asarray(flags, dtype=float), like))))
