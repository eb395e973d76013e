"""What entropic and exact plans have in common: how they are shown, moved and made dense."""

from __future__ import annotations

from typing import Any

from ..arrays import is_array, move, to_numpy


def describe_plan(plan: Any) -> str:
    """Return the ``repr`` of a plan: its size and how well it was solved, and no arrays."""
    n, m = plan.shape
    return (
        f"{type(plan).__name__} of {n:,} × {m:,} points (epsilon {plan.epsilon:.3g}, marginal error {plan.error:.1e})"
    )


def move_arrays(plan: Any, where: str) -> dict[str, Any]:
    """Return the arrays of a plan by name, moved to a device."""
    return {name: move(value, where) for name, value in vars(plan).items() if is_array(value)}


def as_dense_array(plan: Any, dtype: Any) -> Any:
    """Return the dense plan for ``np.asarray(plan)``."""
    found = to_numpy(plan.dense())
    return found if dtype is None else found.astype(dtype)
