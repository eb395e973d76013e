"""Whether two maps send points to clearly different targets: where clouds correspond loosely, maps that differ by less are one answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array, entries_at_once, namespace, transpose
from ..retrieval.nearest import NEAREST_BLOCK, nearest
from .problem import Problem
from .tuning import ELSEWHERE, FEW_POINTS

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def find_elsewhere(problem: Problem, w: Array, others: Sequence[Array]) -> list[Array]:
    """Return the maps among ``others`` that send points to clearly other targets than w (dx, dy) does."""
    if not others:
        return []
    xp, y = namespace(w), problem.y
    some = problem.x[:: max(1, problem.x.shape[0] // FEW_POINTS)]
    there = xp.stack([nearest(some @ one, y) for one in others])
    apart = share_nearer(some @ w, y, there)
    return [one for one, share in zip(others, apart, strict=True) if share > ELSEWHERE]


def share_nearer(z: Array, y: Array, there: Array) -> Floats:
    """Return for each row of ``there`` (s, n) the mean share of y nearer to z (n, d) than the targets it names, in blocks."""
    xp = namespace(z)
    half = xp.sum(y**2, axis=1) / 2
    step = max(1, entries_at_once(z, NEAREST_BLOCK) // y.shape[0])
    total = np.zeros(there.shape[0])
    for begin in range(0, z.shape[0], step):
        rows = slice(begin, begin + step)
        scores = z[rows] @ transpose(y) - half
        for k in range(there.shape[0]):
            own = xp.sum(z[rows] * y[there[k, rows]], axis=1) - half[there[k, rows]]
            own = own + 1e-6 * xp.abs(own)
            total[k] += float(xp.sum(xp.astype(scores > own[:, None], z.dtype)))
    return total / (z.shape[0] * y.shape[0])
