"""The paper's own choices, as options of :func:`invarot.align`."""

from __future__ import annotations

import math
from typing import Any

from ..transport.schedule import Schedule
from .options import Sinkhorn

FLOOR = 0.01  # the last λ, which the paper does not give


def paper(*, p: float = math.inf, n_starts: int = 1) -> dict[str, Any]:
    """Return Algorithm 1 of the paper as options of :func:`invarot.align`.

    λ from 1 in units of the squared distance (not relative to the data), decay 0.95, one random matrix scaled into
    the ball as start, no stages. Its matching is ``result.matches("plan")``, the largest entry of each row.
    :func:`invarot.baselines.algorithm_1` adds the second stage. What the paper leaves open is listed in docs/method.md.

    Examples
    --------
    >>> paper()["solver"].schedule
    Schedule(epsilon=1.0, decay=0.95, floor=0.01, absolute=True, adaptive=False)
    """
    solver = Sinkhorn(schedule=Schedule(1.0, 0.95, FLOOR, absolute=True), plan_max_iter=1000)
    return {"p": p, "solver": solver, "start": "gaussian", "n_starts": n_starts}
