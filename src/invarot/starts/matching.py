"""From a cost between the points of two clouds to a candidate map: soft or mutual matches, then the polar factor."""

from __future__ import annotations

import math

import numpy as np

from invarot.arrays import Array, as_like, exp_in_place, log, logsumexp, namespace, svd, to_numpy, transpose


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
        Stop after ``max_iter`` rounds, or when the column sums are within ``tol`` (relative, in total) of ``b``.

    Returns
    -------
    plan : array (n, m)
    """
    xp = namespace(cost)
    reach = 0.4 * math.log(float(xp.finfo(cost.dtype).max))
    z = cost / (-epsilon)
    f, g = xp.zeros_like(a), xp.zeros_like(b)
    kernel, u, v = None, xp.ones_like(a), xp.ones_like(b)
    for _ in range(max_iter):
        if kernel is None:
            # a column in the log domain, then rows: every entry is within the range of exp
            g = log(b) - logsumexp(z + f[:, None], 0)
            kernel, f = _stochastic_rows(z, g, a)
            u, v = xp.ones_like(a), xp.ones_like(b)
        columns = transpose(kernel) @ u  # the rows are right here, after every round
        if float(xp.sum(xp.abs(v * columns - b))) < tol:
            break
        v = b / columns
        u = a / (kernel @ v)
        if not bool(xp.all(xp.isfinite(u))) or float(xp.max(xp.abs(log(u)))) + float(xp.max(xp.abs(log(v)))) > reach:
            f, kernel = xp.where(xp.isfinite(log(u)), f + log(u), f), None
    if kernel is None:
        g = log(b) - logsumexp(z + f[:, None], 0)
        kernel, f = _stochastic_rows(z, g, a)
        u, v = xp.ones_like(a), xp.ones_like(b)
    return kernel * u[:, None] * v[None, :]


def _stochastic_rows(z: Array, g: Array, a: Array) -> tuple[Array, Array]:
    """exp(z + f + g) with f such that its rows sum to ``a``, and f; one exponential an entry."""
    xp = namespace(z)
    scores = z + g
    top = xp.max(scores, axis=1)
    scores -= top[:, None]
    kernel = exp_in_place(scores)
    mass = xp.sum(kernel, axis=1)
    kernel *= (a / mass)[:, None]
    return kernel, log(a) - log(mass) - top


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
