"""Sums, products and maxima of a plan exp(scale·⟨z_i, y_j⟩ + u_i + v_j) that is never stored.

On a CUDA device with Triton these run as streaming kernels, in plain torch blocks elsewhere. ``scale``, ``u``, ``v``
are in natural-log units; −inf in ``u`` or ``v`` is a point of weight zero. Points are (n, d) tensors or (s, n, d)
batches, or an :class:`Operand` made once by :func:`prepare`; everything is returned as float32.
"""

from __future__ import annotations

import math

import torch

from ...arrays import Tensor
from ...errors import InputError
from . import blocks
from .operands import PRECISIONS, Operand, choose_precision, error_bound, prepare

try:
    from . import launch
except ImportError:  # Triton is not installed
    launch = None  # type: ignore[assignment]

__all__ = ["Operand", "apply", "best", "choose_precision", "error_bound", "lse", "prepare"]


def lse(
    z: Tensor | Operand,
    y: Tensor | Operand,
    v: Tensor,
    scale: float,
    *,
    guess: Tensor | None = None,
    precision: str = "auto",
) -> Tensor:
    """Return out_i = log Σ_j exp(scale·⟨z_i, y_j⟩ + v_j): one Sinkhorn half-iteration.

    Parameters
    ----------
    z, y : (n, d) or (s, n, d), and (m, d) or (s, m, d)
        Points or prepared points. Either may be shared by the whole batch. Swap them for the other half.
    v : (m,) or (s, m)
    scale : float
    guess : (n,) or (s, n), optional
        Approximate result, known in a warm-started iteration: it replaces the running maximum. Rows for which it is off
        by more than 70 are detected and computed with a running maximum.
    precision : {"auto", "fp16", "bf16", "tf32", "fp32"}
        Of the products' operands; sums are float32. ``"auto"`` keeps the error below 0.01 (:func:`choose_precision`)
        and looks at the points' norms to do so. Prepared points have theirs already.

    Returns
    -------
    (n,) or (s, n)
    """
    zo, yo, batched = _pair(z, y, scale, precision)
    v = _vector("v", v, zo, yo.rows)
    if guess is not None:
        guess = _vector("guess", guess, zo, zo.rows)
        guess = guess.expand(max(zo.data.shape[0], yo.data.shape[0], v.shape[0]), -1).contiguous()
    if _streams(zo):
        out = launch.lse(zo, yo, v, scale, guess)
    else:
        out = blocks.lse(zo.data, yo.data, v, scale).to(torch.float32)
    return out if batched or v.shape[0] > 1 else out[0]


def apply(
    z: Tensor | Operand,
    y: Tensor | Operand,
    u: Tensor,
    v: Tensor,
    t: Tensor | Operand,
    scale: float,
    *,
    mass: Tensor | float | None = None,
    precision: str = "auto",
) -> Tensor:
    """Return out_ik = Σ_j exp(scale·⟨z_i, y_j⟩ + u_i + v_j) t_jk: the plan times a matrix.

    Parameters
    ----------
    z, y, scale, precision
        As in :func:`lse`.
    u, v : (n,) or (s, n), and (m,) or (s, m)
    t : (m, k) or (s, m, k)
        Pass the same object as ``y`` if it is y: both products then read it once.
    mass : float, (n,) or (s, n), optional
        Approximate row sums of the plan (default 1/n), to keep its entries in the range of half precision. Rows for
        which it is off by more than a factor of 50 are detected and computed with their own maximum.

    Returns
    -------
    (n, k) or (s, n, k)
    """
    same = t is y
    zo, yo, batched = _pair(z, y, scale, precision)
    to = yo if same else t if isinstance(t, Operand) else prepare(t, precision=_product(zo.precision))
    if to.rows != yo.rows:
        raise InputError(f"t: expected one row per row of y ({yo.rows}), got {to.rows}")
    u, v = _vector("u", u, zo, zo.rows), _vector("v", v, zo, yo.rows)
    if not _streams(zo):
        out = blocks.apply(zo.data, yo.data, u, v, to.data, scale).to(torch.float32)
    else:
        mass = 1.0 / zo.rows if mass is None else mass
        if isinstance(mass, (int, float)):  # a tensor made from a number would have to be copied to the device
            level = 10.0 - math.log2(max(mass, 1e-35))
            lift = torch.full((1, zo.rows), level, dtype=torch.float32, device=zo.data.device)
        else:
            lift = 10.0 - torch.log2(_vector("mass", mass, zo, zo.rows).clamp(min=1e-35))
        if to.precision == "tf32":
            to = prepare(to.data[..., : to.dim], precision="fp16")
        out = launch.apply(zo, yo, u, v, to, scale, lift, same=same and to is yo)
    return out if batched or max(u.shape[0], v.shape[0]) > 1 or to.batched else out[0]


