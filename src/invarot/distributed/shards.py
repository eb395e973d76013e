"""The rows of x cut over ranks, and the sums over all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays import Array, as_like, import_torch, is_torch, machine_epsilon, namespace, tensor, to_numpy
from ..errors import WorkersLost
from ..rows import ALL, Rows

GRID = 2.0**-30
REPLICATED = 20_000  # chosen rows up to which every rank gets all of them: a plan of so few is solved alike on each


class Shards:
    """Consecutive rows of x on each rank of a group, in the order of the ranks. Answers `invarot.rows.Rows`.

    NumPy arrays are sent over gloo, tensors over what the group was made for. ``sent`` counts the bytes that this rank has
    given to collectives; what a ring moves per link is up to twice as much.
    """

    whole = False

    def __init__(self, sizes: Sequence[int], rank: int, group: Any = None) -> None:
        self.sizes, self.rank, self.group = tuple(sizes), rank, group
        self.begin = sum(self.sizes[:rank])
        self.sent = 0

    @classmethod
    def of(cls, count: int, group: Any = None) -> Shards:
        """Return the shards of a group of which this rank holds ``count`` rows."""
        distributed = import_torch("a solve over many ranks").distributed
        sizes = _exchange(count, group)
        return cls(sizes, distributed.get_rank(group), group)

    def count(self, points: Array) -> int:
        assert points.shape[0] == self.sizes[self.rank]
        return sum(self.sizes)

    def sum(self, values: Array) -> Array:
        return self._reduce(values, "SUM")

    def max(self, values: Array) -> Array:
        return self._reduce(values, "MAX")

    def logsumexp(self, values: Array) -> Array:
        xp = namespace(values)
        top = self.max(values)
        safe = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        with np.errstate(divide="ignore"):
            return xp.log(self._reduce(xp.exp(values - safe), "SUM")) + safe

    def take(self, points: Array, weights: Array, chosen: np.ndarray[Any, Any]) -> tuple[Array, Array, Rows]:
        """Return chosen rows: all of them on every rank if they are few, else each rank's own."""
        ends = np.cumsum((0, *self.sizes))
        parts = np.searchsorted(chosen, ends)
        own = chosen[parts[self.rank] : parts[self.rank + 1]] - self.begin
        points, weights, _ = ALL.take(points, weights, own)
        if len(chosen) > REPLICATED:
            kept = Shards(tuple(int(size) for size in np.diff(parts)), self.rank, self.group)
            return points, weights, kept
        return self.collect(points), self.collect(weights), ALL

    def collect(self, values: Array) -> Array:
        """Return the rows (k, …) of all ranks, one after the other, on every rank."""
        counts = _exchange(values.shape[0], self.group)
        xp = namespace(values)
        out = xp.zeros((sum(counts), *values.shape[1:]), dtype=values.dtype, device=getattr(values, "device", None))
        begin = sum(counts[: self.rank])
        out[begin : begin + values.shape[0]] = values
        return self.sum(out)  # ranks may hold different numbers of rows, which a gather does not take

    def share(self, values: Array) -> Array:
        """Return the values of the first rank."""
        sent = self._tensor(values)
        distributed = import_torch("a solve over many ranks").distributed
        first = 0 if self.group is None else distributed.get_global_rank(self.group, 0)
        self._call("broadcast", sent, src=first)
        return sent if is_torch(values) else as_like(sent.numpy(), values)

    def _reduce(self, values: Array, how: str) -> Array:
        sent = self._tensor(values)
        distributed = import_torch("a solve over many ranks").distributed
        self._call("all_reduce", sent, op=getattr(distributed.ReduceOp, how))
        return sent if is_torch(values) else as_like(sent.numpy().reshape(np.shape(values)), np.asarray(values))

    def _tensor(self, values: Array) -> Any:
        """Return a copy of ``values`` that collectives may write to."""
        if is_torch(values):
            return values.contiguous().clone()
        return tensor(np.array(to_numpy(values), copy=True, order="C", ndmin=1))

    def _call(self, name: str, sent: Any, **options: Any) -> None:
        self.sent += sent.numel() * sent.element_size()
        distributed = import_torch("a solve over many ranks").distributed
        _guard(lambda: getattr(distributed, name)(sent, group=self.group, **options), self.rank)


class RoundedShards(Shards):
    """Shards whose sums are rounded to 30 bits of their largest entry, in double precision.

    Sums of the same rows cut otherwise differ in the last bits. What defines the coordinates of a problem should not: a search in
    single precision could take another step. So it is the same, but for a sum that lies between two rounded values by chance.
    """

    def sum(self, values: Array) -> Array:
        xp = namespace(values)
        total = super().sum(values)
        size = float(xp.max(xp.abs(total)))
        if machine_epsilon(total) > GRID**1.5 or not 0 < size < math.inf:
            return total
        grid = GRID * 2.0 ** math.frexp(size)[1]
        return xp.round(total / grid) * grid


def exchange(value: Any, group: Any = None) -> list[Any]:
    """Return a small value of every rank, on every rank."""
    return _exchange(value, group)


def _exchange(value: Any, group: Any) -> list[Any]:
    distributed = import_torch("a solve over many ranks").distributed
    found: list[Any] = [None] * distributed.get_world_size(group)
    _guard(lambda: distributed.all_gather_object(found, value, group=group), distributed.get_rank(group))
    return found


def _guard(call: Callable[[], object], rank: int) -> None:
    """Run a collective; say plainly that a rank was lost."""
    try:
        call()
    except RuntimeError as error:  # closed connections and timeouts of every backend
        raise WorkersLost(
            f"group: expected an answer of every rank, got none on rank {rank} ({str(error).splitlines()[0][:200]}); "
            "another rank has ended: read its own error, and start all ranks again"
        ) from error
