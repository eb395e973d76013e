"""How to solve: everything but the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ..geometry.orthogonal import Rotations
from ..geometry.schatten import SchattenBall
from ..transport.schedule import Schedule

DEFAULT_SCHEDULE = Schedule(epsilon=0.1, decay=0.85, floor=0.01, adaptive=True)


def paper() -> dict[str, Any]:
    """The paper's own choices, as options of :func:`invarot.align`: ε0 = 1, decay 0.95, one random start.

    Examples
    --------
    >>> paper()["schedule"]
    Schedule(epsilon=1.0, decay=0.95, floor=0.01, absolute=False, adaptive=False)
    """
    return {"p": math.inf, "schedule": Schedule(1.0, 0.95, 0.01), "start": "random", "n_starts": 1}


@dataclass(frozen=True)
class Settings:
    """The choices of :func:`invarot.align`, checked there; see it for what each means."""

    p: float = math.inf
    radius: float | None = None
    proper: bool = False
    objective: str = "simplified"
    plan: str = "sinkhorn"
    translate: bool = False
    scale: bool = False
    whiten: bool = False
    schedule: Schedule = field(default=DEFAULT_SCHEDULE)
    tol: float = 1e-5
    max_iter: int = 500
    plan_tol: float = 1e-3
    plan_max_iter: int = 50
    memory: int | None = None
    n_jobs: int = 1
    stages: tuple[int, ...] | None = None  # points of each stage before the last; None: by the number of points
    coarse: str = "points"  # what stands for a cloud there: "points" of it, or centroids of "clusters"
    polish: bool = False  # whether the map is at last fitted to the points that choose each other
    sharpest: float | None = None  # a last, smaller epsilon for the winner; None leaves it at the schedule's floor

    @property
    def invariance(self) -> SchattenBall | Rotations:
        return Rotations(self.radius) if self.proper else SchattenBall(self.p, self.radius)

    @property
    def larger_is_better(self) -> bool:
        """The simplified objective is a score, the transport objective a cost."""
        return self.objective == "simplified"