def best(
    z: Tensor | Operand, y: Tensor | Operand, v: Tensor, scale: float, *, precision: str = "auto"
) -> tuple[Tensor, Tensor]:
    """Return column and value of each row's largest scale·⟨z_i, y_j⟩ + v_j; the first if there are ties."""
    zo, yo, batched = _pair(z, y, scale, precision)
    v = _vector("v", v, zo, yo.rows)
    index, value = launch.best(zo, yo, v, scale) if _streams(zo) else blocks.best(zo.data, yo.data, v, scale)
    value = value.to(torch.float32)
    return (index, value) if batched or v.shape[0] > 1 else (index[0], value[0])


def _streams(z: Operand) -> bool:
    return bool(launch is not None and z.data.device.type == "cuda")


def _product(precision: str) -> str:
    """Return the precision of the second product of ``apply``: for entries of the plan fp16 is as good as TF32."""
    return "fp16" if precision == "tf32" else precision


def _pair(z: Tensor | Operand, y: Tensor | Operand, scale: float, precision: str) -> tuple[Operand, Operand, bool]:
    """Return both operands in one precision, and whether either has a batch axis."""
    if precision not in PRECISIONS:
        raise InputError(f"precision: expected one of {', '.join(PRECISIONS)}, got {precision!r}")
    if not math.isfinite(scale):
        raise InputError(f"scale: expected a finite number, got {scale}")
    made = [p.precision for p in (z, y) if isinstance(p, Operand)]
    if len(set(made)) > 1:
        raise InputError(
            f"z and y: expected points prepared in one precision, got {made[0]!r} and {made[1]!r}; prepare one again"
        )
    if made:
        precision = made[0]
    elif precision == "auto":
        precision = _automatic(z, y, scale)
    zo = z if isinstance(z, Operand) else prepare(z, precision=precision)
    yo = y if isinstance(y, Operand) else prepare(y, precision=precision)
    if zo.dim != yo.dim:
        raise InputError(f"z and y: expected points of one dimension, got {zo.dim} and {yo.dim}")
    if zo.batched and yo.batched and zo.data.shape[0] != yo.data.shape[0]:
        raise InputError(f"z and y: expected batches of one size, got {zo.data.shape[0]} and {yo.data.shape[0]}")
    return zo, yo, zo.batched or yo.batched


def _automatic(z: Tensor, y: Tensor, scale: float) -> str:
    if z.device.type != "cuda" or scale == 0:
        return "fp16"
    largest = [torch.linalg.vector_norm(p.to(torch.float32), dim=-1).max() for p in (z, y)]
    exponent = abs(scale) * float(largest[0] * largest[1])
    return choose_precision(1 / max(exponent, 1e-6), dim=z.shape[-1]) if math.isfinite(exponent) else "fp32"


def _vector(name: str, values: Tensor, z: Operand, length: int) -> Tensor:
    if values.ndim not in (1, 2) or values.shape[-1] != length:
        raise InputError(f"{name}: expected shape ({length},) or (s, {length}), got {tuple(values.shape)}")
    values = values.to(torch.float32)
    return values if values.ndim == 2 else values[None]
