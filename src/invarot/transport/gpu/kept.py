# mypy: disable-error-code="no-untyped-def,untyped-decorator,no-untyped-call,misc"
"""A cost whose kernel matrix is stored in half precision once a step needs several sweeps."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ...arrays import Array, Tensor, namespace
from ..marginals import Marginals
from . import kernels, launch
from .cost import KernelCost
from .operands import Operand

STREAMED_SWEEPS = 2  # before the matrix is stored: computing it costs about as much as it saves in two sweeps
LIFT = 14.0  # log2: rows sum to 2¹⁴, so that half precision holds entries down to 10⁻¹² of their row
DRIFT = 8.0  # how far v may change before the matrix is recomputed


@triton.jit
def _rows(kernel, right, out, n, m, pitch, BM: tl.constexpr, BN: tl.constexpr):
    """out_i = Σ_j kernel_ij right_j."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    at = kernel + rows[:, None].to(tl.int64) * pitch
    total = tl.zeros([BM, BN], tl.float32)
    for first in range(0, m, BN):
        columns = first + tl.arange(0, BN)
        here = (rows[:, None] < n) & (columns[None, :] < m)
        weight = tl.load(right + columns, mask=columns < m, other=0.0)
        total += tl.load(at + columns[None, :], mask=here, other=0.0).to(tl.float32) * weight[None, :]
    tl.store(out + rows, tl.sum(total, axis=1), mask=rows < n)


@triton.jit
def _columns(kernel, left, out, n, m, pitch, span, BM: tl.constexpr, BN: tl.constexpr):
    """out[p, j] = Σ_i left_i kernel_ij over the p-th ``span`` of rows."""
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    part = tl.program_id(1)
    total = tl.zeros([BM, BN], tl.float32)
    for first in range(part * span, tl.minimum((part + 1) * span, n), BM):
        rows = first + tl.arange(0, BM)
        here = (rows[:, None] < n) & (columns[None, :] < m)
        weight = tl.load(left + rows, mask=rows < n, other=0.0)
        at = kernel + rows[:, None].to(tl.int64) * pitch + columns[None, :]
        total += tl.load(at, mask=here, other=0.0).to(tl.float32) * weight[:, None]
    tl.store(out + part * m + columns, tl.sum(total, axis=0), mask=columns < m)


class KeptCost(KernelCost):
    """Streams the first sweeps; then stores b·exp(L + v₀ − row sum), (n, m), and sweeps at memory bandwidth.

    For one start, z (1, n, d).
    """

    def __init__(self, z: Array, y: Array, scale: float, a: Array, b: Array, *, precision: str | None = None) -> None:
        super().__init__(z, y, scale, a, b, precision=precision)
        self.b = b
        self.mode = f"kept after {STREAMED_SWEEPS} sweeps ({self.mode})"
        self.sweeps = 0
        self.kernel: Array | None = None
        self.v = self.u = b  # potentials absorbed in the kernel, once there is one

    def sweep(self, v: Array, marginals: Marginals | None = None) -> tuple[Array, Array]:
        self.sweeps += 1
        # what has no counterpart is outside the range of half precision
        if self.sweeps <= STREAMED_SWEEPS or marginals is not None:
            return super().sweep(v, marginals)
        if self.kernel is None or float(namespace(v).max(namespace(v).abs(v - self.v))) > DRIFT:
            u, fresh = super().sweep(v)
            self._make(u, v)
            return u, fresh
        shift = torch.exp(v - self.v)
        mass = product(self.kernel, shift[0])[None] * 2.0**-LIFT
        columns = product_transposed(self.kernel, (self.a / mass)[0])[None] * (2.0**-LIFT * shift / self.b)
        if float(columns.min()) < 1e-30:  # outside the range of half precision
            self.kernel = None
            return super().sweep(v)
        return self.u - torch.log(mass), v - torch.log(columns)

    def _make(self, u: Array, v: Array) -> None:
        self.u, self.v = u, v
        self.kernel = write_plan(self.z, self.y, u, v + self.log_b, self.scale)


def write_plan(z: Operand, y: Operand, u: Tensor, v: Tensor, scale: float) -> Tensor:
    """Compute 2^LIFT · exp(scale·⟨z_i, y_j⟩ + u_i + v_j) in half precision: (n, m), a view of rows padded to 64."""
    n, m = z.rows, y.rows
    pitch = -(-m // 64) * 64
    kernel = torch.empty((n, pitch), dtype=torch.float16, device=u.device)
    lift = torch.full((n,), LIFT, dtype=torch.float32, device=u.device)
    bk, kc = launch.chunk(z)
    kernels.plan_block[(triton.cdiv(n, 128) * triton.cdiv(m, 256),)](
        z.data, y.data, u.contiguous(), v.contiguous(), lift, kernel, kernel, z.undo, y.undo, scale, n, m,
        z.data.shape[2], pitch, GROUP=8, KC=kc, BK=bk, TERMS=z.terms, REST=False, BM=128, BN=256, num_warps=8,
        num_stages=3,
    )  # fmt: skip
    return kernel[:, :m]


def product(kernel: Tensor, right: Tensor) -> Tensor:
    """Multiply the kernel by a vector, in float32."""
    n, m = kernel.shape
    out = torch.empty(n, dtype=torch.float32, device=right.device)
    _rows[(triton.cdiv(n, 8),)](kernel, right.contiguous(), out, n, m, kernel.stride(0), BM=8, BN=512, num_warps=4)
    return out


def product_transposed(kernel: Tensor, left: Tensor) -> Tensor:
    """Multiply a vector by the kernel, in float32."""
    n, m = kernel.shape
    across = triton.cdiv(m, 256)
    parts = max(1, min(triton.cdiv(n, 64), 2048 // across))
    span = triton.cdiv(triton.cdiv(n, parts), 16) * 16
    out = torch.zeros((parts, m), dtype=torch.float32, device=left.device)
    _columns[(across, parts)](kernel, left.contiguous(), out, n, m, kernel.stride(0), span, BM=16, BN=256, num_warps=4)
    return out.sum(dim=0)
