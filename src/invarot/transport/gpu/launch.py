"""Choose kernels and tile sizes, and launch them. Importing this module needs Triton."""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
import triton

from ...arrays import Tensor
from . import kernels
from .operands import Operand

try:
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    from . import hopper
except ImportError:  # an older Triton
    hopper = None  # type: ignore[assignment]

_SHARED = 231_000  # bytes of shared memory a block may use on Hopper
_NARROWEST = 128  # padded width from which the Hopper kernel's row sums are faster
_SAMPLE = 1024  # columns used for the first guess
_BLOCK = 1 << 29  # entries of the plan per block where the fused kernel does not fit


@functools.cache
def _device(index: int) -> tuple[bool, int]:
    """Return whether the device runs the Hopper kernels, and its number of multiprocessors."""
    found = torch.cuda.get_device_properties(index)
    return hopper is not None and found.major == 9, int(found.multi_processor_count)


def _hopper_fits(z: Operand, y: Operand, s: int, *, least: int, most: int) -> bool:
    enough = z.rows >= 512 and y.rows >= 512 and s == 1 and z.terms == 1 and z.precision in ("fp16", "bf16")
    return enough and least <= z.width <= most and _device(z.data.device.index)[0]


@functools.cache
def _layout(box: tuple[int, int], half: bool) -> Any:
    return gl.NVMMASharedLayout.get_default_for(list(box), gl.float16 if half else gl.bfloat16)


def _describe(x: Tensor, box: tuple[int, int]) -> Any:
    """Return the descriptor with which the copy engine loads boxes of ``x``."""
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(box), _layout(box, x.dtype == torch.float16))


def _size(*arrays: Tensor) -> int:
    return int(max(a.shape[0] for a in arrays))


def _step(x: Tensor) -> int:
    """Return the stride between problems of the batch; 0 if the batch shares one."""
    return int(x.stride(0)) if x.shape[0] > 1 else 0


def _padded(v: Tensor, length: int) -> Tensor:
    """Return ``v`` in base 2, padded with −inf to ``length``: the Hopper kernels read it without a mask."""
    out = torch.full((v.shape[0], length), -math.inf, dtype=torch.float32, device=v.device)
    torch.mul(v, 1 / math.log(2), out=out[:, : v.shape[1]])
    return out


def chunk(z: Operand) -> tuple[int, int]:
    """Return the columns per step of the products, and the number of steps."""
    most = 32 if z.precision == "tf32" else 64
    size = min(z.width, most)
    return size, z.width // size


def _tiles(z: Operand, n: int, s: int) -> dict[str, int]:
    """Return tile sizes of the portable kernels: large for many rows, small to fill the device with small problems."""
    bk, kc = chunk(z)
    common = {"BK": bk, "KC": kc, "TERMS": z.terms, "num_stages": 3}
    if n * s <= 1 << 13 or n <= 256:
        return common | {"BM": 64, "BN": 64, "num_warps": 4}
    if z.precision == "tf32" or z.width <= 64:
        return common | {"BM": 128, "BN": 128, "num_warps": 4 if z.width <= 64 else 8}
    return common | {"BM": 128, "BN": 256, "num_warps": 8}


def _parts(rows: int, tiles: int, processors: int) -> int:
    """Return into how many runs to split the columns, so that the last round of blocks is not half empty."""
    costs = {p: math.ceil(rows * p / processors) * (math.ceil(tiles / p) + 1) for p in range(1, min(tiles, 32) + 1)}
    return min(costs, key=lambda p: (costs[p], p))


