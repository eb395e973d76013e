"""Nearest neighbours of one cloud in another, and mutual pairs."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy, top_k, top_values, transpose, unit_rows
from ..checks import check_choice, check_count, check_number
from ..errors import InputError
from .scores import METHODS, blocks, each_block, log_crowding, mean_similarities, penalty


def neighbours(
    x: Array,
    y: Array,
    *,
    method: str = "csls",
    k: int = 10,
    csls_k: int = 10,
    temperature: float = 0.05,
    block: int | None = None,
    queries: Array | None = None,
    shortlist: int | None = None,
) -> tuple[Array, Array]:
    """Return the ``k`` best rows of ``y`` for rows of ``x``, best first.

    Parameters
    ----------
    x : array (n, d)
        Source points in the target's space; every row counts in the hub penalty of CSLS and inverted softmax.
    y : array (m, d)
        Target points.
    method : {"csls", "cosine", "inverted-softmax"}
        Scores are ``2 cos − r_x − r_y``, ``cos``, and the log of the inverted softmax at ``temperature``.
    k : int
        Neighbours per query; all of ``y`` if it has fewer.
    csls_k : int
        Neighbours in the mean similarities r.
    temperature : float
        Of the inverted softmax.
    block : int or None
        Rows at a time; None limits a block of scores to about 32 MB.
    queries : array of int or None
        Rows of ``x`` to find neighbours for; None for all.
    shortlist : int or None
        Score only rows of ``y`` that are among the ``shortlist`` nearest of some query by cosine, and compute only their
        hub penalties: much faster for a few queries in a large vocabulary. None scores all.

    Returns
    -------
    indices : array (q, k)
    scores : array (q, k)

    Examples
    --------
    >>> x = np.eye(3)
    >>> indices, scores = neighbours(x, x[[2, 0, 1]], method="cosine", k=1)
    >>> indices[:, 0]
    array([1, 2, 0])
    """
    x, y = check_clouds(x, y, method, csls_k, temperature)
    check_count(k, "k")
    xp = namespace(x, y)
    asked = x if queries is None else xp.take(x, as_like(queries, x, dtype=xp.int64), axis=0)
    near = min(csls_k, y.shape[0])
    listed, own = None, None
    wide = 0 if shortlist is None else max(k, near, check_count(shortlist, "shortlist"))
    if 0 < wide * asked.shape[0] < y.shape[0]:
        listed, own = _shortlist(asked, y, wide, near, block)
        y = xp.take(y, listed, axis=0)
    lowered = penalty(x, y, method=method, csls_k=csls_k, temperature=temperature, block=block)
    count = min(k, y.shape[0])

    def work(rows: slice) -> tuple[Array, Array]:
        cosines = asked[rows] @ transpose(y)
        values, found = top_k(cosines - lowered, count)
        if method == "csls":  # the query's own term changes no rank, only the value of the score
            similar = xp.mean(top_values(cosines, near), axis=1) if own is None else own[rows]
            values = 2 * values - similar[:, None]
        return found, values / temperature if method == "inverted-softmax" else values

    parts = list(each_block(work, blocks(asked, y, block), x))
    found, values = (xp.concat(column) for column in zip(*parts, strict=True))
    return (found if listed is None else listed[found]), values


def _shortlist(asked: Array, y: Array, count: int, near: int, block: int | None) -> tuple[Array, Array]:
    """Return rows of ``y`` among the ``count`` nearest of some query, sorted, and each query's mean cosine to its ``near``."""
    xp = namespace(asked, y)

    def work(rows: slice) -> tuple[Array, Array]:
        values, found = top_k(asked[rows] @ transpose(y), count)
        return found, xp.mean(values[:, :near], axis=1)

    parts = list(each_block(work, blocks(asked, y, block), asked))
    found = np.unique(to_numpy(xp.concat([one for one, _ in parts])))
    return as_like(found, y, dtype=xp.int64), xp.concat([own for _, own in parts])


def matches(
    x: Array,
    y: Array,
    *,
    method: str = "csls",
    csls_k: int = 10,
    temperature: float = 0.05,
    pool: int = 16,
    block: int | None = None,
) -> tuple[Array, Array, Array]:
    """Return mutual nearest neighbours (i, j), with their scores.

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
        CSLS, or ``cos`` minus both penalties.
    """
    return _mutual(*_search(x, y, method, csls_k, temperature, pool, block)[:3])


