"""Sinkhorn sweeps for any cost object."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array, device, machine_epsilon, namespace
from .acceleration import Anderson
from .cost import Cost, WholeCost
from .marginals import Capped, Marginals

ROUNDING_EVERY = 64  # sweeps, after which a tolerance finer than rounding is no longer waited for


@dataclass(frozen=True)
class Potentials:
    """Log-scalings u (…, n) and v (…, m), the l_1 error of the row sums (…), and the number of sweeps.

    ``limit`` (…, 1) is the price of unmatched mass that was found, over ε, where ``total`` was asked for.
    """

    u: Array
    v: Array
    error: Array
    iterations: int
    limit: Array | None = None

    @classmethod
    def zero(cls, a: Array, b: Array, *, starts: int = 1) -> Potentials:
        """Return zero potentials for ``starts`` plans with weights a (n,) and b (m,): the plan a bᵀ exp(L)."""
        xp = namespace(a, b)
        like = {"dtype": a.dtype, "device": device(a)}
        u, v = (xp.zeros((starts, weights.shape[0]), **like) for weights in (a, b))
        return cls(u, v, xp.zeros((starts,), **like), 0)

    def with_columns(self, v: Array) -> Potentials:
        """Return the same starts, each with the column potentials ``v`` (m,)."""
        return Potentials(self.u, namespace(v).zeros_like(self.v) + v, self.error, self.iterations)

    def at(self, ratio: float) -> Potentials:
        """Rescale to another epsilon with the same dual variables f = ε·u, g = ε·v: ``ratio`` = old epsilon / new."""
        return Potentials(self.u * ratio, self.v * ratio, self.error, self.iterations)


def sinkhorn(
    cost: Cost, a: Array, b: Array, *, warm: Potentials, tol: float, max_iter: int, accelerate: bool = True,
    marginals: Marginals | None = None,
) -> Potentials:  # fmt: skip
    """Sweep until the row sums are within ``tol`` in the l_1 norm; the column sums are exact after every sweep.

    ``error`` is the error of the columns before they are corrected, which bounds the error of the rows afterwards: from
    any warm start, and so for any v that the acceleration proposes. With relaxed ``marginals`` it is how far, in the l_1
    norm, the column sums still move.
    """
    if isinstance(cost, WholeCost) and marginals is None:
        return Potentials(*cost.solve(warm.v, tol=tol, max_iter=max_iter))
    xp = namespace(a)
    u, v = warm.u, warm.v if marginals is None else marginals.relax(warm.v)
    fixed = not isinstance(marginals, Capped) or marginals.total is None  # else the price moves with every sweep
    ahead = Anderson(b) if accelerate and fixed else None
    error = xp.zeros_like(v[..., 0])
    iterations = 0
    while iterations < max_iter:
        u, fresh = cost.sweep(v, marginals)
        if marginals is not None:
            matched = fresh
            fresh = marginals.relax(matched)
            if isinstance(marginals, Capped) and marginals.total is not None:
                marginals = marginals.towards_total(fresh - matched, b)
        iterations += 1
        error = xp.sum(b * xp.abs(xp.expm1(xp.clip(v - fresh, -80.0, 80.0))), axis=-1)
        if iterations % ROUNDING_EVERY == 0:
            tol = max(tol, _reachable(u, fresh))
        if iterations == max_iter or bool(xp.all(error <= tol)):
            v = fresh
            break
        v = fresh if ahead is None else ahead.propose(v, fresh, error, tol, last=iterations == max_iter - 1)
        v = v if marginals is None else marginals.bound(v)
    return Potentials(u, v, error, iterations, marginals.limit if isinstance(marginals, Capped) else None)


def _reachable(u: Array, v: Array) -> float:
    """Return the marginal error that rounding alone makes: a relative error η of a potential f changes its marginal by η·f."""
    xp = namespace(u)
    return machine_epsilon(u) * float(xp.max(xp.abs(u)) + xp.max(xp.abs(v)))
