"""The oracle of the synthetic study: entropic transport with the true transformation."""

from __future__ import annotations

from typing import Any

from ..alignment.result import Alignment
from ..checks import check_map
from ..transport.entropic import entropic_plan
from .entropic import as_entropic_alignment, cost_scale, entropic
from .outcome import check_pair


def oracle(
    x: Any, y: Any, *, true_map: Any = None, a: Any = None, b: Any = None, epsilon: float = 0.01, tol: float = 1e-3,
    max_iter: int = 2000,
) -> Alignment:  # fmt: skip
    """Compute the entropic plan with the true transformation: the effect of noise alone.

    Without ``true_map``, ``y`` is the noisy target *before* the transformation, as in the paper; with it, x @ true_map
    is coupled with the observed ``y``. Departures: those of :func:`entropic`.
    """
    if true_map is None:
        return entropic(x, y, a=a, b=b, epsilon=epsilon, tol=tol, max_iter=max_iter)
    x, y, a, b = check_pair(x, y, a, b)
    w = check_map(true_map, "true_map", x.shape[1], y.shape[1], x)[0]
    z = x @ w
    plan = entropic_plan(z, y, a, b, epsilon=epsilon * cost_scale(z, y, a, b), tol=tol, max_iter=max_iter)
    return as_entropic_alignment(x, y, a, b, w, plan, "oracle", epsilon, tol)
