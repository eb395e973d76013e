"""The plan as a sparse matrix: the largest entries of each row, found block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..arrays import to_numpy, top_k
from ..threads import map_blocks
from ..transport.plan import EntropicPlan
from ..transport.sparse_plan import SparsePlan

Floats = np.ndarray[Any, Any]

PLAN_BLOCK = 1 << 21


def keep_largest(plan: EntropicPlan | SparsePlan, k: int) -> scipy.sparse.csr_matrix:
    """Return the ``k`` largest entries of each row of the plan (n, m), as masses; n × m is never in memory."""
    n, m = plan.z.shape[0], plan.y.shape[0]
    plan = plan.on_host()
    if isinstance(plan, SparsePlan):  # it has few entries anyway
        return scipy.sparse.csr_matrix((plan.mass, (plan.rows, plan.columns)), shape=(n, m))
    k = min(k, m)
    z, y, a, b, u, v = (to_numpy(one) for one in (plan.z, plan.y, plan.a, plan.b, plan.u, plan.v))
    with np.errstate(divide="ignore"):
        left, right = u + np.log(a), v + np.log(b)
    step = max(1, PLAN_BLOCK // m)

    def work(rows: slice) -> tuple[Floats, Floats]:
        values, found = top_k(plan.scale * z[rows] @ y.T + right, k)
        return np.exp(to_numpy(values) + left[rows, None]), to_numpy(found)

    parts = list(map_blocks(work, [slice(i, min(i + step, n)) for i in range(0, n, step)]))
    mass, found = (np.concatenate(column) for column in zip(*parts, strict=True))
    starts = np.arange(0, n * k + 1, k)
    matrix = scipy.sparse.csr_matrix((mass.ravel(), found.ravel(), starts), shape=(n, m))
    matrix.sort_indices()
    return matrix
