"""Operands for the kernels: padded, scaled by a power of two, rounded; and the precision that epsilon needs."""

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
    """Points as the kernels read them; made once by :func:`prepare`, used for any number of half-iterations.

    ``data`` is (s, n, width), or (s, n, 2·width) for ``"fp32"``: the rounded points and the rounding error, so that three
    half-precision products equal one in single precision. ``data`` times ``undo`` (a power of two, 0-d, on the device)
    gives the points. ``batched``: whether the points had a batch axis.
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
    """Return a bound on the error of an exponent scale·⟨z, y⟩; ``exponent`` is the largest scale·|z||y|.

    Rounding z and y, each by a relative u at most, changes it by at most ``exponent``·2u. The rounding errors of the
    ``dim`` components are nearly independent: for points with no dominating component their standard deviation is
    exponent·u·0.41·√(2·3/dim), and 4.5 of those (one row in 150,000) are below exponent·2u·2.25/√dim; the smaller bound
    is used. Summation adds 2⁻²⁴ for each 16 components and term, as the matrix units truncate there, and for the four
    float32 operations after them.
    """
    rounding = _ULP[precision] * min(1.0, 2.25 / math.sqrt(dim))
    steps = (3 if precision == "fp32" else 1) * math.ceil(dim / 16) + 4
    return exponent * (rounding + steps * 2.0**-24)


def choose_precision(epsilon_relative: float, *, dim: int, tolerance: float = 0.01) -> str:
    """Return the cheapest precision whose potentials stay within ``tolerance`` of epsilon.

    ``epsilon_relative`` is epsilon over the mean cost, or 1 over the largest scale·|z||y|: for unit vectors and
    for centred clouds these are the same number. TF32 rounds as half precision does at twice the price, so the rule
    goes from ``"fp16"`` straight to ``"fp32"`` (three half-precision products).

    >>> choose_precision(0.1, dim=300), choose_precision(0.001, dim=300)
    ('fp16', 'fp32')
    """
    if not epsilon_relative > 0:
        raise InputError(f"epsilon_relative: expected a number > 0, got {epsilon_relative}; pass epsilon / mean cost")
    fits = error_bound("fp16", exponent=1 / epsilon_relative, dim=dim) <= tolerance
    return "fp16" if fits else "fp32"


def padded_width(dim: int) -> int:
    """Return the columns after padding: the matrix units take 16 at a time, the copy engine works best with 64."""
    return max(16, 1 << (dim - 1).bit_length()) if dim <= 64 else -(-dim // 64) * 64


def prepare(x: Tensor, *, precision: str = "fp16") -> Operand:
    """Convert ``x`` (n, d) or (s, n, d) to the form the kernels read; on the CPU only a float32 copy."""
    if precision not in PRECISIONS or precision == "auto":
        raise InputError(f"precision: expected one of {', '.join(PRECISIONS[:-1])}, got {precision!r}")
    if x.ndim not in (2, 3) or 0 in x.shape:
        raise InputError(f"x: expected points (n, d) or (s, n, d), not empty, got shape {tuple(x.shape)}")
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
        if precision == "tf32":  # the matrix units truncate: round here to avoid a bias
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
