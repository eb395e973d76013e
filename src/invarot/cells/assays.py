"""Two assays as arrays: prepare both, find cells without a counterpart, search, solve all views together, join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..alignment.result import Alignment
from ..arrays import to_numpy
from .embedding import meet
from .lacking import find_counterparts
from .preparation import choose_rows, length_noise, make_views, scale_rows
from .solve import SolvedViews, solve

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Joined:
    """Both assays in one space, and how they came there."""

    spaces: tuple[Floats, Floats]  # (n, d), (m, d)
    solved: SolvedViews
    rows: tuple[str, ...]  # how the rows of each assay were scaled
    noise: tuple[float, ...]  # of the lengths of their rows


def join_assays(
    x: Floats,
    y: Floats,
    *,
    views: tuple[str, ...],
    rows: str = "auto",
    overlap: Any = "auto",
    rng: np.random.Generator,
    device: str | None = None,
) -> Joined:
    """Align the embeddings x (n, dx) and y (m, dy) of two assays; the options are those of :func:`invarot.cells.align`."""
    noise = tuple(length_noise(one) for one in (x, y))
    scaled = tuple(choose_rows(one, far) if rows == "auto" else rows for one, far in zip((x, y), noise, strict=True))
    points = [scale_rows(one, how) for one, how in zip((x, y), scaled, strict=True)]
    left, right = (make_views(one, views, rng=rng) for one in points)
    a, b = (np.full(len(one), 1 / len(one)) for one in points)
    if overlap == "auto":
        a, b = find_counterparts(left, right, rng)
        left, right = (make_views(one, views, rng=rng, weights=w) for one, w in zip(points, (a, b), strict=True))
    solved = solve(left, right, a, b, rng=rng, device=device, overlap=None if overlap == "auto" else overlap)
    return Joined(meet(solved.alignment.plan, solved.x, solved.y), solved, scaled, noise)


def matched_shares(found: Alignment) -> tuple[Floats, Floats]:
    """Return the share (n,), (m,) of each cell's weight that the plan matches, at most 1."""
    rows, columns = (to_numpy(one) for one in found.plan.marginals())
    return np.clip(rows * len(rows), 0, 1), np.clip(columns * len(columns), 0, 1)
