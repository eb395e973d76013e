"""The entropic plan of two clouds, as an operator."""

from __future__ import annotations

from dataclasses import replace

from ..arrays import Array
from ..checks import check_number
from ..rows import ALL, Rows
from .choice import make_cost
from .plan import EntropicPlan
from .sinkhorn import Potentials, sinkhorn


def entropic_plan(
    z: Array,
    y: Array,
    a: Array,
    b: Array,
    *,
    epsilon: float,
    tol: float,
    max_iter: int,
    warm: Potentials | None = None,
    memory: int | None = None,
) -> EntropicPlan:
    """Run Sinkhorn for ‖zᵢ − yⱼ‖² at an absolute epsilon, z (n, d) and y (m, d); raise if it exceeds ``memory`` bytes."""
    epsilon = check_number(epsilon, "epsilon", low=0, open_low=True)
    cost = make_cost(z[None], y, 2 / epsilon, a, b, memory=memory)
    found = sinkhorn(cost, a, b, warm=warm or Potentials.zero(a, b), tol=tol, max_iter=max_iter)
    return EntropicPlan(z, y, a, b, found.u[0], found.v[0], epsilon, float(found.error[0]), found.iterations)


def correct(
    plan: EntropicPlan, mode: str, *, tol: float, max_iter: int, memory: int | None = None, rows: Rows = ALL
) -> EntropicPlan:
    """Return the plan with the potentials of its points as they are, where it was found (``mode``) with rounded ones."""
    cost = make_cost(plan.z[None], plan.y, plan.scale, plan.a, plan.b, memory=memory, rows=rows, columns=plan.columns)
    if cost.mode == mode:
        return plan
    warm = Potentials(plan.u[None], plan.v[None], plan.u[:1], 0)
    found = sinkhorn(cost, plan.a, plan.b, warm=warm, tol=tol, max_iter=max_iter)
    iterations = plan.iterations + found.iterations
    return replace(plan, u=found.u[0], v=found.v[0], error=float(found.error[0]), iterations=iterations)
