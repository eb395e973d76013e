"""Exact plans: linear assignment if n = m and weights are uniform, the network simplex (POT) otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..arrays import Array, as_like, namespace, to_numpy
from ..errors import MissingExtra
from .choice import check_exact_fits
from .sparse_plan import SparsePlan


def are_uniform(a: Array, b: Array) -> bool:
    """Return whether all weights of both sides are equal, up to rounding."""
    return all(np.ptp(to_numpy(weights)) <= 1e-6 * to_numpy(weights).mean() for weights in (a, b))


def exact_plan(z: Array, y: Array, a: Array, b: Array, *, memory: int | None = None) -> SparsePlan:
    """Return argmin ⟨Γ, ‖zᵢ − yⱼ‖²⟩ over couplings of a and b, z (n, d) and y (m, d); raise if it exceeds ``memory`` bytes."""
    n, m = z.shape[0], y.shape[0]
    assignment = n == m and are_uniform(a, b)
    check_exact_fits(n, m, assignment=assignment, memory=memory, like=z)
    host_a, host_b = to_numpy(a).astype(np.float64), to_numpy(b).astype(np.float64)
    host_a, host_b = host_a / host_a.sum(), host_b / host_b.sum()
    cost = _squared_distances(z, y)
    if assignment:
        rows, columns = linear_sum_assignment(cost)
        mass = host_a[rows]
    else:
        dense = _import_pot("An exact plan with n ≠ m or non-uniform weights").emd(
            host_a, host_b, cost, numItermax=10_000_000
        )
        rows, columns = np.nonzero(dense)
        mass = dense[rows, columns]
    return _make_plan(z, y, rows, columns, mass)


def exact_partial_plan(
    z: Array, y: Array, a: Array, b: Array, total: float, *, memory: int | None = None
) -> SparsePlan:
    """Return the cheapest plan of mass ``total`` with row sums of at most a and column sums of at most b."""
    ot = _import_pot("An exact plan of a part")
    check_exact_fits(z.shape[0], y.shape[0], assignment=False, memory=memory, like=z)
    host_a, host_b = to_numpy(a).astype(np.float64), to_numpy(b).astype(np.float64)
    most = min(host_a.sum(), host_b.sum())
    dense = ot.partial.partial_wasserstein(host_a, host_b, _squared_distances(z, y), m=min(total, most * (1 - 1e-9)))
    rows, columns = np.nonzero(dense)
    return _make_plan(z, y, rows, columns, dense[rows, columns])


def _squared_distances(z: Array, y: Array) -> np.ndarray[Any, Any]:
    host_z, host_y = to_numpy(z).astype(np.float64), to_numpy(y).astype(np.float64)
    cost = (-2 * host_z) @ host_y.T  # norms are added in place: one matrix, not three
    cost += (host_z**2).sum(1)[:, None]
    cost += (host_y**2).sum(1)
    return cost


def _import_pot(what: str) -> Any:
    try:
        import ot
    except ImportError as error:
        raise MissingExtra(what, "exact") from error
    return ot


def _make_plan(z: Array, y: Array, rows: Any, columns: Any, mass: Any) -> SparsePlan:
    integer = namespace(z).int64
    return SparsePlan(z, y, as_like(rows, z, dtype=integer), as_like(columns, z, dtype=integer), as_like(mass, z))
