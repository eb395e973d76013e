"""The solve: one plan that has to fit every view of the two assays at once.

A map that is right is right in every view; one that suits the faults of a view is not supported by the others. So each view
proposes (it is solved alone), and the sum of all of them decides.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..alignment.align import align
from ..alignment.options import Sinkhorn
from ..alignment.result import Alignment
from ..arrays import to_numpy, transpose
from ..errors import NotConverged
from ..geometry.orthogonal import polar
from .preparation import scale_to_one

Floats = np.ndarray[Any, Any]
Views = dict[str, Floats]

SEARCHED = 600  # cells of each assay on which the starts are searched
AXES = (3, 5)  # numbers of leading axes to search in
LARGE = 1 << 26  # pairs of cells from which on single precision is used
MEMORY = "3GiB"  # of the plan step


@dataclass(frozen=True)
class Proposal:
    """What one view found when it was solved alone, and how its map scores in all views together."""

    view: str
    alone: float  # its own score, at most 1
    together: float  # mean score over the views, of a solve of all views that starts from it


def solve(
    x: Views, y: Views, *, rng: np.random.Generator, device: str | None = None, overlap: Any = None
) -> tuple[Alignment, list[Proposal]]:
    """Return the alignment of the stacked views, and what each view proposed; best first.

    With more than ``SEARCHED`` cells the starts are searched on a sample, and all cells are solved from the best. Starts are
    searched as if every cell had a counterpart; ``overlap`` counts in the last solve.
    """
    few_x, few_y = sample(x, rng), sample(y, rng)
    starts, told = propose(few_x, few_y, rng)
    done = few_x is x and few_y is y and overlap is None
    found = _align(few_x, few_y, start=np.stack(starts), rng=rng, device=device, quiet=not done)
    together = [one.objective / len(x) for one in found.starts]
    listed = [Proposal(view, alone, score) for (view, alone), score in zip(told, together, strict=True)]
    if not done:
        found = _align(x, y, start=to_numpy(found.map), rng=rng, device=device, overlap=overlap)
    return found, sorted(listed, key=lambda one: -one.together)


def propose(x: Views, y: Views, rng: np.random.Generator) -> tuple[list[Floats], list[tuple[str, float]]]:
    """Return maps of the stacked views, one from each quick solve, and the names and scores of what was solved.

    Each view is solved alone, and on its few leading axes; then all views stacked. Many quick solves of unlike problems find
    more than a long search of one.
    """
    asked: dict[str, tuple[Views, Views]] = {}
    for name in x:
        asked[name] = {name: x[name]}, {name: y[name]}
        for k in AXES:
            if k < min(x[name].shape[1], y[name].shape[1]):
                asked[f"{name}, {k} axes"] = {name: leading_axes(x[name], k)}, {name: leading_axes(y[name], k)}
    if len(x) > 1:
        asked["all views"] = x, y
    starts, told = [], []
    for name, (left, right) in asked.items():
        found = _align(left, right, effort="quick", rng=rng, quiet=True)
        starts.append(lift(x, y, found))
        told.append((name, found.objective / len(left)))
    return starts, told


def leading_axes(view: Floats, k: int) -> Floats:
    """Return the coordinates along the ``k`` leading principal axes, of mean square length 1."""
    _, axes = np.linalg.eigh(view.T @ view)
    return scale_to_one(view @ axes[:, : -k - 1 : -1])


def lift(x: Views, y: Views, found: Alignment) -> Floats:
    """Return the map of the stacked views that fits the plan of ``found``: the best of each view, block by block."""
    blocks = [to_numpy(polar(transpose(x[name]) @ found.plan.apply(y[name]))) for name in x]
    out = np.zeros((sum(len(one) for one in blocks), sum(one.shape[1] for one in blocks)))
    row = column = 0
    for one in blocks:
        out[row : row + one.shape[0], column : column + one.shape[1]] = one
        row, column = row + one.shape[0], column + one.shape[1]
    return out


def stack(views: Views) -> Floats:
    """Return the views side by side, each with the same weight."""
    return np.hstack(list(views.values()))


def sample(views: Views, rng: np.random.Generator) -> Views:
    """Return the same cells of every view: all of them, or a random ``SEARCHED``."""
    n = len(next(iter(views.values())))
    if n <= SEARCHED:
        return views
    rows = np.sort(rng.choice(n, SEARCHED, replace=False))
    return {name: view[rows] for name, view in views.items()}


def agreement(x: Views, y: Views, found: Alignment) -> dict[str, float]:
    """Return the score of the final plan in each view, ‖xᵀΓy‖_* for views of size 1: 1 if matched cells coincide."""
    return {
        name: float(np.linalg.svd(x[name].T @ to_numpy(found.plan.apply(y[name])), compute_uv=False).sum())
        for name in x
    }


def _align(x: Views, y: Views, *, quiet: bool = False, **options: Any) -> Alignment:
    """Align the stacked views; ``quiet``: for a start, which need not have converged."""
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", NotConverged)
        left, right = stack(x), stack(y)
        if len(left) * len(right) > LARGE:
            left, right = left.astype(np.float32), right.astype(np.float32)
        return align(left, right, solver=Sinkhorn(memory=MEMORY), **options)
