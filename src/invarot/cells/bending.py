"""The plan after the rigid maps: neighbours move together, so that what is bent in one assay and not in the other can meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import to_numpy
from ..transport.entropic import entropic_plan
from ..transport.plan import EntropicPlan
from .graph import nearest_cells

Floats = np.ndarray[Any, Any]
Views = dict[str, Floats]

NEIGHBOURS = 25  # cells that move together: fewer follow the noise of cells, more are nearly rigid
ROUNDS = 2  # of moving and matching
EPSILON = 0.05  # of clouds of size 1: a sharper plan follows the noise of cells
TOLERANCE, SWEEPS = 1e-3, 200
LEAST = 1e-9  # share of an even weight: a cell that the plan does not match at all keeps this much


def bend(plan: Any, x: Views, y: Views) -> EntropicPlan:
    """Return a plan with the marginals of ``plan`` between x and y, views of size 1, where no map has to be rigid.

    Rigid maps that fit the plan bring both assays into one frame. There every cell moves half way to the mean of its
    matches, by the mean of this step over its nearest cells: noise of single cells cancels, and a bend of the whole does
    not (as in registration by coherent drift, Myronenko and Song 2010). The moved cells are matched again, and so on.
    """
    plan = plan.on_host()
    a, b = (_keep_positive(to_numpy(one)) for one in plan.marginals())
    z, w = _turn(plan, x, y)
    near = [nearest_cells(one, one, NEIGHBOURS, itself=True)[0] for one in (z, w)]
    for _ in range(ROUNDS):
        one = z + _average(_barycentres(plan.apply(w), a) - z, near[0]) / 2
        other = w + _average(_barycentres(plan.apply_transposed(z), b) - w, near[1]) / 2
        plan = entropic_plan(one, other, a, b, epsilon=EPSILON, tol=TOLERANCE, max_iter=SWEEPS)
    return plan


def _turn(plan: Any, x: Views, y: Views) -> tuple[Floats, Floats]:
    """Return both assays (n, d), (m, d), each view in the frame where matched cells lie nearest; size 1 in all."""
    left, right = [], []
    for name in x:
        u, _, vt = np.linalg.svd(x[name].T @ to_numpy(plan.apply(y[name])), full_matrices=False)
        left.append(x[name] @ u)
        right.append(y[name] @ vt.T)
    size = np.sqrt(len(left))
    return np.hstack(left) / size, np.hstack(right) / size


def _average(steps: Floats, near: Any) -> Floats:
    found = steps.copy()
    for column in near.T:  # one neighbour at a time: n × k × d would not fit for many cells
        found += steps[column]
    return found / (1 + near.shape[1])


def _barycentres(sums: Any, mass: Floats) -> Floats:
    found: Floats = to_numpy(sums) / mass[:, None]
    return found


def _keep_positive(mass: Floats) -> Floats:
    return np.maximum(mass, LEAST * mass.sum() / len(mass)).astype(mass.dtype)
