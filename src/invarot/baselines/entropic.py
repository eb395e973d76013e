"""Entropic optimal transport (Sinkhorn), without a map."""

from __future__ import annotations

from typing import Any

from ..alignment.history import History
from ..alignment.result import Alignment
from ..arrays import Array, namespace
from ..transport.entropic import entropic_plan
from ..transport.plan import EntropicPlan
from .outcome import as_alignment, check_registered, record, rectangular_identity


def entropic(
    x: Any, y: Any, *, a: Any = None, b: Any = None, epsilon: float = 0.01, tol: float = 1e-3, max_iter: int = 2000
) -> Alignment:
    """Compute the entropic plan (Cuturi 2013) for ‖xᵢ − yⱼ‖²; the map is the identity.

    Departures: ``epsilon`` is relative to the mean cost 2·rms(x)·rms(y), as everywhere in this package, and the sweeps
    run in a stabilised kernel, so that a small epsilon does not underflow.
    """
    x, y, a, b = check_registered(x, y, a, b)
    eye = rectangular_identity(x, y)
    plan = entropic_plan(x, y, a, b, epsilon=epsilon * cost_scale(x, y, a, b), tol=tol, max_iter=max_iter)
    return as_entropic_alignment(x, y, a, b, eye, plan, "sinkhorn", epsilon, tol)


def cost_scale(x: Array, y: Array, a: Array, b: Array) -> float:
    """Return 2·rms(x)·rms(y), the unit of a relative epsilon."""
    xp = namespace(x)
    square = float(xp.sum(a[:, None] * x**2)) * float(xp.sum(b[:, None] * y**2))
    return 2 * square**0.5 or 1.0


def as_entropic_alignment(
    x: Array, y: Array, a: Array, b: Array, w: Array, plan: EntropicPlan, name: str, epsilon: float, tol: float
) -> Alignment:
    score = float(namespace(x).sum((x @ w) * plan.apply(y)))
    steps = History([record(0, objective=score, mode=name, epsilon=epsilon, error=plan.error, inner=plan.iterations)])
    settled = plan.error <= tol
    return as_alignment(
        x, y, a, b, w, name=name, plan=plan, history=steps, settled=settled, options={"epsilon": epsilon}
    )
