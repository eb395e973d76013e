"""The cost of one plan step, as an object with the operations that Sinkhorn needs.

For mapped source points z (…, n, d) and targets y (m, d), the plan is Γij = aᵢ bⱼ exp(Lij + uᵢ + vⱼ) with the scores
Lij = scale·⟨zᵢ, yⱼ⟩ and scale = 2/ε: the squared norms of the cost ‖zᵢ − yⱼ‖² are absorbed by the potentials u and v.
A cost object has two methods, ``sweep`` and ``images``, and never returns an n×m array.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar, runtime_checkable

from ..arrays import (
    Array,
    device,
    exp_in_place,
    is_torch,
    log,
    logsumexp,
    machine_epsilon,
    namespace,
    on_cuda,
    to_numpy,
    transpose,
)
from ..rows import ALL, Rows
from ..threads import map_blocks
from .marginals import Marginals
from .onepass import can_compile, one_pass

T = TypeVar("T")

NUMPY_BLOCK = 1 << 20  # scores per block: the block of a thread and its temporaries stay in cache
TORCH_BLOCK = 1 << 24  # torch parallelises each operation itself: fewer, larger blocks
CUDA_BLOCK = 1 << 27
KEPT_BLOCK = 1 << 22  # a stored kernel is only read: larger blocks, less threading overhead
READ_BLOCKS = 8  # of a stored kernel, at least
LEAST_ROWS = 64  # with fewer, the matrix product spends its time packing y


class Cost(Protocol):
    """The operations used by Sinkhorn and by the map step."""

    def sweep(self, v: Array, marginals: Marginals | None = None) -> tuple[Array, Array]:
        """Run one full iteration: u from v to match the row sums, then v from u to match the column sums.

        With ``marginals``, u is relaxed; the caller relaxes v.
        """

    def images(self, u: Array, v: Array) -> tuple[Array, Array]:
        """Return Γ y (…, n, d) and the row sums of Γ (…, n)."""

    @property
    def mode(self) -> str:
        """How the cost is computed, for the history: ``dense``, ``streamed``, …"""


@runtime_checkable
class WholeCost(Cost, Protocol):
    """A cost that runs all sweeps of a plan step itself."""

    def solve(self, v: Array, *, tol: float, max_iter: int) -> tuple[Array, Array, Array, int]:
        """Sweep from ``v`` until each start's error is within ``tol``; return u, v, errors and the largest sweep count."""


