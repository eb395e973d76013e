"""A cost that is given as a matrix."""

from __future__ import annotations

from ..arrays import Array, namespace
from ..rows import ALL
from .cost import BlockedCost


class MatrixCost(BlockedCost):
    """A cost given as a matrix (n, m): scores −cost/ε, one start."""

    def __init__(self, cost: Array, epsilon: float, a: Array, b: Array) -> None:
        self.z, self.factor, self.rows = cost[None], -1.0 / epsilon, ALL
        self._set_up(self.z.shape, a, b, keep=True)

    def plan(self, u: Array, v: Array) -> Array:
        """Return Γ (…, n, m), as an array."""
        xp = namespace(u)
        self._ensure_range(v)
        assert self.kernel is not None
        left, right = self.a * xp.exp(u + self.top), self.b * xp.exp(v - self.absorbed)
        return left[..., :, None] * self.kernel * right[..., None, :]

    def _scores(self, rows: slice) -> Array:
        return self.z[..., rows, :] * self.factor
