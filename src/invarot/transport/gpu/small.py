# mypy: disable-error-code="no-untyped-def,untyped-decorator,no-untyped-call,misc"
"""Many small plans at once on CUDA: one launch runs all sweeps of each plan in its own block of threads."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ...arrays import Array, Tensor, log
from ..cost import BlockedCost

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _scores(z, y, z_rows, y_rows, n, m, scale, D: tl.constexpr):
    """Return scale·⟨z_i, y_j⟩ of a tile; coordinates are stored one after the other, (D, n) and (D, m)."""
    acc = tl.zeros([z_rows.shape[0], y_rows.shape[0]], tl.float32)
    for k in tl.static_range(D):
        left = tl.load(z + k * n + z_rows, mask=z_rows < n, other=0.0)
        right = tl.load(y + k * m + y_rows, mask=y_rows < m, other=0.0)
        acc += left[:, None] * right[None, :]
    return acc * scale


@triton.jit
def _sweeps(
    z, y, log_a, log_b, u, v, errors, counts, scale, tol, max_iter, n, m,
    D: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Sweep in base 2. Threads share the potentials through memory, hence the barriers."""
    s = tl.program_id(0).to(tl.int64)
    z += s * D * n
    u += s * n
    v += s * m
    rows, columns, part = tl.arange(0, BN), tl.arange(0, BM), tl.arange(0, TILE)
    column_weight = tl.load(log_b + columns, mask=columns < m, other=float("-inf"))
    mass = tl.exp2(column_weight)
    count = 0
    error = tl.full([], float("inf"), tl.float32)
    while (count < max_iter) & (error > tol):
        top = tl.full([BN], float("-inf"), tl.float32)
        total = tl.zeros([BN], tl.float32)
        for first in range(0, m, TILE):
            some = first + part
            reach = tl.load(v + some, mask=some < m, other=0.0)
            reach += tl.load(log_b + some, mask=some < m, other=float("-inf"))
            score = _scores(z, y, rows, some, n, m, scale, D) + reach[None, :]
            higher = tl.maximum(top, tl.max(score, axis=1))
            total = total * tl.exp2(top - higher) + tl.sum(tl.exp2(score - higher[:, None]), axis=1)
            top = higher
        tl.store(u + rows, -top - tl.log2(total), mask=rows < n)
        tl.debug_barrier()
        peak = tl.full([BM], float("-inf"), tl.float32)
        sums = tl.zeros([BM], tl.float32)
        for first in range(0, n, TILE):
            some = first + part
            reach = tl.load(u + some, mask=some < n, other=0.0)
            reach += tl.load(log_a + some, mask=some < n, other=float("-inf"))
            score = _scores(z, y, some, columns, n, m, scale, D) + reach[:, None]
            higher = tl.maximum(peak, tl.max(score, axis=0))
            sums = sums * tl.exp2(peak - higher) + tl.sum(tl.exp2(score - higher[None, :]), axis=0)
            peak = higher
        before = tl.load(v + columns, mask=columns < m, other=0.0)
        fresh = -peak - tl.log2(sums)
        off = tl.minimum(tl.maximum(before - fresh, -115.0), 115.0)
        error = tl.sum(tl.where(columns < m, mass * tl.abs(tl.exp2(off) - 1.0), 0.0), axis=0)
        tl.debug_barrier()  # all threads have read ``before``
        tl.store(v + columns, fresh, mask=columns < m)
        tl.debug_barrier()
        count += 1
    tl.store(errors + s, error)
    tl.store(counts + s, count)


class SmallCost(BlockedCost):
    """Plans of few points in few dimensions, z (s, n, d) against y (m, d): a whole Sinkhorn run is one launch."""

    z: Tensor
    yt: Tensor

    def __init__(self, z: Array, y: Array, scale: float, a: Array, b: Array) -> None:
        super().__init__(z, y, scale, a, b, keep=False)

    @property
    def mode(self) -> str:
        return "fused"

    def solve(self, v: Tensor, *, tol: float, max_iter: int) -> tuple[Tensor, Tensor, Tensor, int]:
        """Sweep from ``v`` until each start is within ``tol`` or at ``max_iter``; return u, v, errors, largest sweep count."""
        batch, n, m = self.shape
        unit = 0.6931471805599453  # ln 2: potentials are in base 2 inside
        u = torch.empty((batch, n), dtype=torch.float32, device=v.device)
        found = (v / unit).contiguous()
        errors = torch.empty(batch, dtype=torch.float32, device=v.device)
        counts = torch.empty(batch, dtype=torch.int32, device=v.device)
        _sweeps[(batch,)](
            self.z.mT.contiguous(), self.yt.contiguous(), log(self.a) / unit, log(self.b) / unit, u, found, errors,
            counts, LOG2E.value, tol, max_iter, n, m,
            D=self.z.shape[-1], BN=triton.next_power_of_2(n), BM=triton.next_power_of_2(m), TILE=16, num_warps=4,
        )  # fmt: skip
        return u * unit, found * unit, errors, int(counts.max())
