# mypy: disable-error-code="no-untyped-def,untyped-decorator,no-untyped-call,misc"
"""Triton kernels that compute exp(scale·⟨z_i, y_j⟩ + …) tile by tile and never store it.

Operands are padded (see :func:`operands.prepare`): row-major, ``width`` columns in chunks of BK, rounded; times their
``undo`` they are the points. Everything inside is in base 2. TERMS = 3 multiplies two-term operands (a high and a low
part, side by side) as high·high + high·low + low·high.
"""

from __future__ import annotations

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def _scores(z, y, rows, columns, width, KC: tl.constexpr, BK: tl.constexpr, TERMS: tl.constexpr):
    """Return ⟨z_i, y_j⟩ of one tile. Rows and columns must be in range; the callers clamp them and mask the result."""
    k = tl.arange(0, BK)
    z_at = z + rows[:, None].to(tl.int64) * width + k[None, :]
    y_at = y + columns[None, :].to(tl.int64) * width + k[:, None]
    acc = tl.zeros([rows.shape[0], columns.shape[0]], tl.float32)
    for i in range(TERMS * KC):
        z_chunk = i if TERMS == 1 or i < KC else i - KC
        y_chunk = i if TERMS == 1 or i < 2 * KC else i - 2 * KC
        acc = tl.dot(tl.load(z_at + z_chunk * BK), tl.load(y_at + y_chunk * BK), acc, input_precision="tf32")
    return acc


@triton.jit
def _bias(v, columns, m):
    return tl.load(v + columns, mask=columns < m, other=float("-inf")) * LOG2E


