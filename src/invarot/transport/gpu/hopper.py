# mypy: disable-error-code="no-untyped-def,untyped-decorator,no-untyped-call,misc"
"""Two of :mod:`kernels` for Hopper's copy engine and asynchronous matrix units, written in Gluon."""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma, warpgroup_mma_wait

LOG2E = gl.constexpr(1.4426950408889634)


@gluon.jit
def _load(z_desc, y_desc, shared, row, column, tiles, KC: gl.constexpr):
    """Load with one warp: the rows of ``z`` once, then the chunks of ``y`` through a ring buffer."""
    z_tile, y_ring, filled, freed, z_filled = shared
    BM: gl.constexpr = z_desc.block_type.shape[0]
    BN: gl.constexpr = y_desc.block_type.shape[0]
    BK: gl.constexpr = y_desc.block_type.shape[1]
    STAGES: gl.constexpr = y_ring.type.shape[0]
    mbarrier.expect(z_filled, 2 * KC * z_desc.block_type.nbytes)
    for half in gl.static_range(2):
        for c in gl.static_range(KC):
            tma.async_copy_global_to_shared(z_desc, [row + half * BM, c * BK], z_filled, z_tile.index(half * KC + c))
    for i in range(tiles * KC):
        stage = i % STAGES
        mbarrier.wait(freed.index(stage), (i // STAGES & 1) ^ 1)
        mbarrier.expect(filled.index(stage), y_desc.block_type.nbytes)
        at = [column + i // KC * BN, i % KC * BK]
        tma.async_copy_global_to_shared(y_desc, at, filled.index(stage), y_ring.index(stage))


@gluon.jit
def _consume(
    shared, v, guess, sums, row, column, n, factor, tiles, HALF: gl.constexpr, KC: gl.constexpr, BM: gl.constexpr,
    BN: gl.constexpr,
):  # fmt: skip
    """One of two warp groups, 64 rows each: while one exponentiates, the other keeps the matrix units busy."""
    z_tile, y_ring, filled, freed, z_filled = shared
    STAGES: gl.constexpr = y_ring.type.shape[0]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    columns = gl.arange(0, BN, layout=gl.SliceLayout(0, layout)) + column
    rows = gl.arange(0, BM, layout=gl.SliceLayout(1, layout)) + row + HALF * BM
    shift = gl.load(guess + rows, mask=rows < n, other=0.0) * LOG2E
    total = gl.zeros([BM], gl.float32, layout=gl.SliceLayout(1, layout))
    mbarrier.wait(z_filled, 0)
    for tile in range(tiles):
        bias = gl.load(v + tile * BN + columns)
        acc = gl.zeros([BM, BN], gl.float32, layout=layout)
        for c in gl.static_range(KC):
            i = tile * KC + c
            mbarrier.wait(filled.index(i % STAGES), i // STAGES & 1)
            y_chunk = y_ring.index(i % STAGES).permute((1, 0))
            acc = warpgroup_mma(z_tile.index(HALF * KC + c), y_chunk, acc, use_acc=c > 0, is_async=True)
        acc = warpgroup_mma_wait(0, deps=[acc])
        for c in gl.static_range(KC):
            mbarrier.arrive(freed.index((tile * KC + c) % STAGES), count=1)
        total += gl.sum(gl.exp2(acc * factor + (bias[None, :] - shift[:, None])), axis=1)
    gl.store(sums + rows, total, mask=rows < n)


@gluon.jit
def row_sums(
    z_desc, y_desc, v, guess, sums, z_undo, y_undo, scale, n, tiles, KC: gl.constexpr, STAGES: gl.constexpr,
):  # fmt: skip
    """sums[p, i] = Σ_j exp(scale·⟨z_i, y_j⟩ + v_j − guess_i) over the p-th run of ``tiles`` column tiles.

    ``v`` is in base 2, padded with −inf to the end of the last tile, where the rows of ``y`` read as zero.
    """
    BM: gl.constexpr = z_desc.block_type.shape[0]
    BN: gl.constexpr = y_desc.block_type.shape[0]
    BK: gl.constexpr = y_desc.block_type.shape[1]
    z_tile = gl.allocate_shared_memory(z_desc.dtype, [2 * KC, BM, BK], z_desc.layout)
    y_ring = gl.allocate_shared_memory(y_desc.dtype, [STAGES, BN, BK], y_desc.layout)
    filled = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    freed = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    z_filled = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        mbarrier.init(filled.index(stage), count=1)
        mbarrier.init(freed.index(stage), count=2)
    mbarrier.init(z_filled, count=1)
    row = gl.program_id(0) * 2 * BM
    part = gl.program_id(1)
    column = part * tiles * BN
    sums += part.to(gl.int64) * n
    factor = gl.load(z_undo) * gl.load(y_undo) * scale * LOG2E
    shared = (z_tile, y_ring, filled, freed, z_filled)
    UPPER: gl.constexpr = 0
    LOWER: gl.constexpr = 1
    gl.warp_specialize(
        [
            (_consume, (shared, v, guess, sums, row, column, n, factor, tiles, UPPER, KC, BM, BN)),
            (_consume, (shared, v, guess, sums, row, column, n, factor, tiles, LOWER, KC, BM, BN)),
            (_load, (z_desc, y_desc, shared, row, column, tiles, KC)),
        ],
        [4, 1],
        [240, 24],
    )


@gluon.jit
def _load_plan(z_desc, z_rest, y_desc, y_rest, z0, z1, y0, y1, filled, freed, z_filled, at, tiles, D1: gl.constexpr):
    """Load with one warp for :func:`plan_times`; matrices wider than a power of two come in two pieces."""
    row, column = at
    D0: gl.constexpr = y_desc.block_type.shape[1]
    BN: gl.constexpr = y_desc.block_type.shape[0]
    STAGES: gl.constexpr = y0.type.shape[0]
    HALF: gl.constexpr = z_desc.block_type.shape[0]
    REST: gl.constexpr = y_rest.block_type.nbytes if D1 > 0 else 0
    Z_REST: gl.constexpr = z_rest.block_type.nbytes if D1 > 0 else 0
    mbarrier.expect(z_filled, 2 * (z_desc.block_type.nbytes + Z_REST))
    for half in gl.static_range(2):
        tma.async_copy_global_to_shared(z_desc, [row + half * HALF, 0], z_filled, z0.index(half))
        if D1 > 0:
            tma.async_copy_global_to_shared(z_rest, [row + half * HALF, D0], z_filled, z1.index(half))
    for i in range(tiles):
        stage = i % STAGES
        bar = filled.index(stage)
        mbarrier.wait(freed.index(stage), (i // STAGES & 1) ^ 1)
        mbarrier.expect(bar, y_desc.block_type.nbytes + REST)
        tma.async_copy_global_to_shared(y_desc, [column + i * BN, 0], bar, y0.index(stage))
        if D1 > 0:
            tma.async_copy_global_to_shared(y_rest, [column + i * BN, D0], bar, y1.index(stage))


@gluon.jit
def _consume_plan(
    tiles_of, others, HALF: gl.constexpr, D1: gl.constexpr, HALF_ROWS: gl.constexpr, BN: gl.constexpr, D0: gl.constexpr,
):  # fmt: skip
    """One of two warp groups, 64 rows each: while one exponentiates, the other keeps the matrix units busy."""
    z0, z1, y0, y1, filled, freed, z_filled = tiles_of
    u, v, lift, totals, out, undo_at, row, column, n, k, factor, tiles = others
    STAGES: gl.constexpr = y0.type.shape[0]
    scores: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    wide: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D0, 16])
    operand: gl.constexpr = gl.DotOperandLayout(0, wide, 2)
    rows = gl.arange(0, HALF_ROWS, layout=gl.SliceLayout(1, scores)) + row + HALF * HALF_ROWS
    columns = gl.arange(0, BN, layout=gl.SliceLayout(0, scores)) + column
    up = gl.load(u + rows, mask=rows < n, other=0.0) * LOG2E
    back = -gl.load(lift + rows, mask=rows < n, other=0.0)
    add = up - back
    total = gl.zeros([HALF_ROWS], gl.float32, layout=gl.SliceLayout(1, scores))
    o0 = gl.zeros([HALF_ROWS, D0], gl.float32, layout=wide)
    if D1 > 0:
        thin: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D1, 16])
        o1 = gl.zeros([HALF_ROWS, D1], gl.float32, layout=thin)
    mbarrier.wait(z_filled, 0)
    for tile in range(tiles):
        stage = tile % STAGES
        bias = gl.load(v + tile * BN + columns)
        acc = gl.zeros([HALF_ROWS, BN], gl.float32, layout=scores)
        mbarrier.wait(filled.index(stage), tile // STAGES & 1)
        acc = warpgroup_mma(z0.index(HALF), y0.index(stage).permute((1, 0)), acc, use_acc=False, is_async=True)
        if D1 > 0:
            acc = warpgroup_mma(z1.index(HALF), y1.index(stage).permute((1, 0)), acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=[acc])
        p = gl.exp2(acc * factor + (bias[None, :] + add[:, None]))
        total += gl.sum(p, axis=1)
        p = gl.convert_layout(p.to(y0.dtype), operand)
        o0 = warpgroup_mma(p, y0.index(stage), o0, is_async=True)
        if D1 > 0:
            p1 = gl.convert_layout(p, gl.DotOperandLayout(0, thin, 2))
            o1 = warpgroup_mma(p1, y1.index(stage), o1, is_async=True)
            o1 = warpgroup_mma_wait(0, deps=[o1])
        o0 = warpgroup_mma_wait(0, deps=[o0])
        mbarrier.arrive(freed.index(stage), count=1)
    back = gl.exp2(back) * gl.load(undo_at)
    gl.store(totals + rows, total, mask=rows < n)
    o0 *= gl.convert_layout(back, gl.SliceLayout(1, wide))[:, None]
    at = gl.convert_layout(rows, gl.SliceLayout(1, wide))[:, None]
    k0 = gl.arange(0, D0, layout=gl.SliceLayout(0, wide))[None, :]
    gl.store(out + at.to(gl.int64) * k + k0, o0, mask=(at < n) & (k0 < k))
    if D1 > 0:
        o1 *= gl.convert_layout(back, gl.SliceLayout(1, thin))[:, None]
        at = gl.convert_layout(rows, gl.SliceLayout(1, thin))[:, None]
        k1 = D0 + gl.arange(0, D1, layout=gl.SliceLayout(0, thin))[None, :]
        gl.store(out + at.to(gl.int64) * k + k1, o1, mask=(at < n) & (k1 < k))


@gluon.jit
def plan_times(
    z_desc, z_rest, y_desc, y_rest, u, v, lift, totals, out, z_undo, y_undo, scale, n, k, tiles,
    D1: gl.constexpr, STAGES: gl.constexpr,
):  # fmt: skip
    """As :func:`kernels.plan_times` with t = y, each tile of which is loaded once.

    totals[p] and out[p] are over the p-th run of ``tiles`` column tiles; ``v`` as above.
    """
    HALF_ROWS: gl.constexpr = z_desc.block_type.shape[0]
    BN: gl.constexpr = y_desc.block_type.shape[0]
    D0: gl.constexpr = y_desc.block_type.shape[1]
    z0 = gl.allocate_shared_memory(z_desc.dtype, [2, HALF_ROWS, D0], z_desc.layout)
    z1 = gl.allocate_shared_memory(z_desc.dtype, [2, HALF_ROWS, D1], z_rest.layout) if D1 > 0 else z0
    y0 = gl.allocate_shared_memory(y_desc.dtype, [STAGES, BN, D0], y_desc.layout)
    y1 = gl.allocate_shared_memory(y_desc.dtype, [STAGES, BN, D1], y_rest.layout) if D1 > 0 else y0
    filled = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    freed = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    z_filled = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        mbarrier.init(filled.index(stage), count=1)
        mbarrier.init(freed.index(stage), count=2)
    mbarrier.init(z_filled, count=1)
    row = gl.program_id(0) * 2 * HALF_ROWS
    part = gl.program_id(1)
    column = part * tiles * BN
    totals += part.to(gl.int64) * n
    out += part.to(gl.int64) * n * k
    at = (row, column)
    factor = gl.load(z_undo) * gl.load(y_undo) * scale * LOG2E
    UPPER: gl.constexpr = 0
    LOWER: gl.constexpr = 1
    tiles_of = (z0, z1, y0, y1, filled, freed, z_filled)
    others = (u, v, lift, totals, out, y_undo, row, column, n, k, factor, tiles)
    gl.warp_specialize(
        [
            (_consume_plan, (tiles_of, others, UPPER, D1, HALF_ROWS, BN, D0)),
            (_consume_plan, (tiles_of, others, LOWER, D1, HALF_ROWS, BN, D0)),
            (_load_plan, (z_desc, z_rest, y_desc, y_rest, z0, z1, y0, y1, filled, freed, z_filled, at, tiles, D1)),
        ],
        [4, 1],
        [240, 24],
    )
