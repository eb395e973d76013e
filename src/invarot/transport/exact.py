"""Exact plans: linear assignment if n = m and weights are uniform, the network simplex (POT) otherwise."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..arrays import Array, as_like, namespace, to_numpy
from ..errors import MissingExtra
from .choice import check_exact_fits
from .plan import SparsePlan


def are_uniform(a: Array, b: Array) -> bool:
    """Return whether all weights of both sides are equal, up to rounding."""
    return all(np.ptp(to_numpy(weights)) <= 1e-6 * to_numpy(weights).mean() for weights in (a, b))


def exact_plan(z: Array, y: Array, a: Array, b: Array, *, memory: int | None = None) -> SparsePlan:
    """Return argmin ⟨Γ, ‖zᵢ − yⱼ‖²⟩ over couplings of a and b, z (n, d) and y (m, d); raise if it exceeds ``memory`` bytes."""
    n, m = z.shape[0], y.shape[0]
    assignment = n == m and are_uniform(a, b)
    check_exact_fits(n, m, assignment=assignment, memory=memory, like=z)
    host_z, host_y = to_numpy(z).astype(np.float64), to_numpy(y).astype(np.float64)
    host_a, host_b = to_numpy(a).astype(np.float64), to_numpy(b).astype(np.float64)
    host_a, host_b = host_a / host_a.sum(), host_b / host_b.sum()
    cost = (-2 * host_z) @ host_y.T  # norms are added in place: one matrix, not three
    cost += (host_z**2).sum(1)[:, None]
    cost += (host_y**2).sum(1)
    if assignment:
        rows, columns = linear_sum_assignment(cost)
        mass = host_a[rows]
    else:
        try:
            import ot
        except ImportError as error:
            raise MissingExtra("An exact plan with n ≠ m or non-uniform weights", "exact") from error
        dense = ot.emd(host_a, host_b, cost, numItermax=10_000_000)
        rows, columns = np.nonzero(dense)
        mass = dense[rows, columns]
    integer = namespace(z).int64
    return SparsePlan(z, y, as_like(rows, z, dtype=integer), as_like(columns, z, dtype=integer), as_like(mass, z))
