"""Plans as operators: couplings that are applied, summed and searched without storing the n×m matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..arrays import (
    Array,
    as_like,
    device,
    entries_at_once,
    has_triton,
    is_array,
    is_torch,
    log,
    logsumexp,
    namespace,
    on_cuda,
    transpose,
)
from ..rows import ALL, Rows
from .plan_common import as_dense_array, describe_plan, move_arrays

ENTRIES = 1 << 21  # scores per block on a CPU
UNSEEN = 1e-4  # marginal error that rounding may add without notice: a tenth of the default tolerance


class Plan(Protocol):
    """A coupling (n, m) with marginals a and b."""

    def apply(self, values: Array) -> Array:
        """Return Γ values, (n, k)."""

    def dense(self) -> Array:
        """Return Γ, (n, m)."""

    def marginals(self) -> tuple[Array, Array]:
        """Return the row and column sums."""

    def matches(self) -> Array:
        """Return the column with the largest entry in each row."""

    def cost(self) -> float:
        """Return Σ Γij ‖zᵢ − yⱼ‖²."""

    def on_host(self) -> Plan:
        """Return the same plan with NumPy arrays."""

    def to(self, device: str) -> Plan:
        """Return the same plan as NumPy arrays (``"numpy"``), or as tensors on a device of torch."""


@dataclass(frozen=True, repr=False, eq=False)
class EntropicPlan:
    """Γij = aᵢ bⱼ exp(scale·⟨zᵢ, yⱼ⟩ + uᵢ + vⱼ), stored as its factors.

    ``error`` is the larger l_1 error of the row sums and of the column sums, ``iterations`` the number of sweeps.
    """

    z: Array  # (n, d) mapped source
    y: Array  # (m, d)
    a: Array  # (n,)
    b: Array  # (m,)
    u: Array  # (n,)
    v: Array  # (m,)
    epsilon: float
    error: float
    iterations: int
    columns: Rows = ALL  # which rows of y are here; where they are not all, every process has to call a method

    def __repr__(self) -> str:
        return describe_plan(self)

    @property
    def scale(self) -> float:
        return 2 / self.epsilon

    @property
    def shape(self) -> tuple[int, int]:
        return self.z.shape[0], self.b.shape[0]

    def apply(self, values: Array) -> Array:
        values = self._multiplied(values)
        one = values.ndim == 1
        columns = values[:, None] if one else values
        out: Any = None
        for rows, _, block, here in self._blocks(columns):
            part = block @ here
            if out is None:
                shape = self.z.shape[0], columns.shape[1]
                out = namespace(self.z).zeros(shape, dtype=part.dtype, device=device(self.z))
            out[rows] += part
        return out[:, 0] if one else out

    def _multiplied(self, values: Any) -> Array:
        """Return values that a block can be multiplied by: torch multiplies one dtype only, and sums are no integers."""
        floating = is_array(values) and namespace(values).isdtype(values.dtype, "real floating")
        return values if floating and not is_torch(self.z) else as_like(values, self.z)

    def apply_transposed(self, values: Array) -> Array:
        """Return Γᵀ values (m, k), from the same blocks as `apply`: a product of transposes rounds its scores differently."""
        values = self._multiplied(values)
        one = values.ndim == 1
        columns = values[:, None] if one else values
        xp = namespace(self.z)
        out = xp.zeros((self.v.shape[0], columns.shape[1]), dtype=columns.dtype, device=device(self.z))
        for rows, place, block in self._blocks():
            out[place] += transpose(block) @ columns[rows]
        return out[:, 0] if one else out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_dense_array(self, dtype)

    def on_host(self) -> EntropicPlan:
        return self.to("numpy")

    def to(self, device: str) -> EntropicPlan:
        return replace(self, **move_arrays(self, device))

    def transposed(self) -> EntropicPlan:
        return replace(self, z=self.y, y=self.z, a=self.b, b=self.a, u=self.v, v=self.u)

    def dense(self) -> Array:
        shape = self.z.shape[0], self.v.shape[0]
        out = namespace(self.z).empty(shape, dtype=self.z.dtype, device=device(self.z))
        for rows, place, block in self._blocks():
            out[rows, place] = block
        return out

    def marginals(self) -> tuple[Array, Array]:
        xp = namespace(self.z)
        left, right = xp.zeros_like(self.a), xp.zeros_like(self.b)
        for rows, place, block in self._blocks():
            left[rows] += xp.sum(block, axis=1)
            right[place] += xp.sum(block, axis=0)
        return left, right

    def measured(self) -> EntropicPlan:
        """Return the plan with the error of its own sums.

        Where they are further off than ``error`` says, scores are so large that the solve rounded them differently: the column
        sums are then matched once more with the scores of this plan, so that no mass is missing.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            off = self._measure_error()
        if off <= 2 * self.error + UNSEEN:
            return replace(self, error=off)
        u, v = self.u, self.v + log(self.b)
        xp = namespace(self.z)
        u = -xp.concat([logsumexp(scores + v, axis=1) for _, _, scores in self._scores()])
        left = u + log(self.a)
        parts = [logsumexp(scores + left[rows, None], axis=0) for rows, _, scores in self._scores()]
        again = replace(self, u=u, v=-logsumexp(xp.stack(parts), axis=0))
        return replace(again, error=again._measure_error())

    def _measure_error(self) -> float:
        xp = namespace(self.z)
        sums = zip(self.marginals(), (self.a, self.b), strict=True)
        return max(float(xp.sum(xp.abs(found - asked))) for found, asked in sums)

    def matches(self) -> Array:
        """Return the row arg-max of Γ; a source point of weight zero gets the match it would have with positive weight."""
        xp = namespace(self.z)
        reach = self.v + log(self.b)
        entries = self.z.shape[0] * self.v.shape[0]
        if (
            on_cuda(self.z)
            and self.z.dtype.itemsize == 4
            and entries > entries_at_once(self.z, ENTRIES)
            and has_triton()
        ):
            return self._find_by_kernels(reach)
        found, most = xp.zeros_like(self.a, dtype=xp.int64), xp.full_like(self.u, -xp.inf)
        for rows, place, scores in self._scores():
            scores = scores + reach[place]
            best, at = xp.max(scores, axis=1), xp.argmax(scores, axis=1) + place.start
            found[rows] = xp.where(best > most[rows], at, found[rows])
            most[rows] = xp.maximum(best, most[rows])
        return found

    def _find_by_kernels(self, reach: Array) -> Array:
        """Return the row arg-max by kernels on a GPU."""
        from .gpu import ops

        xp = namespace(self.z)
        found, most = xp.zeros_like(self.a, dtype=xp.int64), xp.full_like(self.u, -xp.inf)
        for place, y in self.columns.blocks(self.y):
            at, best = ops.best(self.z, y, reach[place], self.scale, precision="fp32")
            found = xp.where(best > most, at + place.start, found)
            most = xp.maximum(best, most)
        return found

    def cost(self) -> float:
        xp = namespace(self.z)
        total = 0.0
        for rows, _, block, y in self._blocks(self.y):
            z = self.z[rows]
            gap = xp.sum(z**2, axis=1)[:, None] + xp.sum(y**2, axis=1) - 2 * z @ transpose(y)
            total += float(xp.sum(block * gap))
        return total

    def entropy(self) -> float:
        """Return −Σ Γ log Γ."""
        xp = namespace(self.z)
        return -sum(
            float(xp.sum(xp.where(block > 0, block * log(xp.where(block > 0, block, xp.ones_like(block))), 0 * block)))
            for _, _, block in self._blocks()
        )

    def _scores(self, *values: Array) -> Iterator[tuple[Any, ...]]:
        """Yield rows, columns, the scores of both, and the rows of ``values`` (one for each row of y) at these columns."""
        for place, y, *here in self.columns.blocks(self.y, *values):
            step = max(1, entries_at_once(self.z, ENTRIES) // y.shape[0])
            for i in range(0, self.z.shape[0], step):
                rows = slice(i, min(i + step, self.z.shape[0]))
                yield rows, place, self.scale * self.z[rows] @ transpose(y), *here

    def _blocks(self, *values: Array) -> Iterator[tuple[Any, ...]]:
        """Yield the same with entries of the plan instead of scores."""
        xp = namespace(self.z)
        left, right = self.u + log(self.a), self.v + log(self.b)
        for rows, place, scores, *here in self._scores(*values):
            yield rows, place, xp.exp(scores + left[rows, None] + right[place]), *here


def extend(plan: EntropicPlan, z: Array, y: Array, a: Array, b: Array, used_x: Array, used_y: Array) -> EntropicPlan:
    """Extend a plan solved on the points of positive weight to all points: the others get potentials and no mass."""
    xp = namespace(z)
    v = xp.zeros_like(b)
    v[used_y] = plan.v
    u = -_row_lse(z, plan.y, plan.v + log(plan.b), plan.scale)
    rest = -_row_lse(y, plan.z, plan.u + log(plan.a), plan.scale)
    v = xp.where(b > 0, v, rest)
    u[used_x] = plan.u
    return replace(plan, z=z, y=y, a=a, b=b, u=u, v=v)


def _row_lse(z: Array, y: Array, v: Array, scale: float) -> Array:
    step = max(1, entries_at_once(z, ENTRIES) // y.shape[0])
    parts = [logsumexp(scale * z[i : i + step] @ transpose(y) + v, axis=1) for i in range(0, z.shape[0], step)]
    return namespace(z).concat(parts)
