"""Cost object for large problems on CUDA: log-sum-exps and products by streaming kernels, no n×m array in memory."""

from __future__ import annotations

from ...arrays import Array, log, namespace
from ...rows import ALL, Rows
from ..marginals import Marginals
from . import ops
from .operands import choose_precision, prepare

POTENTIAL_ERROR = 0.01  # of epsilon: error of the potentials that are returned
# while a map is sought: the plan is that of points moved by their rounding, to which it does converge
ROUGH = 10 * POTENTIAL_ERROR


def precision_for(
    z: Array, y: Array, scale: float, *, within: float = POTENTIAL_ERROR, rows: Rows = ALL, columns: Rows = ALL
) -> str:
    """Return the cheapest precision whose potentials for these points are ``within`` this share of epsilon.

    It is that of the points of all processes, so that all of them choose the same.
    """
    xp = namespace(z)
    longest = rows.max(xp.max(xp.sum(z**2, axis=-1))) * columns.max(xp.max(xp.sum(y**2, axis=-1)))
    largest = float(xp.sqrt(longest))
    return choose_precision(1 / max(abs(scale) * largest, 1e-6), dim=z.shape[-1], tolerance=within)


class KernelCost:
    """Sweeps by :mod:`ops`; each half-iteration is stabilised by the previous one."""

    def __init__(
        self, z: Array, y: Array, scale: float, a: Array, b: Array, *, precision: str | None = None, rows: Rows = ALL
    ) -> None:
        chosen = precision or precision_for(z, y, scale)
        self.scale, self.a, self.dtype = scale, a, z.dtype
        self.log_a, self.log_b = log(a), log(b)
        self.z, self.y = prepare(z, precision=chosen), prepare(y, precision=chosen)
        self.mode = f"streamed ({chosen} kernels)"
        self.over = rows
        self.rows: Array | None = None
        self.columns: Array | None = None

    def sweep(self, v: Array, marginals: Marginals | None = None) -> tuple[Array, Array]:
        u = self.row_potential(v)
        u = u if marginals is None else marginals.relax(u)
        return u, self.column_potential(u)

    def row_potential(self, v: Array) -> Array:
        self.rows = ops.lse(self.z, self.y, v + self.log_b, self.scale, guess=self.rows)
        return -self.rows

    def column_potential(self, u: Array) -> Array:
        self.columns = self.over.logsumexp(ops.lse(self.y, self.z, self.log_a + u, self.scale, guess=self.columns))
        return -self.columns

    def images(self, u: Array, v: Array) -> tuple[Array, Array]:
        left, right = u + self.log_a, v + self.log_b
        mass = namespace(u).exp(left + ops.lse(self.z, self.y, right, self.scale, guess=-u))
        return ops.apply(self.z, self.y, left, right, self.y, self.scale, mass=mass), mass
