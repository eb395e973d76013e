"""From a cost between the points of two clouds to a candidate map: soft or mutual matches, then the polar factor."""

from __future__ import annotations

import numpy as np

from invarot.arrays import Array, as_like, log, logsumexp, namespace, svd, to_numpy, transpose


def polar(moment: Array) -> Array:
    """The (semi-)orthogonal map that maximises ⟨moment, map⟩; a batch in, a batch out."""
    xp = namespace(moment)
    if not bool(xp.all(xp.isfinite(moment))):
        moment = xp.where(xp.isfinite(moment), moment, xp.zeros_like(moment))
    u, _, vt = svd(moment)
    return u @ vt


def soft_match(cost: Array, a: Array, b: Array, *, epsilon: float, max_iter: int = 100, tol: float = 1e-3) -> Array:
    """Entropic plan for ``cost``: Sinkhorn in a kernel that is rebuilt in the log domain whenever it degenerates.

    Parameters
    ----------
    cost : array (n, m)
    a, b : arrays (n,), (m,)
    epsilon : float
        Entropy weight, in the units of ``cost``.
    max_iter, tol : int, float
        Stop after ``max_iter`` rounds, or when the row sums are within ``tol`` (relative, in total) of ``a``.

    Returns
    -------
    plan : array (n, m)
    """
    xp = namespace(cost)
    z = cost / (-epsilon)
    log_a, log_b = log(a), log(b)
    f, g = xp.zeros_like(a), xp.zeros_like(b)
    kernel = None
    for _ in range(max_iter):
        if kernel is None:
            # two rounds in the log domain bring every row and column within the range of exp
            for _ in range(2):
                f = log_a - logsumexp(z + g[None, :], 1)
                g = log_b - logsumexp(z + f[:, None], 0)
            kernel = xp.exp(z + f[:, None] + g[None, :])
            u, v = xp.ones_like(a), xp.ones_like(b)
        rows = kernel @ v
        if float(xp.sum(xp.abs(u * rows - a))) < tol:
            break
        if not bool(xp.all(rows > 0)):
            kernel = None
            continue
        u = a / rows
        v = b / (transpose(kernel) @ u)
        if float(xp.max(xp.abs(log(u)))) > 12 or float(xp.max(xp.abs(log(v)))) > 12:
            f, g, kernel = f + log(u), g + log(v), None
    if kernel is None:
        kernel, u, v = xp.exp(z + f[:, None] + g[None, :]), xp.ones_like(a), xp.ones_like(b)
    return kernel * u[:, None] * v[None, :]


def mutual_match(cost: Array) -> tuple[Array, Array]:
    """Rows and columns that are each other's cheapest: two index arrays of one length (never empty)."""
    xp = namespace(cost)
    forth, back = to_numpy(xp.argmin(cost, axis=1)), to_numpy(xp.argmin(cost, axis=0))
    rows = np.nonzero(back[forth] == np.arange(forth.shape[0]))[0]
    if rows.shape[0] == 0:  # only with NaN or exact ties
        rows = np.asarray([0])
    like = xp.argmin(cost, axis=1)
    return as_like(rows, like), as_like(forth[rows], like)


def mutual_moment(cost: Array, x: Array, y: Array, a: Array, b: Array) -> Array:
    """``x.T @ plan @ y`` for the plan that joins mutual cheapest pairs, each with the geometric mean of its weights."""
    xp = namespace(cost)
    rows, columns = mutual_match(cost)
    weight = xp.sqrt(xp.take(a, rows, axis=0) * xp.take(b, columns, axis=0))
    return transpose(xp.take(x, rows, axis=0) * weight[:, None]) @ xp.take(y, columns, axis=0)


def squared_distances(p: Array, q: Array) -> Array:
    """‖p_i − q_j‖², by one matrix product; never below zero."""
    xp = namespace(p, q)
    cost = (p * -2.0) @ transpose(q)
    cost += xp.sum(p * p, axis=1)[:, None]
    cost += xp.sum(q * q, axis=1)[None, :]
    return xp.clip(cost, 0.0, None)
