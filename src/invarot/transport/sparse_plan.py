"""Plans of few entries, stored one by one: exact plans, and plans of a part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, as_like, device, namespace, to_numpy
from .plan_common import as_dense_array, describe_plan, move_arrays


@dataclass(frozen=True, repr=False, eq=False)
class SparsePlan:
    """A plan by its entries: an exact one has at most n + m − 1."""

    z: Array  # (n, d)
    y: Array  # (m, d)
    rows: Array  # (k,) indices
    columns: Array  # (k,) indices
    mass: Array  # (k,)
    epsilon: float = 0.0
    error: float = 0.0
    iterations: int = 1

    def __repr__(self) -> str:
        return describe_plan(self)

    @property
    def shape(self) -> tuple[int, int]:
        return self.z.shape[0], self.y.shape[0]

    def apply(self, values: Array) -> Array:
        import scipy.sparse

        host = to_numpy(values)
        shape = (self.z.shape[0], self.y.shape[0])
        index = (to_numpy(self.rows), to_numpy(self.columns))
        return as_like(scipy.sparse.coo_array((to_numpy(self.mass), index), shape=shape).tocsr() @ host, self.z)

    def apply_transposed(self, values: Array) -> Array:
        return self.transposed().apply(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_dense_array(self, dtype)

    def on_host(self) -> SparsePlan:
        return self.to("numpy")

    def to(self, device: str) -> SparsePlan:
        return replace(self, **move_arrays(self, device))

    def transposed(self) -> SparsePlan:
        return replace(self, z=self.y, y=self.z, rows=self.columns, columns=self.rows)

    def dense(self) -> Array:
        xp = namespace(self.z)
        shape = (self.z.shape[0], self.y.shape[0])
        out = xp.zeros(shape, dtype=self.mass.dtype, device=device(self.z))
        out[self.rows, self.columns] = self.mass
        return out

    def marginals(self) -> tuple[Array, Array]:
        xp = namespace(self.z)
        return self.apply(xp.ones_like(self.y[:, 0])), self.apply_transposed(xp.ones_like(self.z[:, 0]))

    def matches(self) -> Array:
        """Return the row arg-max of Γ; a source point of weight zero gets its nearest target."""
        rows, columns, mass = to_numpy(self.rows), to_numpy(self.columns), to_numpy(self.mass)
        found = np.full(self.z.shape[0], -1)
        order = np.argsort(mass, kind="stable")
        found[rows[order]] = columns[order]  # the largest is written last
        empty = np.flatnonzero(found < 0)
        if empty.size:
            z, y = to_numpy(self.z)[empty], to_numpy(self.y)
            found[empty] = np.argmin((y**2).sum(1) - 2 * z @ y.T, axis=1)
        return as_like(found, self.z, dtype=self.rows.dtype)

    def cost(self) -> float:
        xp = namespace(self.z)
        gap = xp.sum((self.z[self.rows] - self.y[self.columns]) ** 2, axis=1)
        return float(xp.sum(self.mass * gap))

    def entropy(self) -> float:
        xp = namespace(self.z)
        return -float(xp.sum(self.mass * xp.log(self.mass)))
