"""Dense or streamed, on which device: chosen before anything is allocated, by the memory each needs."""

from __future__ import annotations

import math
import os
import re
import sys
from pathlib import Path

from ..arrays import Array, free_device_memory, has_triton, is_torch, on_cuda, to_numpy
from ..errors import InputError, MemoryBound
from ..threads import workers
from .acceleration import DEPTH
from .cost import LEAST_ROWS, BlockedCost, Cost, block_entries

SHARE_OF_FREE = 0.5
SIMPLEX = 6  # what the network simplex holds beside each entry of the cost: the plan, and its arcs
CUDA_DENSE = 1 << 26  # on CUDA plain torch and a float32 kernel win up to about so many entries (results/gpu_solve.md)
# Past the second sweep a half-precision kernel is read instead of made again, if that is faster: with many entries (below,
# launches take the time of either) and more multiply-adds for each than the reading of it is worth (results/gpu_solve.md).
KEPT_ENTRIES, KEPT_WORK = 1 << 29, 192
FUSED_STARTS, FUSED_POINTS, FUSED_DIMENSIONS = 16, 512, 16  # batches of plans so small get a block of threads each


def parse_memory(value: str | int | float | None, name: str = "memory") -> int | None:
    """Bytes from ``"2GiB"``, ``"500 MB"`` or a number; None stays None (a share of what is free).

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
        raise InputError(f'{name}: expected a size such as "2GiB" or a number of bytes, got {value!r}')
    base = 1024 if found[3] or not found[2] else 1000
    return int(size * base ** " KMGT".index(found[2] or " "))


def free_memory(like: Array) -> int:
    """Bytes that are free on the device of ``like``."""
    if on_cuda(like):
        return free_device_memory(like)
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return min(int(line.split()[1]) * 1024, _left_to_container())
    except OSError:
        pages = os.sysconf("SC_AVPHYS_PAGES") if "SC_AVPHYS_PAGES" in os.sysconf_names else 1 << 18
        return pages * 4096
    return 1 << 30


def _left_to_container(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that a container may still take (cgroup v2); no bound of its own: as good as any number."""
    try:
        limit, used = ((root / name).read_text() for name in ("memory.max", "memory.current"))
        cached = re.search(r"^inactive_file (\d+)", (root / "memory.stat").read_text(), re.MULTILINE)
    except OSError:
        return sys.maxsize
    if limit.strip() == "max":
        return sys.maxsize
    return max(int(limit) - int(used) + (int(cached[1]) if cached else 0), 0)


def memory_needed(z: Array, y: Array, *, dense: bool) -> int:
    """Bytes a plan step for z (s, n, d) and y (m, d) holds at its height.

    Points and images, the past of an accelerated Sinkhorn, a block for each thread of ours (torch has its own), the
    kernel where it is kept.
    """
    batch, n, d = z.shape
    m = y.shape[0]
    points = batch * (3 * n + m) * d + 2 * m * d + 8 * batch * (n + m)
    past = 2 * batch * m * (2 * (DEPTH + 1) + 2 * DEPTH)  # in float64 where they are combined
    block = min(max(block_entries(z), LEAST_ROWS * batch * m), batch * n * m)
    threads = 1 if is_torch(z) else workers()
    block *= 2 * min(threads, math.ceil(batch * n * m / block))
    return int(z.dtype.itemsize * (points + past + block + (batch * n * m if dense else 0)))


def check_exact_fits(n: int, m: int, *, assignment: bool, memory: int | None, like: Array) -> None:
    """Exact plans hold the cost matrix in float64, and the network simplex its arcs as well."""
    need = 8 * n * m * (1 if assignment else SIMPLEX)
    bound = memory if memory is not None else int(SHARE_OF_FREE * free_memory(to_numpy(like[:1])))
    if need > bound:
        raise MemoryBound(
            f"memory: an exact plan of {n} × {m} points needs {need / 2**20:.0f} MiB, the bound is {bound / 2**20:.0f} MiB; "
            "raise memory=, or use solver=Sinkhorn(), which streams"
        )


def make_cost(z: Array, y: Array, scale: float, a: Array, b: Array, *, memory: int | None) -> Cost:
    """A cost object for z (s, n, d): dense where its kernel fits ``memory`` bytes and wins, streamed otherwise."""
    batch, n, d = z.shape
    m = y.shape[0]
    bound = memory if memory is not None else int(SHARE_OF_FREE * free_memory(z))
    fits = memory_needed(z, y, dense=True) <= bound
    kernels = on_cuda(z) and z.dtype.itemsize == 4
    if kernels and batch >= FUSED_STARTS and max(n, m) <= FUSED_POINTS and d <= FUSED_DIMENSIONS and has_triton():
        from .gpu.small import SmallCost

        return SmallCost(z, y, scale, a, b)
    if fits and not (kernels and batch * n * m > CUDA_DENSE):
        return BlockedCost(z, y, scale, a, b, keep=True)
    need = memory_needed(z, y, dense=False)
    if need > bound:
        raise MemoryBound(
            f"memory: a streamed plan of {n} × {m} points in {d} dimensions ({batch} starts) needs {need / 2**20:.0f} MiB, "
            f"the bound is {bound / 2**20:.0f} MiB; raise memory=, solve fewer starts at a time, allow fewer threads, or pass float32 points"
        )
    if kernels:
        from .gpu.cost import KernelCost, precision_for

        precision = precision_for(z, y, scale)
        work = d * (3 if precision == "fp32" else 1)
        if batch == 1 and n * m >= KEPT_ENTRIES and work > KEPT_WORK and has_triton() and need + 2 * n * m <= bound:
            from .gpu.kept import KeptCost

            return KeptCost(z, y, scale, a, b, precision=precision)
        return KernelCost(z, y, scale, a, b, precision=precision)
    return BlockedCost(z, y, scale, a, b, keep=False)
