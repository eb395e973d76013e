"""Targets cut over processes: a block of them is here at a time, and potentials of all of them always."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from ..arrays import Array, namespace
from ..rows import Rows
from .marginals import Marginals


class PartCost(Protocol):
    """The cost of all rows here and some of the targets."""

    def row_potential(self, v: Array) -> Array:
        """Return the u that matches the row sums with these targets alone."""

    def column_potential(self, u: Array) -> Array:
        """Return the v that matches the column sums of these targets with the rows here."""

    def images(self, u: Array, v: Array) -> tuple[Array, Array]:
        """Return the part of Γ y (…, n, d) and of the row sums (…, n) that these targets have."""


class CutCost:
    """A cost whose targets y (m, d) are cut over processes, with weights b (m,) of all of them.

    The targets travel: each half of a sweep, and the images, let every block of them pass once. What is summed over targets is
    added up from block to block; what is summed over rows is completed over processes at the end, as in any cost.
    """

    def __init__(
        self, y: Array, b: Array, *, rows: Rows, columns: Rows, make: Callable[[Array, Array], PartCost], mode: str
    ) -> None:
        """``make`` returns the cost of the rows here and of a block of targets with their weights."""
        self.y, self.b, self.rows, self.columns, self.make = y, b, rows, columns, make
        self.mode = f"{mode}, targets travel"

    def sweep(self, v: Array, marginals: Marginals | None = None) -> tuple[Array, Array]:
        xp = namespace(v)
        total: Any = None
        for place, part in self._parts():
            mass = -part.row_potential(v[..., place])
            total = mass if total is None else xp.logaddexp(total, mass)
        u = -total if marginals is None else marginals.relax(-total)
        mine = xp.empty_like(v)
        for place, part in self._parts():
            mine[..., place] = -part.column_potential(u)
        return u, -self.rows.logsumexp(mine)

    def images(self, u: Array, v: Array) -> tuple[Array, Array]:
        found: Any = None
        for place, part in self._parts():
            here = part.images(u, v[..., place])
            found = here if found is None else (found[0] + here[0], found[1] + here[1])
        images, mass = found
        return images, mass

    def _parts(self) -> Iterator[tuple[slice, PartCost]]:
        for place, points in self.columns.blocks(self.y):
            yield place, self.make(points, self.b[place])