class BlockedCost:
    """Scores computed in blocks of rows, with any array library.

    ``keep=True`` stores the stabilised kernel exp(L + v₀ − row maximum), (…, n, m), so that later sweeps are one pass of
    multiply-adds over it; ``keep=False`` recomputes each block from z and y and stores one block at a time.
    """

    def __init__(
        self, z: Array, y: Array, scale: float, a: Array, b: Array, *, keep: bool = True, rows: Rows = ALL
    ) -> None:
        self.z, self.y, self.yt = z * scale, y, transpose(y)
        self.rows = rows
        self._set_up((*z.shape[:-1], y.shape[-2]), a, b, keep)

    def _set_up(self, shape: tuple[int, ...], a: Array, b: Array, keep: bool) -> None:
        xp, z = namespace(self.z), self.z
        self.shape, self.a, self.b, self.keep = shape, a, b, keep
        self.compiled = keep and not is_torch(z) and shape[:-2] == (1,) and can_compile(math.prod(shape))
        self.tiny = float(xp.finfo(z.dtype).tiny) / machine_epsilon(z)
        # how far v may change before the kernel is recomputed
        self.reach = 0.4 * math.log(float(xp.finfo(z.dtype).max))
        self.kernel: Array | None = None  # until the first potential is absorbed
        self.top = xp.zeros(self.shape[:-1], dtype=z.dtype, device=device(z))
        self.absorbed: Array

    @property
    def mode(self) -> str:
        return "dense" if self.keep else "streamed"

    # -- one Sinkhorn iteration ------------------------------------------------------------------------------------

    def sweep(self, v: Array, marginals: Marginals | None = None) -> tuple[Array, Array]:
        xp = namespace(v)
        self._ensure_range(v)
        shift = v - self.absorbed
        right = self.b * xp.exp(shift)
        u = xp.empty_like(self.top)

        def work(rows: slice) -> Array:
            kernel, top = self._kernel_rows(rows)
            if marginals is None:
                mass, columns = self._both_sums(kernel, right, self.a[..., rows])
                u[..., rows] = -xp.log(mass) - top
                return columns
            u[..., rows] = marginals.relax(-xp.log((kernel @ right[..., None])[..., 0]) - top)
            left = self.a[..., rows] * xp.exp(u[..., rows] + top)
            return (left[..., None, :] @ kernel)[..., 0, :]

        total: Any = sum(self._map_rows(work, read=self.keep))
        columns = self.rows.sum(total) * xp.exp(shift)
        lost = columns <= self.tiny
        fresh = v - xp.log(xp.where(lost, xp.full_like(columns, self.tiny), columns))
        if marginals is not None:
            lost = lost & ~marginals.holds(fresh)
        if bool(xp.any(lost)):  # a column sum underflowed: compute its potential in the log domain
            fresh = self.column_potential(u)
        return u, fresh

    def _both_sums(self, kernel: Array, right: Array, a: Array) -> tuple[Array, Array]:
        """Return mass = K · right and (a / mass) · K for a block of rows K."""
        if self.compiled:
            sums = one_pass(to_numpy(kernel[0]), to_numpy(right[0]), to_numpy(a).reshape(-1))
            return sums[0][None], sums[1][None]
        mass = (kernel @ right[..., None])[..., 0]
        return mass, ((a / mass)[..., None, :] @ kernel)[..., 0, :]

    def row_potential(self, v: Array) -> Array:
        """Return the u that matches the row sums, in the log domain: uᵢ = −log Σⱼ bⱼ exp(Lij + vⱼ)."""
        right = (v + log(self.b))[..., None, :]
        parts = self._map_rows(lambda rows: logsumexp(self._scores(rows) + right, axis=-1))
        return -namespace(v).concat(list(parts), axis=-1)

    def column_potential(self, u: Array) -> Array:
        """Return the v that matches the column sums, in the log domain: vⱼ = −log Σᵢ aᵢ exp(Lij + uᵢ)."""
        left = (u + log(self.a))[..., None]
        parts = self._map_rows(lambda rows: logsumexp(self._scores(rows) + left[..., rows, :], axis=-2))
        return -self.rows.logsumexp(logsumexp(namespace(u).stack(list(parts)), axis=0))

    # -- the plan as an operator -----------------------------------------------------------------------------------

    def images(self, u: Array, v: Array) -> tuple[Array, Array]:
        xp = namespace(u)
        out = self.apply(u, v, xp.concat([self.y, xp.ones_like(self.y[..., :1])], axis=-1))
        return out[..., :-1], out[..., -1]

    def apply(self, u: Array, v: Array, t: Array) -> Array:
        """Return Γ t (…, n, k) for t (m, k)."""
        xp = namespace(u)
        self._ensure_range(v)
        right = (self.b * xp.exp(v - self.absorbed))[..., None] * t
        out = xp.empty((*self.shape[:-1], t.shape[-1]), dtype=t.dtype, device=device(t))

        def work(rows: slice) -> None:
            kernel, top = self._kernel_rows(rows)
            out[..., rows, :] = (self.a[..., rows] * xp.exp(u[..., rows] + top))[..., None] * (kernel @ right)

        exhaust(self._map_rows(work))
        return out

    # -- blocks ----------------------------------------------------------------------------------------------------

    def _ensure_range(self, v: Array) -> None:
        """Recompute the kernel if ``v`` has changed too much for the range of a float."""
        xp = namespace(v)
        if self.kernel is None or bool(xp.max(xp.abs(v - self.absorbed)) > self.reach):
            self._absorb(v)

    def _absorb(self, v: Array) -> None:
        """Absorb v into the kernel; compute the kernel if it is stored."""
        xp = namespace(v)
        self.absorbed = v
        if not self.keep:
            self.kernel = v  # blocks are computed on demand; marks v as absorbed
            return
        if self.kernel is None:
            self.kernel = xp.empty(self.shape, dtype=v.dtype, device=device(v))
        kernel = self.kernel

        def work(rows: slice) -> None:
            kernel[..., rows, :], self.top[..., rows] = self._compute_stabilised(rows)

        exhaust(self._map_rows(work))

    def _kernel_rows(self, rows: slice) -> tuple[Array, Array]:
        if self.keep:
            assert self.kernel is not None
            return self.kernel[..., rows, :], self.top[..., rows]
        return self._compute_stabilised(rows)

    def _compute_stabilised(self, rows: slice) -> tuple[Array, Array]:
        """Return exp(L + v₀ − row maximum) and the row maximum: the largest entry of each row is 1."""
        xp = namespace(self.z)
        scores = self._scores(rows)
        scores += self.absorbed[..., None, :]
        top = xp.max(scores, axis=-1)
        scores -= top[..., None]
        return exp_in_place(scores), top

    def _scores(self, rows: slice) -> Array:
        return self.z[..., rows, :] @ self.yt

    def _blocks(self, *, read: bool = False) -> Iterator[slice]:
        n = self.shape[-2]
        per_row = math.prod(self.shape[:-2]) * self.shape[-1]
        step = block_entries(self.z) // per_row
        if read and not is_torch(self.z):  # the same for any number of threads, so that sums are too
            step = min(KEPT_BLOCK // per_row, math.ceil(n / READ_BLOCKS))
        step = max(LEAST_ROWS, step)
        return (slice(i, min(i + step, n)) for i in range(0, n, step))

    def _map_rows(self, work: Callable[[slice], T], *, read: bool = False) -> Iterator[T]:
        """Yield ``work(rows)`` for each block, in order: torch has its own threads, NumPy uses ours.

        ``read``: the work only reads a stored kernel.
        """
        blocks = self._blocks(read=read)
        return map(work, blocks) if is_torch(self.z) else map_blocks(work, blocks)


def block_entries(z: Array) -> int:
    """Return the scores per block for the library and device of ``z``."""
    if on_cuda(z):
        return CUDA_BLOCK
    return TORCH_BLOCK if is_torch(z) else NUMPY_BLOCK


def exhaust(steps: Iterator[object]) -> None:
    """Run an iterator for its side effects."""
    deque(steps, maxlen=0)
