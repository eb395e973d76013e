"""Register one cloud to another: the rigid motion that lays the source on the target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ..alignment.align import align
from ..alignment.options import Rotations
from ..alignment.result import Alignment
from ..alignment.verdict import Verdict
from ..arrays import to_numpy
from ..checks import check_flag
from ..threads import workers
from .cloud import Cloud, Floats, as_cloud


@dataclass(frozen=True, eq=False, repr=False)
class Registration:
    """The result of :func:`register`.

    Attributes
    ----------
    matrix : (4, 4) array
        Homogeneous, for column vectors: ``q = matrix @ p`` takes a source point p = (x, y, z, 1) to the target.
    moved : Cloud
        The source moved to the target.
    overlap : (float, float)
        Estimated share of the source, and of the target, that has a counterpart on the other side.
    rmse : float
        Root of the mean squared distance from moved source points to the nearest target point, weighted by
        ``matched_source``.
    matched_source, matched_target : (n,) and (m,) arrays
        Weight in [0, 1] of each point: how far it has a counterpart.
    alignment : Alignment
        What :func:`invarot.align` found, with its verdict.
    """

    matrix: Floats
    moved: Cloud
    overlap: tuple[float, float]
    rmse: float
    matched_source: Floats
    matched_target: Floats
    alignment: Alignment

    @property
    def verdict(self) -> Verdict:
        return self.alignment.verdict

    def __str__(self) -> str:
        share = "{:.1%} of the source, {:.1%} of the target".format(*self.overlap)
        return "\n".join([
            f"Registration of {len(self.moved)} points with {len(self.matched_target)}",
            f"  verdict    {self.verdict}",
            f"  overlap    {share}",
            f"  rmse       {self.rmse:.6g} (matched part)",
            "  matrix     q = T p, column vectors",
            *(f"    {line}" for line in format_matrix(self.matrix, ".6f")),
        ])  # fmt: skip

    __repr__ = __str__


def register(
    source: Any,
    target: Any,
    *,
    overlap: str | float | tuple[float, float] | None = "auto",
    scale: bool = False,
    reflect: bool = False,
    rng: int | np.random.Generator = 0,
) -> Registration:
    """Find the motion that lays the source on the target, with no start and no pairs given.

    Parameters
    ----------
    source, target : Cloud, file or (n, 3) array
    overlap : "auto", float, (float, float) or None
        Share of the source (and of the target) that has a counterpart; "auto" estimates it; None: all points have one.
    scale : bool
        Also fit a scale.
    reflect : bool
        Allow mirror images; a scan never is one.
    rng : int or Generator
        Same rng, same answer.

    Examples
    --------
    >>> points = np.random.default_rng(0).standard_normal((60, 3)) * [3, 2, 1]
    >>> turned = points[::-1] @ np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]) + [5, 0, 0]
    >>> np.round(register(points, turned, overlap=None).matrix) + 0.0
    array([[ 0., -1.,  0.,  5.],
           [ 1.,  0.,  0.,  0.],
           [ 0.,  0.,  1.,  0.],
           [ 0.,  0.,  0.,  1.]])
    """
    check_flag(reflect, "reflect")
    moving, fixed = as_cloud(source, "source"), as_cloud(target, "target")
    found = align(
        moving.points,
        fixed.points,
        p=math.inf if reflect else Rotations(),
        translate=True,
        scale=scale,
        overlap=overlap,
        rng=rng,
    )
    matrix = as_matrix(found)
    moved = moving.move(matrix)
    shares = found.overlap or (1.0, 1.0)
    weights = [
        np.ones(len(cloud)) if some is None else to_numpy(some)
        for cloud, some in zip((moving, fixed), (found.matched_x, found.matched_y), strict=True)
    ]
    return Registration(
        matrix=matrix,
        moved=moved,
        overlap=shares,
        rmse=measure_rmse(moved.points, fixed.points, weights[0]),
        matched_source=weights[0],
        matched_target=weights[1],
        alignment=found,
    )


def as_matrix(alignment: Alignment) -> Floats:
    """Return the map and offset of an alignment as one homogeneous matrix, (dy + 1, dx + 1), for column vectors.

    ``q = matrix @ p`` for p = (x, 1), which is ``x @ map + offset`` with a 1 appended; a scale is part of the map.
    """
    linear, offset = to_numpy(alignment.map), to_numpy(alignment.offset)
    dx, dy = linear.shape
    matrix = np.zeros((dy + 1, dx + 1))
    matrix[:dy, :dx] = linear.T
    matrix[:dy, dx] = offset
    matrix[dy, dx] = 1
    return matrix


def measure_rmse(moved: Floats, target: Floats, weights: Floats) -> float:
    """Return the root of the weighted mean of the squared distances to the nearest target points; NaN if no weight is left."""
    total = float(np.sum(weights))
    if total == 0:
        return math.nan
    counted = weights > 1e-12 * weights.max()  # points without a counterpart lie far away, where trees are slow
    distances, _ = cKDTree(target).query(moved[counted], workers=workers())
    return math.sqrt(float(weights[counted] @ distances**2) / total)


def format_matrix(matrix: Floats, digits: str = ".17g") -> list[str]:
    """Return the rows of a matrix as text, columns in line; by default with all digits."""
    cells = [[f"{value + 0.0:{digits}}" for value in row] for row in matrix]
    wide = max(len(cell) for row in cells for cell in row)
    return [" ".join(cell.rjust(wide) for cell in row) for row in cells]