def matches_by_distance(
    x: Array, y: Array, *, csls_k: int = 10, pool: int = 16, block: int | None = None
) -> tuple[Array, Array, Array]:
    """Return :func:`matches` by CSLS with −‖x − y‖²/2 instead of the cosine: for clouds that are not on a sphere.

    For rows of unit length the pairs are the same, and the scores half as large.
    """
    check_space(x, y)
    check_count(csls_k, "csls_k")
    check_count(pool, "pool")
    xp = namespace(x, y)
    left, right = (xp.sum(z * z, axis=1, keepdims=True) / -2 for z in (x, y))
    left, right = xp.concat([x, left, xp.ones_like(left)], axis=1), xp.concat([y, xp.ones_like(right), right], axis=1)
    rx, ry = mean_similarities(left, right, csls_k, pool=pool, block=block)
    return _mutual(*_best(left, right, rx / 2, ry / 2, block)[:3])


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
    x: Array,
    y: Array,
    *,
    method: str = "csls",
    csls_k: int = 10,
    temperature: float = 0.05,
    pool: int = 16,
    block: int | None = None,
) -> tuple[Array, Array, Array, Array]:
    """Return the nearest neighbour of every row, of ``x`` and then of ``y``: :func:`matches` and non-mutual pairs.

    Returns
    -------
    i, j, scores : arrays (p,)
        As in :func:`matches`; a mutual pair is listed once.
    mutual : array of bool (p,)
    """
    score, chosen, tops, choosers = _search(x, y, method, csls_k, temperature, pool, block, both=True)
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
        xp.concat([score, xp.take(tops, kept, axis=0)]),
        as_like(np.concatenate([agreed, np.zeros(int(rest.sum()), dtype=bool)]), x, dtype=xp.bool),
    )


def _search(
    x: Array,
    y: Array,
    method: str,
    csls_k: int,
    temperature: float,
    pool: int,
    block: int | None,
    *,
    both: bool = False,
) -> tuple[Array, Array, Array, Array | None]:
    """Return best score and target of each row of ``x``, best score of each row of ``y`` and, with ``both``, its source."""
    x, y = check_clouds(x, y, method, csls_k, temperature)
    check_count(pool, "pool")
    xp = namespace(x, y)
    if method == "csls":
        rx, ry = mean_similarities(x, y, csls_k, pool=pool, block=block)
        rx, ry = rx / 2, ry / 2
    elif method == "cosine":
        rx, ry = xp.zeros_like(x[:, 0]), xp.zeros_like(y[:, 0])
    else:
        rx, ry = log_crowding(y, x, temperature, block=block), log_crowding(x, y, temperature, block=block)
    score, found, tops, choosers = _best(x, y, rx, ry, block, both=both)
    scale = 2 if method == "csls" else 1
    return scale * score, found, scale * tops, choosers


def _best(
    x: Array, y: Array, rx: Array, ry: Array, block: int | None, *, both: bool = False
) -> tuple[Array, Array, Array, Array | None]:
    """As :func:`_search`, with the score ⟨x, y⟩ minus the penalties ``rx`` (n,) and ``ry`` (m,)."""
    xp = namespace(x, y)
    # two more coordinates subtract the penalties inside the matrix product
    left = xp.concat([x, -rx[:, None], xp.ones_like(rx[:, None])], axis=1)
    right = xp.concat([y, xp.ones_like(ry[:, None]), -ry[:, None]], axis=1)

    def work(rows: slice) -> tuple[Array, Array, Array, Array | None]:
        s = left[rows] @ transpose(right)
        best, found = top_k(s, 1)
        return best[:, 0], found[:, 0], xp.max(s, axis=0), rows.start + xp.argmax(s, axis=0) if both else None

    best, found, tops, choosers = [], [], None, None
    for values, chosen, column_tops, column_rows in each_block(work, blocks(x, y, block), x):
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


def mutual(
    x: Array, y: Array, *, method: str = "csls", csls_k: int = 10, block: int | None = None
) -> tuple[Array, Array]:
    """Return rows i of ``x`` and j of ``y`` that are mutual nearest neighbours; exact."""
    i, j, _ = matches(x, y, method=method, csls_k=csls_k, pool=1, block=block)
    return i, j


def check_clouds(x: Array, y: Array, method: str, csls_k: int, temperature: float) -> tuple[Array, Array]:
    """Check the arguments shared by all functions here, and return both clouds with rows of unit length."""
    check_choice(method, "method", METHODS)
    check_count(csls_k, "csls_k")
    check_number(temperature, "temperature", low=0, open_low=True)
    check_space(x, y)
    return unit_rows(x), unit_rows(y)


def check_space(x: Array, y: Array) -> None:
    """Raise unless both clouds have the same dimension."""
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise InputError(
            f"x and y: expected rows of one space, got shapes {tuple(x.shape)} and {tuple(y.shape)}; "
            "map x into y's space first, x @ map"
        )
