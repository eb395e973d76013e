"""The rows of a cloud cut over ranks: the sums over all of them, and the rows themselves, passed on in blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from ..arrays import Array, as_like, import_torch, is_torch, machine_epsilon, namespace, tensor, to_numpy
from ..errors import WorkersLost
from ..rows import ALL, AllRows, Rows

B = TypeVar("B")
T = TypeVar("T")
# sums are rounded to multiples of this times the power of two above them, so that their order does not matter
SUM_STEP = 2.0**-30
PASSED_BYTES = 1 << 26  # bytes of a block of rows that passes through all ranks
REPLICATED = 20_000  # chosen rows up to which every rank gets all of them: a plan of so few is solved alike on each


class Shards:
    """Consecutive rows of a cloud on each rank of a group, in the order of the ranks. Answers `invarot.rows.Rows`.

    NumPy arrays are sent over gloo, tensors over what the group was made for. ``sent`` counts the bytes that this rank has
    given to collectives; what a ring moves per link is up to twice as much.
    """

    whole = False
    alike = False

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
        if len(chosen) <= REPLICATED:
            return (*self.bring(points, weights, chosen), ALL)
        parts = np.searchsorted(chosen, np.cumsum((0, *self.sizes)))
        points, weights = self._own(points, weights, chosen)
        return points, weights, Shards(tuple(int(size) for size in np.diff(parts)), self.rank, self.group)

    def bring(self, points: Array, weights: Array, chosen: np.ndarray[Any, Any]) -> tuple[Array, Array]:
        """Return chosen rows (sorted) and their weights, on every rank."""
        points, weights = self._own(points, weights, chosen)
        return self.collect(points), self.collect(weights)

    def _own(self, points: Array, weights: Array, chosen: np.ndarray[Any, Any]) -> tuple[Array, Array]:
        """Return those of the chosen rows that are here."""
        first, last = np.searchsorted(chosen, (self.begin, self.begin + self.sizes[self.rank]))
        points, weights, _ = ALL.take(points, weights, chosen[first:last] - self.begin)
        return points, weights

    def divide(self, points: Array, weights: Array) -> tuple[Array, Array, Rows]:
        return points, weights, self

    def map(self, work: Callable[[Array], Array], points: Array) -> Array:
        return work(points)

    def deal(self, work: Callable[[Sequence[B]], list[T]], items: Sequence[B]) -> list[T]:
        return work(items)

    def collect(self, values: Array) -> Array:
        """Return the rows (k, …) of all ranks, one after the other, on every rank."""
        return self.place(values, _exchange(values.shape[0], self.group))

    def place(self, values: Array, counts: Sequence[int]) -> Array:
        """Return the same where every rank knows how many rows each of them has."""
        xp = namespace(values)
        out = xp.zeros((sum(counts), *values.shape[1:]), dtype=values.dtype, device=getattr(values, "device", None))
        begin = sum(counts[: self.rank])
        out[begin : begin + values.shape[0]] = values
        return self.sum(out)  # ranks may hold different numbers of rows, which a gather does not take

    def blocks(self, *arrays: Array) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of every rank in turn, in blocks of at most `PASSED_BYTES` bytes of the first array; each rank sends its own."""
        xp, first = namespace(arrays[0]), arrays[0]
        step = max(1, PASSED_BYTES // (first.dtype.itemsize * math.prod(first.shape[1:])))
        begin = 0
        for rank, size in enumerate(self.sizes):
            for row in range(0, size, step):
                end = min(row + step, size)
                parts = (
                    one[row:end]
                    if rank == self.rank
                    else xp.empty((end - row, *one.shape[1:]), dtype=one.dtype, device=getattr(one, "device", None))
                    for one in arrays
                )
                yield slice(begin + row, begin + end), *(self.share(part, rank) for part in parts)
            begin += size

    def share(self, values: Array, rank: int = 0) -> Array:
        """Return the values of one rank, the first by default; those of the others say their shape."""
        sent = self._tensor(values)
        distributed = import_torch("a solve over many ranks").distributed
        source = rank if self.group is None else distributed.get_global_rank(self.group, rank)
        self._call("broadcast", sent, src=source)
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
        return _round(super().sum(values))


class Copies(AllRows):
    """All rows on every rank of a group: each computes everything, unless rows are divided or items dealt."""

    alike = True

    def __init__(self, shards: Shards) -> None:
        self.shards = shards
        self.ranks = len(shards.sizes)

    def divide(self, points: Array, weights: Array) -> tuple[Array, Array, Rows]:
        if self.ranks == 1:
            return points, weights, self
        own, shares = self._share(points.shape[0])
        return points[own], weights[own], shares

    def map(self, work: Callable[[Array], Array], points: Array) -> Array:
        own, shares = self._share(points.shape[0])
        if self.ranks == 1 or min(shares.sizes) == 0:
            return work(points)
        return shares.place(work(points[own]), shares.sizes)

    def deal(self, work: Callable[[Sequence[B]], list[T]], items: Sequence[B]) -> list[T]:
        if self.ranks == 1 or len(items) < 2:
            return work(items)
        own, _ = self._share(len(items))
        return [one for part in _exchange(work(items[own]), self.shards.group) for one in part]

    def _share(self, count: int) -> tuple[slice, Shards]:
        ranks, rank = self.ranks, self.shards.rank
        ends = [count * k // ranks for k in range(ranks + 1)]
        return slice(ends[rank], ends[rank + 1]), Shards(tuple(np.diff(ends).tolist()), rank, self.shards.group)


class RoundedRows(AllRows):
    """All rows, with sums rounded in the same way, so that they are those of rows that are cut."""

    def sum(self, values: Array) -> Array:
        return _round(values)


def _round(total: Array) -> Array:
    xp = namespace(total)
    size = float(xp.max(xp.abs(total)))
    if machine_epsilon(total) > SUM_STEP**1.5 or not 0 < size < math.inf:
        return total
    grid = SUM_STEP * 2.0 ** math.frexp(size)[1]
    return xp.round(total / grid) * grid


def round_sums(rows: Rows) -> Rows:
    """Return the same rows with rounded sums."""
    return RoundedShards(rows.sizes, rows.rank, rows.group) if isinstance(rows, Shards) else RoundedRows()


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
