"""Which rows of a cloud are here: all of them, or a part, with the rest in other processes.

Rows are cut over processes in `invarot.distributed`. Whatever sums over the rows of x asks `Rows` to complete the sum, and whatever
needs all points of y, where y is cut too, takes them a block at a time; so the same code solves a whole problem and a part of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from .arrays import Array, as_like, namespace

B = TypeVar("B")
T = TypeVar("T")


class Rows(Protocol):
    """The rows of a cloud that a process holds."""

    whole: bool
    alike: bool  # whether several processes hold these same rows, so that each may do a share of the work

    def count(self, points: Array) -> int:
        """Return the number of rows of all processes together, given the ``points`` of this one."""

    def sum(self, values: Array) -> Array:
        """Return the sum over all processes of what each has summed over its own rows."""

    def max(self, values: Array) -> Array:
        """Return the maximum over all processes, elementwise."""

    def logsumexp(self, values: Array) -> Array:
        """Return log Σ exp over all processes, elementwise."""

    def take(self, points: Array, weights: Array, chosen: np.ndarray[Any, Any]) -> tuple[Array, Array, Rows]:
        """Return the rows ``chosen`` (sorted, of all processes together), their weights, and where they are."""

    def divide(self, points: Array, weights: Array) -> tuple[Array, Array, Rows]:
        """Return a share of the rows for each process, where every process has all of them; else the rows as they are."""

    def map(self, work: Callable[[Array], Array], points: Array) -> Array:
        """Return ``work(points)``, which has a row for each of ``points``; where every process has them, each works on a share."""

    def deal(self, work: Callable[[Sequence[B]], list[T]], items: Sequence[B]) -> list[T]:
        """Return ``work(items)``, one small result for each; where every process has the rows, each works on a share of the items.

        Bits do not depend on the number of processes, as long as the result for an item does not depend on the others.
        """

    def collect(self, values: Array) -> Array:
        """Return the rows (k, …) of all processes, one after the other."""

    def blocks(self, *arrays: Array) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of all processes a block at a time: their place, a slice, then these rows of each array.

        Every process has to take all of the blocks.
        """


class AllRows:
    """All rows are here: sums are complete."""

    whole = True
    alike = False

    def count(self, points: Array) -> int:
        return points.shape[0]

    def sum(self, values: Array) -> Array:
        return values

    def max(self, values: Array) -> Array:
        return values

    def logsumexp(self, values: Array) -> Array:
        return values

    def divide(self, points: Array, weights: Array) -> tuple[Array, Array, Rows]:
        return points, weights, self

    def map(self, work: Callable[[Array], Array], points: Array) -> Array:
        return work(points)

    def deal(self, work: Callable[[Sequence[B]], list[T]], items: Sequence[B]) -> list[T]:
        return work(items)

    def collect(self, values: Array) -> Array:
        return values

    def blocks(self, *arrays: Array) -> Iterator[tuple[Any, ...]]:
        yield slice(0, arrays[0].shape[0]), *arrays

    def take(self, points: Array, weights: Array, chosen: np.ndarray[Any, Any]) -> tuple[Array, Array, Rows]:
        index = as_like(chosen, points, dtype=namespace(points).int64)
        return points[index], weights[index], self


ALL = AllRows()