@triton.jit
def row_sums(
    z, y, v, guess, sums, z_undo, y_undo, scale, n, m, span, width, z_step, y_step, v_step,
    KC: tl.constexpr, BK: tl.constexpr, TERMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """sums[s, p, i] = Σ_j exp(scale·⟨z_i, y_j⟩ + v_j − guess_i) over the p-th ``span`` of columns."""
    part = tl.program_id(1)
    s = tl.program_id(2).to(tl.int64)
    z += s * z_step
    y += s * y_step
    v += s * v_step
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    inside = tl.minimum(rows, n - 1)
    factor = tl.load(z_undo) * tl.load(y_undo) * scale * LOG2E
    shift = tl.load(guess + s * n + inside) * LOG2E
    total = tl.zeros([BM], tl.float32)
    if KC * TERMS == 1:
        k = tl.arange(0, BK)
        z_tile = tl.load(z + inside[:, None].to(tl.int64) * width + k[None, :])
    for first in range(part * span, tl.minimum((part + 1) * span, m), BN):
        columns = first + tl.arange(0, BN)
        kept = tl.minimum(columns, m - 1)
        if KC * TERMS == 1:
            y_tile = tl.load(y + kept[None, :].to(tl.int64) * width + k[:, None])
            acc = tl.dot(z_tile, y_tile, input_precision="tf32")
        else:
            acc = _scores(z, y, inside, kept, width, KC, BK, TERMS)
        bias = _bias(v, columns, m)
        total += tl.sum(tl.exp2(acc * factor + (bias[None, :] - shift[:, None])), axis=1)
    tl.store(sums + (s * tl.num_programs(1) + part) * n + rows, total, mask=rows < n)


@triton.jit
def finish(
    z, y, v, guess, sums, out, z_undo, y_undo, scale, n, m, parts, width, z_step, y_step, v_step, GUESSED: tl.constexpr,
    KC: tl.constexpr, BK: tl.constexpr, TERMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Take the log of the sums; blocks with a row that over- or underflowed are recomputed with an online maximum.

    Deciding on the device avoids a synchronisation. Without GUESSED every block is computed here.
    """
    s = tl.program_id(1).to(tl.int64)
    z += s * z_step
    y += s * y_step
    v += s * v_step
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    inside = tl.minimum(rows, n - 1)
    bad = BM
    if GUESSED:
        total = tl.zeros([BM], tl.float32)
        for part in range(parts):
            total += tl.load(sums + (s * parts + part) * n + inside)
        fine = (total > 1e-30) & (total < 1e37)
        value = tl.load(guess + s * n + inside) + tl.log2(total) * LN2
        tl.store(out + s * n + rows, value, mask=(rows < n) & fine)
        bad = tl.sum(tl.where(fine, 0, 1), axis=0)
    if bad > 0:
        factor = tl.load(z_undo) * tl.load(y_undo) * scale * LOG2E
        top = tl.full([BM], float("-inf"), tl.float32)
        rest = tl.zeros([BM], tl.float32)
        for first in range(0, m, BN):
            columns = first + tl.arange(0, BN)
            score = _scores(z, y, inside, tl.minimum(columns, m - 1), width, KC, BK, TERMS) * factor
            score += _bias(v, columns, m)[None, :]
            peak = tl.maximum(top, tl.max(score, axis=1))
            safe = tl.where(peak == float("-inf"), 0.0, peak)
            rest = rest * tl.exp2(top - safe) + tl.sum(tl.exp2(score - safe[:, None]), axis=1)
            top = peak
        safe = tl.where(top == float("-inf"), 0.0, top)
        tl.store(out + s * n + rows, (safe + tl.log2(rest)) * LN2, mask=rows < n)


@triton.jit
def row_best(
    z, y, v, index, value, z_undo, y_undo, scale, n, m, width, z_step, y_step, v_step,
    KC: tl.constexpr, BK: tl.constexpr, TERMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Find the largest scale·⟨z_i, y_j⟩ + v_j of each row and its first column."""
    s = tl.program_id(1).to(tl.int64)
    z += s * z_step
    y += s * y_step
    v += s * v_step
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    inside = tl.minimum(rows, n - 1)
    factor = tl.load(z_undo) * tl.load(y_undo) * scale * LOG2E
    top = tl.full([BM], float("-inf"), tl.float32)
    at = tl.zeros([BM], tl.int32)
    for first in range(0, m, BN):
        columns = first + tl.arange(0, BN)
        score = _scores(z, y, inside, tl.minimum(columns, m - 1), width, KC, BK, TERMS) * factor
        score += _bias(v, columns, m)[None, :]
        peak, where = tl.max(score, axis=1, return_indices=True)
        at = tl.where(peak > top, first + where, at)
        top = tl.maximum(top, peak)
    tl.store(index + s * n + rows, at, mask=rows < n)
    tl.store(value + s * n + rows, top * LN2, mask=rows < n)


@triton.jit
def plan_times(
    z, y, t, u, v, lift, totals, out, z_undo, y_undo, t_undo, scale, n, m, k, parts, width, t_width,
    z_step, y_step, t_step, u_step, v_step, REDO: tl.constexpr, KC: tl.constexpr, BK: tl.constexpr,
    TERMS: tl.constexpr, K0: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """out_i = Σ_j exp(scale·⟨z_i, y_j⟩ + u_i + v_j) t_j for K0 columns of ``t``, the plan's tiles in registers only.

    Entries are multiplied by 2^lift_i before they are rounded to t's type, to stay in the range of half precision; their
    row sums go to ``totals``. With REDO, only blocks with a row whose sum (over ``parts``) still over- or underflowed are
    computed, after a pass for their row maxima.
    """
    s = tl.program_id(2).to(tl.int64)
    z += s * z_step
    y += s * y_step
    v += s * v_step
    slab = tl.program_id(1) * K0
    t += s * t_step + slab
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    inside = tl.minimum(rows, n - 1)
    up = tl.load(u + s * u_step + inside) * LOG2E
    back = -tl.load(lift + s * n + inside)
    add = up - back
    run = BM
    if REDO:
        total = tl.zeros([BM], tl.float32)
        for part in range(parts):
            total += tl.load(totals + (s * parts + part) * n + inside)
        fine = ((total > 1.0) & (total < 60000.0)) | (up == float("-inf"))
        run = tl.sum(tl.where(fine, 0, 1), axis=0)
    if run > 0:
        factor = tl.load(z_undo) * tl.load(y_undo) * scale * LOG2E
        if REDO:
            top = tl.full([BM], float("-inf"), tl.float32)
            for first in range(0, m, BN):
                columns = first + tl.arange(0, BN)
                score = _scores(z, y, inside, tl.minimum(columns, m - 1), width, KC, BK, TERMS) * factor
                top = tl.maximum(top, tl.max(score + _bias(v, columns, m)[None, :], axis=1))
            add = 10.0 - tl.where(top == float("-inf"), 0.0, top)
            back = up - add
        at_k = tl.arange(0, K0)
        result = tl.zeros([BM, K0], tl.float32)
        total = tl.zeros([BM], tl.float32)
        for first in range(0, m, BN):
            columns = first + tl.arange(0, BN)
            kept = tl.minimum(columns, m - 1)
            score = _scores(z, y, inside, kept, width, KC, BK, TERMS) * factor
            p = tl.exp2(score + (_bias(v, columns, m)[None, :] + add[:, None]))
            total += tl.sum(p, axis=1)
            t_at = t + kept[:, None].to(tl.int64) * t_width + at_k[None, :]
            t_tile = tl.load(t_at)
            high = p.to(t_tile.dtype)
            result = tl.dot(high, t_tile, result)
            if TERMS == 3:
                result = tl.dot((p - high.to(tl.float32)).to(t_tile.dtype), t_tile, result)
                result = tl.dot(high, tl.load(t_at + t_width // 2), result)
        result *= (tl.exp2(back) * tl.load(t_undo))[:, None]
        at = out + (s * n + rows[:, None]) * k + slab + at_k[None, :]
        tl.store(at, result, mask=(rows[:, None] < n) & (slab + at_k[None, :] < k))
        if not REDO:
            tl.store(totals + s * n + rows, total, mask=rows < n)


@triton.jit
def plan_block(
    z, y, u, v, lift, high, rest, z_undo, y_undo, scale, n, m, width, pitch, GROUP: tl.constexpr,
    KC: tl.constexpr, BK: tl.constexpr, TERMS: tl.constexpr, REST: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Write one block of rows of the lifted plan, for a library product (with REST, also its rounding error)."""
    down = tl.cdiv(n, BM)
    across = tl.cdiv(m, BN)
    # blocks close in time share rows and columns, for cache hits
    group = tl.program_id(0) // (GROUP * down)
    first = group * GROUP
    size = tl.minimum(across - first, GROUP)
    place = tl.program_id(0) % (GROUP * down)
    rows = place // size * BM + tl.arange(0, BM)
    columns = (first + place % size) * BN + tl.arange(0, BN)
    inside = tl.minimum(rows, n - 1)
    factor = tl.load(z_undo) * tl.load(y_undo) * scale * LOG2E
    score = _scores(z, y, inside, tl.minimum(columns, m - 1), width, KC, BK, TERMS) * factor
    add = tl.load(u + inside) * LOG2E + tl.load(lift + inside)
    p = tl.exp2(score + (_bias(v, columns, m)[None, :] + add[:, None]))
    at = rows[:, None].to(tl.int64) * pitch + columns[None, :]
    here = (rows[:, None] < n) & (columns[None, :] < m)
    tl.store(high + at, p.to(high.dtype.element_ty), mask=here)
    if REST:
        tl.store(rest + at, (p - p.to(high.dtype.element_ty).to(tl.float32)).to(high.dtype.element_ty), mask=here)
