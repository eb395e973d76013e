"""The solve: the best plan of the search, then all cells from it, in every view at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..alignment.align import align
from ..alignment.options import Sinkhorn
from ..alignment.result import Alignment
from ..arrays import to_numpy
from ..geometry.orthogonal import polar
from .search import Choice, search
from .verdict import Evidence, gather_evidence, judge

Floats = np.ndarray[Any, Any]
Views = dict[str, Floats]

LARGE = 1 << 26  # pairs of cells from which on single precision is used
MEMORY = "3GiB"  # of the plan step
EPSILON = 0.05  # of the last plan: a sharper one follows the noise of cells
TOL = Sinkhorn.plan_tol  # of the objective, which is known no better than the marginals of its plans


@dataclass(frozen=True)
class SolvedViews:
    """The alignment of the stacked views, these views, the finalists of the search, best first, and the evidence."""

    alignment: Alignment
    x: Views
    y: Views
    choices: list[Choice]
    evidence: Evidence


def solve(
    x: Views,
    y: Views,
    a: Floats,
    b: Floats,
    *,
    rng: np.random.Generator,
    device: str | None = None,
    overlap: Any = None,
) -> SolvedViews:
    """Align the stacked views of cells with weights a (n,) and b (m,).

    ``overlap``: the shares that the last solve may leave unmatched; then a and b are not used by it.
    """
    left, right, choices = search(x, y, rng=rng, a=a, b=b)
    evidence = gather_evidence(x, y, a, b, (left, right, choices), rng)
    plan = choices[0].plan.astype(np.float64)
    x, y = frame(x, a), frame(y, b)
    start = fit_blocks(frame(left.views, plan.sum(1)), frame(right.views, plan.sum(0)), plan)
    one, other = stack(x), stack(y)
    if len(one) * len(other) > LARGE:
        one, other = one.astype(np.float32), other.astype(np.float32)
    weights = {"a": a, "b": b} if overlap is None else {"overlap": overlap}
    solver = Sinkhorn(schedule=EPSILON, tol=TOL, memory=MEMORY)
    found = align(one, other, start=start, solver=solver, rng=rng, device=device, **weights)
    return SolvedViews(replace(found, verdict=judge(found.verdict, evidence)), x, y, choices, evidence)


def frame(views: Views, weights: Floats) -> Views:
    """Return the views about their weighted means, with weighted mean square length 1."""
    out = {}
    for name, view in views.items():
        centred = view - weights @ view
        out[name] = centred / (np.sqrt(weights @ (centred**2).sum(1)) or 1.0)
    return out


def fit_blocks(x: Views, y: Views, plan: Floats) -> Floats:
    """Return the map of the stacked views that fits the plan: the best rigid map of each view, block by block."""
    blocks = [to_numpy(polar(x[name].T @ plan @ y[name])) for name in x]
    out = np.zeros((sum(len(one) for one in blocks), sum(one.shape[1] for one in blocks)))
    row = column = 0
    for one in blocks:
        out[row : row + one.shape[0], column : column + one.shape[1]] = one
        row, column = row + one.shape[0], column + one.shape[1]
    return out


def stack(views: Views) -> Floats:
    """Return the views side by side, each with the same weight."""
    return np.hstack(list(views.values()))


def agreement(x: Views, y: Views, found: Alignment) -> dict[str, float]:
    """Return the score of the final plan in each view, ‖xᵀΓy‖_* for views of size 1: 1 if matched cells coincide."""
    return {
        name: float(np.linalg.svd(x[name].T @ to_numpy(found.plan.apply(y[name])), compute_uv=False).sum())
        for name in x
    }
