"""Earth-mover alternation (Zhang, Liu, Luan & Sun 2017, EMDOT): an exact plan, then the orthogonal map, repeated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..alignment.align import align
from ..alignment.options import Exact, Sinkhorn
from ..alignment.result import Alignment
from ..checks import check_flag
from ..transport.schedule import Schedule


def earth_mover(
    x: Any, y: Any, *, start: Any = "signature", annealed: bool = False, a: Any = None, b: Any = None,
    max_iter: int = 100, rng: int | np.random.Generator = 0,
) -> Alignment:  # fmt: skip
    """Alternate the exact plan for the current map and the best orthogonal map for the plan, until both settle.

    Departures: the paper starts from a Wasserstein GAN; here ``start`` is any map or the name of a start (a signature by
    default), and with ``annealed=True`` the map that entropic plans of decreasing epsilon reach from it. Its weights are
    word frequencies: pass them as ``a`` and ``b``.
    """
    if check_flag(annealed, "annealed"):
        start = align(
            x, y, a=a, b=b, start=start, rng=rng, solver=Sinkhorn(Schedule(1.0, 0.9, 0.02), plan_tol=5e-3)
        ).map
    return align(x, y, a=a, b=b, start=start, rng=rng, solver=Exact(max_iter=max_iter))
