"""Pairs of points that are each other's nearest neighbour by CSLS, and the choices of either side."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy, top_k, transpose, unit_rows
from ..checks import check_count
from .neighbours import check_space
from .scores import each_block, mean_similarities, slice_rows


def matches(
    x: Array, y: Array, *, csls_k: int = 10, pool: int = 16, block: int | None = None
) -> tuple[Array, Array, Array]:
    """Return mutual nearest neighbours (i, j) by CSLS, with their scores.

    Both directions come from the same product: with both penalties subtracted, the maximum of a row is the best target of
    that source and the maximum of a column the best source of that target. ``pool`` as in
    :func:`~invarot.retrieval.scores.mean_similarities` (1 is exact).

    Returns
    -------
    i : array (p,)
        Rows of ``x``, sorted.
    j : array (p,)
        Rows of ``y``, each at most once.
    scores : array (p,)
        2 cos minus both mean similarities.
    """
    check_space(x, y)
    score, chosen, tops, _ = _search(unit_rows(x), unit_rows(y), csls_k, pool, block)
    return _mutual(2 * score, chosen, 2 * tops)


def matches_by_distance(
    x: Array, y: Array, *, csls_k: int = 10, pool: int = 16, block: int | None = None
) -> tuple[Array, Array, Array]:
    """Return :func:`matches` with −‖x − y‖²/2 instead of the cosine: for clouds that are not on a sphere.

    For rows of unit length the pairs are the same, and the scores half as large.
    """
    check_space(x, y)
    xp = namespace(x, y)
    left, right = (xp.sum(z * z, axis=1, keepdims=True) / -2 for z in (x, y))
    left, right = xp.concat([x, left, xp.ones_like(left)], axis=1), xp.concat([y, xp.ones_like(right), right], axis=1)
    return _mutual(*_search(left, right, csls_k, pool, block)[:3])


def _mutual(score: Array, chosen: Array, tops: Array) -> tuple[Array, Array, Array]:
    """Return the best pair of each row that is also the best of its column."""
    xp = namespace(score)
    # row and column maxima are of the same numbers, so equality is exact; ties go to the first row
    i = np.flatnonzero(to_numpy(score >= xp.take(tops, chosen, axis=0)))
    j, first = np.unique(to_numpy(chosen)[i], return_index=True)
    order = np.argsort(first)
    i, j = i[first[order]], j[order]
    rows = as_like(i, score, dtype=xp.int64)
    return rows, as_like(j, score, dtype=xp.int64), xp.take(score, rows, axis=0)


def choices(
    x: Array, y: Array, *, csls_k: int = 10, pool: int = 16, block: int | None = None
) -> tuple[Array, Array, Array, Array]:
    """Return the nearest neighbour of every row, of ``x`` and then of ``y``: :func:`matches` and non-mutual pairs.

    Returns
    -------
    i, j, scores : arrays (p,)
        As in :func:`matches`; a mutual pair is listed once.
    mutual : array of bool (p,)
    """
    check_space(x, y)
    score, chosen, tops, choosers = _search(unit_rows(x), unit_rows(y), csls_k, pool, block, both=True)
    assert choosers is not None
    xp = namespace(x, y)
    there, back = to_numpy(chosen), to_numpy(choosers)
    agreed = back[there] == np.arange(len(there))
    rest = there[back] != np.arange(len(back))  # targets whose choice is not mutual
    i = np.concatenate([np.arange(len(there)), back[rest]])
    j = np.concatenate([there, np.flatnonzero(rest)])
    kept = as_like(np.flatnonzero(rest), x, dtype=xp.int64)
    return (
        as_like(i, x, dtype=xp.int64),
        as_like(j, x, dtype=xp.int64),
        2 * xp.concat([score, xp.take(tops, kept, axis=0)]),
        as_like(np.concatenate([agreed, np.zeros(int(rest.sum()), dtype=bool)]), x, dtype=xp.bool),
    )


def _search(
    x: Array, y: Array, csls_k: int, pool: int, block: int | None, *, both: bool = False
) -> tuple[Array, Array, Array, Array | None]:
    """Return best score and target of each row of ``x``, best score of each row of ``y`` and, with ``both``, its source.

    Scores are ⟨x, y⟩ minus half of both mean similarities.
    """
    check_count(csls_k, "csls_k")
    check_count(pool, "pool")
    xp = namespace(x, y)
    rx, ry = (one / 2 for one in mean_similarities(x, y, csls_k, pool=pool, block=block))
    # two more coordinates subtract the penalties inside the matrix product
    left = xp.concat([x, -rx[:, None], xp.ones_like(rx[:, None])], axis=1)
    right = xp.concat([y, xp.ones_like(ry[:, None]), -ry[:, None]], axis=1)

    def work(rows: slice) -> tuple[Array, Array, Array, Array | None]:
        s = left[rows] @ transpose(right)
        best, found = top_k(s, 1)
        return best[:, 0], found[:, 0], xp.max(s, axis=0), rows.start + xp.argmax(s, axis=0) if both else None

    best, found, tops, choosers = [], [], None, None
    for values, chosen, column_tops, column_rows in each_block(work, slice_rows(x, y, block), x):
        best.append(values)
        found.append(chosen)
        if tops is None:
            tops, choosers = column_tops, column_rows
            continue
        if both:
            choosers = xp.where(column_tops > tops, column_rows, choosers)
        tops = xp.maximum(tops, column_tops)
    assert tops is not None
    return xp.concat(best), xp.concat(found), tops, choosers


def mutual(x: Array, y: Array, *, csls_k: int = 10, block: int | None = None) -> tuple[Array, Array]:
    """Return rows i of ``x`` and j of ``y`` that are mutual nearest neighbours; exact."""
    i, j, _ = matches(x, y, csls_k=csls_k, pool=1, block=block)
    return i, j
