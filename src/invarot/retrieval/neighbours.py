"""Nearest neighbours of one cloud in another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, as_like, is_array, namespace, to_numpy, top_k, top_values, transpose, unit_rows
from ..checks import check_choice, check_count, check_number
from ..errors import InputError
from .scores import METHODS, each_block, penalty, slice_rows


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
    asked = x if queries is None else xp.take(x, as_like(_check_queries(queries), x, dtype=xp.int64), axis=0)
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

    parts = list(each_block(work, slice_rows(asked, y, block), x))
    found, values = (xp.concat(column) for column in zip(*parts, strict=True))
    return (found if listed is None else listed[found]), values


def _shortlist(asked: Array, y: Array, count: int, near: int, block: int | None) -> tuple[Array, Array]:
    """Return rows of ``y`` among the ``count`` nearest of some query, sorted, and each query's mean cosine to its ``near``."""
    xp = namespace(asked, y)

    def work(rows: slice) -> tuple[Array, Array]:
        values, found = top_k(asked[rows] @ transpose(y), count)
        return found, xp.mean(values[:, :near], axis=1)

    parts = list(each_block(work, slice_rows(asked, y, block), asked))
    found = np.unique(to_numpy(xp.concat([one for one, _ in parts])))
    return as_like(found, y, dtype=xp.int64), xp.concat([own for _, own in parts])


def check_clouds(x: Array, y: Array, method: str, csls_k: int, temperature: float) -> tuple[Array, Array]:
    """Check the arguments of a search, and return both clouds with rows of unit length."""
    check_choice(method, "method", METHODS)
    check_count(csls_k, "csls_k")
    check_number(temperature, "temperature", low=0, open_low=True)
    check_space(x, y)
    return unit_rows(x), unit_rows(y)


def _check_queries(queries: Any) -> Any:
    """Return the row numbers of queries; a mask is none."""
    kind = np.asarray(to_numpy(queries) if is_array(queries) else queries).dtype
    if kind.kind not in "iu":
        raise InputError(f"queries: expected row numbers, got dtype {kind}; for a mask pass np.flatnonzero(mask)")
    return queries


def check_space(x: Array, y: Array) -> None:
    """Raise unless both clouds are arrays of the same dimension."""
    for name, one in (("x", x), ("y", y)):
        if not is_array(one):
            raise InputError(
                f"{name}: expected a NumPy array or a torch tensor, got {type(one).__name__}; pass np.asarray({name})"
            )
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise InputError(
            f"x and y: expected rows of one space, got shapes {tuple(x.shape)} and {tuple(y.shape)}; "
            "map x into y's space first, x @ map"
        )
