"""Similarity of source and target words: cosine, CSLS, inverted softmax; in blocks, never n × m in memory.

All three rank the targets of a source by ``cosine − penalty[target]`` and differ only in the penalty for hubs: targets
that are near to everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from ..arrays import Array, is_torch, logsumexp, namespace, on_cuda, to_numpy, top_values, transpose
from ..checks import check_count
from ..threads import map_blocks

METHODS = ("cosine", "csls", "inverted-softmax")

T = TypeVar("T")


def slice_rows(x: Array, y: Array, block: int | None) -> list[slice]:
    """Return slices of the rows of ``x``: ``block`` rows each, or as many as keep one block of scores small."""
    if block is not None:
        check_count(block, "block")
    else:
        block = max(1, (1 << 28 if on_cuda(x) else 1 << 23) // max(1, y.shape[0]))
    return [slice(start, min(start + block, x.shape[0])) for start in range(0, x.shape[0], block)]


def each_block(work: Callable[[slice], T], slices: list[slice], like: Array) -> Iterator[T]:
    """Yield ``work`` of each slice, in order, in threads; torch has its own threads."""
    return map(work, slices) if is_torch(like) else map_blocks(work, slices)


def mean_similarity(x: Array, y: Array, k: int = 10, *, block: int | None = None) -> Array:
    """Return the mean cosine of each row of ``x`` to its ``k`` nearest rows of ``y``: the r of CSLS.

    Parameters
    ----------
    x : array (n, d)
        Rows of unit length.
    y : array (m, d)
        Rows of unit length.
    k : int
        Number of neighbours; all of ``y`` if it has fewer.

    Returns
    -------
    array (n,)
    """
    xp = namespace(x, y)
    count = min(k, y.shape[0])

    def work(rows: slice) -> Array:
        return xp.mean(top_values(x[rows] @ transpose(y), count), axis=1)

    return xp.concat(list(each_block(work, slice_rows(x, y, block), x)))


def mean_similarities(
    x: Array, y: Array, k: int = 10, *, pool: int = 16, block: int | None = None
) -> tuple[Array, Array]:
    """Return :func:`mean_similarity` of both sides from one product per block.

    The ``k`` best are searched among the maxima of groups of ``pool`` entries. Two of them fall in one group, and the
    smaller is replaced by the next best, with probability about k·pool/2m each; ``pool`` is reduced if that would exceed
    about one in a hundred, down to 1, which is exact.

    Returns
    -------
    rx : array (n,)
    ry : array (m,)
    """
    xp = namespace(x, y)
    n, m = x.shape[0], y.shape[0]
    across = _pool_size(m, k, pool)
    down = _pool_size(n, k, pool)

    def work(rows: slice) -> tuple[Array, Array]:
        s = x[rows] @ transpose(y)
        tops, bests = _group_best(s, down, axis=0), _group_best(s, across, axis=1)
        if bests is s:  # top_values reorders its argument, and tops may be s too
            bests = xp.asarray(s, copy=True)
        return xp.mean(top_values(bests, min(k, m)), axis=1), tops

    rx, waiting, height = [], [], 0
    for means, tops in each_block(work, slice_rows(x, y, block), x):
        rx.append(means)
        waiting.append(tops)
        height += tops.shape[0]
        if height > 512:  # memory stays at a few hundred rows, whatever n
            waiting = [_best_rows(waiting, k)]
            height = k
    return xp.concat(rx), xp.mean(_best_rows(waiting, k), axis=0)


def _best_rows(parts: list[Array], k: int) -> Array:
    """Return the ``k`` largest entries of each column of the stacked ``parts``, (k, m)."""
    stacked = namespace(parts[0]).concat(parts, axis=0)
    if stacked.shape[0] <= k:
        return stacked
    turned = transpose(stacked)
    return transpose(top_values(turned if is_torch(turned) else to_numpy(turned).copy(order="C"), k))


def _pool_size(count: int, k: int, pool: int) -> int:
    return max(1, min(pool, count // (50 * k)))


def _group_best(s: Array, pool: int, axis: int) -> Array:
    """Return maxima over groups of ``pool`` entries spread evenly along ``axis``; the remainder is unchanged."""
    if pool == 1:
        return s
    xp = namespace(s)
    groups = s.shape[axis] // pool
    if groups == 0:
        return s
    whole = groups * pool
    if axis == 1:
        best = xp.max(xp.reshape(s[:, :whole], (s.shape[0], pool, groups)), axis=1)
        return best if whole == s.shape[1] else xp.concat([best, s[:, whole:]], axis=1)
    best = xp.max(xp.reshape(s[:whole, :], (pool, groups, s.shape[1])), axis=0)
    return best if whole == s.shape[0] else xp.concat([best, s[whole:, :]], axis=0)


def log_crowding(x: Array, y: Array, temperature: float, *, block: int | None = None) -> Array:
    """Return ``temperature · log Σᵢ exp(cosᵢⱼ / temperature)`` of each row j of ``y``: inverted softmax divides by it."""
    xp = namespace(x, y)

    def work(columns: slice) -> Array:
        return logsumexp((y[columns] @ transpose(x)) / temperature, axis=1)

    return temperature * xp.concat(list(each_block(work, slice_rows(y, x, block), x)))


def penalty(x: Array, y: Array, *, method: str, csls_k: int, temperature: float, block: int | None = None) -> Array:
    """Return the hub penalty of each target, (m,), for the rows of ``x`` searching neighbours in ``y``."""
    if method == "csls":
        return mean_similarity(y, x, csls_k, block=block) / 2
    if method == "inverted-softmax":
        return log_crowding(x, y, temperature, block=block)
    return namespace(y).zeros_like(y[:, 0])