def lse(z: Operand, y: Operand, v: Tensor, scale: float, guess: Tensor | None) -> Tensor:
    """As :func:`ops.lse`, for prepared points and v, guess with a batch axis."""
    s, n, m, v = _size(z.data, y.data, v), z.rows, y.rows, v.contiguous()
    if m <= _SAMPLE:
        guess = None  # one pass with a running maximum is faster than two launches
    if guess is None and m > 8 * _SAMPLE and n > 512:
        some = slice(None, None, m // _SAMPLE)
        sample = Operand(y.data[:, some].contiguous(), y.undo, y.dim, y.precision, y.batched)
        guess = _online(z, sample, v[:, some].contiguous(), scale, s, None, None) + math.log(m / sample.rows)
    if guess is None:
        return _online(z, y, v, scale, s, None, None)
    return _online(z, y, v, scale, s, guess, _sums(z, y, v, scale, s, guess))


def _sums(z: Operand, y: Operand, v: Tensor, scale: float, s: int, guess: Tensor) -> Tensor:
    """Return row sums with ``guess`` subtracted from the exponents: (s, parts, n)."""
    n, m = z.rows, y.rows
    _, processors = _device(z.data.device.index)
    if _hopper_fits(z, y, s, least=_NARROWEST, most=384):
        kc, bn = z.width // 64, 128
        tiles = triton.cdiv(m, bn)
        parts = _parts(triton.cdiv(n, 128), tiles, processors)
        run = triton.cdiv(tiles, parts)
        stages = min(2 * kc + 2, _SHARED // (128 * bn) - kc)  # fewer than kc would deadlock
        sums = torch.empty((1, parts, n), dtype=torch.float32, device=guess.device)
        hopper.row_sums[(triton.cdiv(n, 128), parts)](
            _describe(z.data[0], (64, 64)), _describe(y.data[0], (bn, 64)), _padded(v, parts * run * bn), guess, sums,
            z.undo, y.undo, scale, n, run, kc, stages, num_warps=4, maxnreg=168,
        )  # fmt: skip
        return sums
    tile = _tiles(z, n, s)
    tiles = triton.cdiv(m, tile["BN"])
    parts = _parts(triton.cdiv(n, tile["BM"]) * s, tiles, 2 * processors)
    span = triton.cdiv(tiles, parts) * tile["BN"]
    sums = torch.empty((s, parts, n), dtype=torch.float32, device=guess.device)
    kernels.row_sums[(triton.cdiv(n, tile["BM"]), parts, s)](
        z.data, y.data, v, guess, sums, z.undo, y.undo, scale, n, m, span, z.data.shape[2],
        _step(z.data), _step(y.data), _step(v), **tile,
    )  # fmt: skip
    return sums


def _online(
    z: Operand, y: Operand, v: Tensor, scale: float, s: int, guess: Tensor | None, sums: Tensor | None
) -> Tensor:
    n, m = z.rows, y.rows
    tile = _tiles(z, n, s)
    out = torch.empty((s, n), dtype=torch.float32, device=v.device)
    kernels.finish[(triton.cdiv(n, tile["BM"]), s)](
        z.data, y.data, v, out if guess is None else guess, out if sums is None else sums, out, z.undo, y.undo, scale,
        n, m, 1 if sums is None else sums.shape[1], z.data.shape[2], _step(z.data), _step(y.data), _step(v),
        GUESSED=guess is not None, **tile,
    )  # fmt: skip
    return out


def best(z: Operand, y: Operand, v: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """As :func:`ops.best`."""
    s, n, m, v = _size(z.data, y.data, v), z.rows, y.rows, v.contiguous()
    tile = _tiles(z, n, s)
    index = torch.empty((s, n), dtype=torch.int32, device=v.device)
    value = torch.empty((s, n), dtype=torch.float32, device=v.device)
    kernels.row_best[(triton.cdiv(n, tile["BM"]), s)](
        z.data, y.data, v, index, value, z.undo, y.undo, scale, n, m, z.data.shape[2],
        _step(z.data), _step(y.data), _step(v), **tile,
    )  # fmt: skip
    return index.long(), value


def apply(
    z: Operand, y: Operand, u: Tensor, v: Tensor, t: Operand, scale: float, lift: Tensor, *, same: bool
) -> Tensor:
    """As :func:`ops.apply`; rows that ``lift`` does not fit are recomputed, decided on the device."""
    s, n, m, k = _size(z.data, y.data, t.data, u, v), z.rows, y.rows, t.dim
    lift = lift.expand(s, n).contiguous()
    tile = _tiles(z, n, s) | {"BN": 64, "num_stages": 2, "num_warps": 4}
    u, v = u.contiguous(), v.contiguous()

    def stream(out: Tensor, totals: Tensor, redo: bool) -> None:
        slab = min(t.width, 64)
        kernels.plan_times[(triton.cdiv(n, tile["BM"]), triton.cdiv(k, slab), s)](
            z.data, y.data, t.data, u, v, lift, totals, out, z.undo, y.undo, t.undo, scale, n, m, k, totals.shape[1],
            z.data.shape[2], t.data.shape[2], _step(z.data), _step(y.data), _step(t.data), _step(u), _step(v),
            REDO=redo, K0=slab, **tile,
        )  # fmt: skip

    if same and _hopper_fits(z, y, s, least=64, most=320):
        out, totals = _fused(z, y, u, v, lift, scale)
    else:
        out = torch.empty((s, n, k), dtype=torch.float32, device=v.device)
        totals = torch.empty((s, 1, n), dtype=torch.float32, device=v.device)
        if t.width <= 64 or s > 1:
            stream(out, totals, redo=False)
        else:
            _apply_by_blocks(z, y, u, v, t, lift, totals, out, scale)
    stream(out, totals, redo=True)
    return out


def _fused(z: Operand, y: Operand, u: Tensor, v: Tensor, lift: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Return the plan times y, and its lifted row sums in parts."""
    n, k = z.rows, y.dim
    wide = 1 << (z.width.bit_length() - 1)
    rest = z.width - wide
    bn = 64 if z.width > 128 else 128
    tiles = triton.cdiv(y.rows, bn)
    parts = min(8, _parts(triton.cdiv(n, 128), tiles, _device(z.data.device.index)[1]))
    run = triton.cdiv(tiles, parts)
    stages = min(4, (_SHARED - 128 * z.width * 2) // (bn * z.width * 2))
    out = torch.empty((parts, n, k), dtype=torch.float32, device=v.device)
    totals = torch.empty((1, parts, n), dtype=torch.float32, device=v.device)
    hopper.plan_times[(triton.cdiv(n, 128), parts)](
        _describe(z.data[0], (64, wide)), _describe(z.data[0], (64, rest or wide)), _describe(y.data[0], (bn, wide)),
        _describe(y.data[0], (bn, rest or wide)), u, _padded(v, parts * run * bn), lift, totals, out, z.undo, y.undo,
        scale, n, k, run, rest, stages, num_warps=4, maxnreg=168,
    )  # fmt: skip
    return (out if parts == 1 else out.sum(dim=0, keepdim=True)), totals


def _apply_by_blocks(
    z: Operand, y: Operand, u: Tensor, v: Tensor, t: Operand, lift: Tensor, totals: Tensor, out: Tensor, scale: float
) -> None:
    """Apply the plan to a wide ``t``: write a block of rows at a time and use library products with t and with ones."""
    n, m, k = z.rows, y.rows, t.dim
    ones = torch.zeros((m, 16), dtype=t.data.dtype, device=v.device)
    ones[:, 0] = 1.0
    columns = torch.cat([t.data[0], ones], dim=1)
    bk, kc = chunk(z)
    pitch = -(-m // 64) * 64
    step = min(n, max(128, _BLOCK // z.terms // pitch // 128 * 128))
    high = torch.empty((step, pitch), dtype=t.data.dtype, device=v.device)
    rest = torch.empty_like(high) if z.terms == 3 else high
    for first in range(0, n, step):
        count = min(step, n - first)
        rows = slice(first, first + count)
        kernels.plan_block[(triton.cdiv(count, 128) * triton.cdiv(m, 256),)](
            z.data[0, first:], y.data, u[0, first:], v, lift[0, first:], high, rest, z.undo, y.undo, scale,
            count, m, z.data.shape[2], pitch, GROUP=8, KC=kc, BK=bk, TERMS=z.terms, REST=z.terms == 3,
            BM=128, BN=256, num_warps=8, num_stages=3,
        )  # fmt: skip
        product = _mm(high[:count, :m], columns)
        totals[0, 0, rows] = product[:, -16]
        if z.terms == 3:
            small = _mm(rest[:count, :m], columns[:, : t.width])
            product = product[:, :k] + product[:, t.width : t.width + k] + small[:, :k]
        torch.mul(product[:, :k], (torch.exp2(-lift[0, rows]) * t.undo)[:, None], out=out[0, rows])


def _mm(a: Tensor, b: Tensor) -> Tensor:
    """Multiply half-precision matrices in single precision."""
    try:
        return torch.mm(a, b, out_dtype=torch.float32)
    except TypeError:  # torch before 2.8
        return a.to(torch.float32) @ b.to(torch.float32)
