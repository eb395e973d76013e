"""From a cost between the points of two clouds to a candidate map: soft or mutual matches, then the polar factor."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, as_like, is_torch, namespace, to_numpy, transpose
from ..geometry.orthogonal import polar
from ..threads import map_blocks
from ..transport.cost import NUMPY_BLOCK
from ..transport.matrix_cost import MatrixCost
from ..transport.sinkhorn import Potentials, sinkhorn


def moment_map(moment: Array) -> Array:
    """Return the (semi-)orthogonal map that maximises ⟨moment, map⟩, for one moment or a batch; overflows count as 0."""
    xp = namespace(moment)
    if not bool(xp.all(xp.isfinite(moment))):
        moment = xp.where(xp.isfinite(moment), moment, xp.zeros_like(moment))
    return polar(moment)


def soft_match(cost: Array, a: Array, b: Array, *, epsilon: float, max_iter: int = 100, tol: float = 1e-3) -> Array:
    """Return the entropic plan for ``cost``.

    Parameters
    ----------
    cost : array (n, m)
    a, b : arrays (n,), (m,)
    epsilon : float
        Entropy weight, in the units of ``cost``.
    max_iter, tol : int, float
        Stop after ``max_iter`` sweeps, or when the row sums are within ``tol`` (in total) of ``a``.

    Returns
    -------
    plan : array (n, m)
    """
    scores, u, v = _solve_match(cost, a, b, epsilon, max_iter, tol)
    return scores.plan(u, v)[0]


def soft_moment(
    cost: Array, x: Array, y: Array, a: Array, b: Array, *, epsilon: float, max_iter: int = 100, tol: float = 1e-3
) -> Array:
    """Return ``x.T @ plan @ y`` for the plan of `soft_match`, without storing the plan."""
    scores, u, v = _solve_match(cost, a, b, epsilon, max_iter, tol)
    return transpose(x) @ scores.apply(u, v, y)[0]


def _solve_match(
    cost: Array, a: Array, b: Array, epsilon: float, max_iter: int, tol: float
) -> tuple[MatrixCost, Array, Array]:
    scores = MatrixCost(cost, epsilon, a, b)
    # no acceleration: a match stopped by max_iter must not depend on rounding
    found = sinkhorn(scores, a, b, warm=Potentials.zero(a, b), tol=tol, max_iter=max_iter, accelerate=False)
    return scores, found.u, found.v


def mutual_match(cost: Array) -> tuple[Array, Array]:
    """Return rows and columns that are each other's cheapest: two index arrays of one length (never empty)."""
    xp = namespace(cost)
    forth, back = to_numpy(xp.argmin(cost, axis=1)), to_numpy(xp.argmin(cost, axis=0))
    rows = np.nonzero(back[forth] == np.arange(forth.shape[0]))[0]
    if rows.shape[0] == 0:  # only with NaN or exact ties
        rows = np.asarray([0])
    like = xp.argmin(cost, axis=1)
    return as_like(rows, like), as_like(forth[rows], like)


def mutual_moment(cost: Array, x: Array, y: Array, a: Array, b: Array) -> Array:
    """Return ``x.T @ plan @ y`` for the plan of mutually cheapest pairs, each with the geometric mean of its weights."""
    xp = namespace(cost)
    rows, columns = mutual_match(cost)
    weight = xp.sqrt(xp.take(a, rows, axis=0) * xp.take(b, columns, axis=0))
    return transpose(xp.take(x, rows, axis=0) * weight[:, None]) @ xp.take(y, columns, axis=0)


def squared_distances(p: Array, q: Array) -> Array:
    """Return ‖p_i − q_j‖² ≥ 0 from one matrix product."""
    xp = namespace(p, q)
    sizes, zero = xp.sum(q * q, axis=1)[None, :], xp.zeros_like(p[:1, :1])

    def work(rows: slice) -> Array:
        cost = (p[rows] * -2.0) @ transpose(q)
        cost += xp.sum(p[rows] * p[rows], axis=1)[:, None]
        cost += sizes
        return xp.maximum(cost, zero)

    if is_torch(p):  # torch has its own threads
        return work(slice(None))
    step = max(1, NUMPY_BLOCK // max(1, q.shape[0]))
    return xp.concat(list(map_blocks(work, [slice(i, i + step) for i in range(0, p.shape[0], step)])), axis=0)
