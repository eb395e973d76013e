"""Operands for the kernels: padded, scaled by a power of two, rounded; and which rounding a given epsilon allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from ...arrays import Tensor
from ...errors import InputError

PRECISIONS = ("fp16", "bf16", "tf32", "fp32", "auto")
_TYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32, "fp32": torch.float16}
_ULP = {"fp16": 2.0**-10, "bf16": 2.0**-7, "tf32": 2.0**-10, "fp32": 2.0**-20}


@dataclass(frozen=True)
class Operand:
    """Points as the kernels read them; made once by :func:`prepare`, used for as many half-iterations as wanted.

    ``data`` is (s, n, width), or (s, n, 2·width) for ``"fp32"``: the rounded points and what the rounding left, so
    that three half-precision products give what one in single precision would. Times ``undo`` (a power of two,
    0-d, on the device) it is the points again. ``batched`` says whether they came with a leading axis.
    """

    data: Tensor
    undo: Tensor
    dim: int
    precision: str
    batched: bool

    @property
    def rows(self) -> int:
        return int(self.data.shape[1])

    @property
    def width(self) -> int:
        return int(self.data.shape[2]) // (2 if self.terms == 3 else 1)

    @property
    def terms(self) -> int:
        return 3 if self.precision == "fp32" and self.data.dtype == torch.float16 else 1


def error_bound(precision: str, *, exponent: float, dim: int) -> float:
    """How far one exponent scale·⟨z, y⟩ may be off, ``exponent`` being the largest scale·|z||y|.

    Rounding z and y, each by a relative u at most, changes it by no more than ``exponent``·2u. The roundings of the
    ``dim`` components are as good as independent and seldom all push one way: for points with no dominating component
    the spread is exponent·u·0.41·√(2·3/dim), and 4.5 of those (one row in 150,000) are below exponent·2u·2.25/√dim,
    taken here when it is the smaller one. Adding up costs 2⁻²⁴ for each 16 components and term, as the matrix units
    cut off there, and for the four float32 operations after them.
    """
    rounding = _ULP[precision] * min(1.0, 2.25 / math.sqrt(dim))
    steps = (3 if precision == "fp32" else 1) * math.ceil(dim / 16) + 4
    return exponent * (rounding + steps * 2.0**-24)


def choose_precision(epsilon_relative: float, *, dim: int, tolerance: float = 0.01) -> str:
    """The cheapest precision whose potentials stay within ``tolerance`` of epsilon.

    ``epsilon_relative`` is epsilon over the mean cost, or 1 over the largest scale·|z||y|: for unit vectors and
    for centred clouds these are the same number. TF32 rounds as half precision does at twice the price, so the rule
    goes from ``"fp16"`` straight to ``"fp32"`` (three half-precision products).

    >>> choose_precision(0.1, dim=300), choose_precision(0.001, dim=300)
    ('fp16', 'fp32')
    """
    if not epsilon_relative > 0:
        raise InputError(f"epsilon_relative must be positive, got {epsilon_relative}; give epsilon / mean cost")
    fits = error_bound("fp16", exponent=1 / epsilon_relative, dim=dim) <= tolerance
    return "fp16" if fits else "fp32"


def padded_width(dim: int) -> int:
    """Columns after padding: the matrix units take 16 at a time, the copy engine is happiest with 64."""
    return max(16, 1 << (dim - 1).bit_length()) if dim <= 64 else -(-dim // 64) * 64


def prepare(x: Tensor, *, precision: str = "fp16") -> Operand:
    """``x`` (n, d) or (s, n, d) as the kernels read it; on the CPU only a float32 copy."""
    if precision not in PRECISIONS or precision == "auto":
        raise InputError(f"precision must be one of {PRECISIONS[:-1]}, got {precision!r}")
    if x.ndim not in (2, 3) or 0 in x.shape:
        raise InputError(f"points must be (n, d) or (s, n, d) and not empty, got {tuple(x.shape)}")
    points = x if x.ndim == 3 else x[None]
    dim = int(points.shape[-1])
    one = torch.ones((), dtype=torch.float32, device=x.device)
    if x.device.type != "cuda":
        return Operand(points.to(torch.float32), one, dim, precision, x.ndim == 3)
    width = padded_width(dim)
    parts = 2 if precision == "fp32" else 1
    points = points.to(torch.float32) if x.dtype != torch.float32 else points
    data = torch.zeros((*points.shape[:2], parts * width), dtype=_TYPES[precision], device=x.device)
    if precision in ("bf16", "tf32"):
        data[..., :dim] = points
        if precision == "tf32":  # the units cut off what does not fit: round here, or the error has a sign
            data.view(torch.int32).add_(0x1000).bitwise_and_(~0x1FFF)
        return Operand(data, one, dim, precision, x.ndim == 3)
    # largest entry to [128, 256): far from overflow, and the low parts far from the subnormal numbers
    _, exponent = torch.frexp(torch.linalg.vector_norm(points, math.inf).clamp(min=1e-30))
    undo = torch.ldexp(one, exponent - 8)
    scaled = points / undo
    data[..., :dim] = scaled
    if parts == 2:
        data[..., width : width + dim] = scaled - data[..., :dim].to(torch.float32)
    return Operand(data, undo, dim, precision, x.ndim == 3)
