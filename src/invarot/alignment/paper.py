"""The paper's own choices, as options of :func:`invarot.align`."""

from __future__ import annotations

import math
from typing import Any

from ..transport.schedule import Schedule
from .options import Sinkhorn


def paper() -> dict[str, Any]:
    """Return the paper's choices as options of :func:`invarot.align`: ε0 = 1, decay 0.95, one random start.

    Examples
    --------
    >>> paper()["solver"].schedule
    Schedule(epsilon=1.0, decay=0.95, floor=0.01, absolute=False, adaptive=False)
    """
    return {"p": math.inf, "solver": Sinkhorn(schedule=Schedule(1.0, 0.95, 0.01)), "start": "random", "n_starts": 1}
