"""The paper's Algorithm 1 to the letter, with its two stages (Alvarez-Melis, Jegelka & Jaakkola 2019, Appendix E and F)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..alignment.align import align
from ..alignment.paper import paper
from ..alignment.result import Alignment
from ..checks import check_count


def algorithm_1(
    x: Any, y: Any, *, p: float = math.inf, size: int = 5000, n_starts: int = 1, rng: int | np.random.Generator = 0
) -> Alignment:
    """Solve the first ``size`` rows of both sides from a random map, then all rows from the map found.

    Both stages are the same problem with the same λ: 1, times 0.95 per step. Match with ``result.matches("plan")``.

    Departures: the paper names no last λ (0.01 here), no tolerances and no restarts (``n_starts``; the best by objective is
    kept; the names of its figure files say 20); Sinkhorn runs in a stabilised kernel and starts from the last plan's
    potentials; maps turn the source, not the target.
    """
    check_count(size, "size")
    options = paper(p=p, n_starts=n_starts)
    first = align(x[:size], y[:size], rng=rng, **options)
    if len(x) <= size and len(y) <= size:
        return first
    return align(x, y, p=p, start=first.map, solver=options["solver"], rng=rng)
