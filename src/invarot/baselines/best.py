"""Exact top k of very many scores: only the groups with the largest maxima are searched."""

from __future__ import annotations

from ..arrays import Array, device, namespace, top_k, transpose
from ..retrieval.scores import each_block, slice_rows

GROUP = 16
WIDE = 8192  # with fewer columns, plain top k


def find_best(x: Array, y: Array, count: int, *, lowered: Array | None = None) -> tuple[Array, Array]:
    """Return the ``count`` rows of ``y`` with the largest ⟨xᵢ, yⱼ⟩ − lowered[j], best first, and their values; both (n, count)."""
    xp = namespace(x)
    if lowered is not None:  # one more coordinate subtracts it inside the product
        x = xp.concat([x, xp.ones_like(x[:, :1])], axis=1)
        y = xp.concat([y, -lowered[:, None]], axis=1)

    def work(rows: slice) -> tuple[Array, Array]:
        return grouped_top_k(x[rows] @ transpose(y), count)

    parts = list(each_block(work, slice_rows(x, y, None), x))
    values, found = (xp.concat(column) for column in zip(*parts, strict=True))
    return found, values


def grouped_top_k(z: Array, k: int) -> tuple[Array, Array]:
    """As :func:`invarot.arrays.top_k` of (n, m) scores: the k best lie in the k groups with the largest maxima."""
    n, m = z.shape
    groups = m // GROUP
    if k == 1 or groups < 2 * k or m < WIDE:
        return top_k(z, min(k, m))
    xp = namespace(z)
    spread = xp.reshape(z[:, : groups * GROUP], (n, GROUP, groups))
    _, chosen = top_k(xp.max(spread, axis=1), k)
    rows = xp.arange(n, device=device(z))[:, None]
    # entry (t, g) of a group is column t·groups + g; the columns after the last whole group are all candidates
    columns = xp.reshape(
        chosen[:, None, :] + groups * xp.arange(GROUP, device=device(z))[None, :, None], (n, GROUP * k)
    )
    rest = xp.arange(groups * GROUP, m, device=device(z))
    columns = xp.concat([columns, xp.broadcast_to(rest[None, :], (n, rest.shape[0]))], axis=1)
    values, places = top_k(z[rows, columns], k)
    return values, columns[rows, places]
