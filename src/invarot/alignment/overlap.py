"""Clouds that correspond in part: how much of each has a counterpart, and how near a counterpart has to be.

A pair farther apart than the *cut* is never matched. The cut lies between two distances that are measured: the residual of the points
that are matched, and the distance to the nearest target by chance, under random maps. It is their geometric mean, at most four
residuals, and at least a quarter of the distance between neighbours of one cloud: a counterpart as near as that cannot be mistaken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ..arrays import Array, as_like, namespace, to_numpy
from ..checks import check_number
from ..errors import InputError
from ..geometry.surfaces import SurfaceSample, count_directions, measure_relative_gaps
from ..retrieval.nearest import nearest_distances, neighbour_distances
from ..retrieval.thinning import FEW_DIMENSIONS
from .tuning import BRIEF_STEPS, FEW_POINTS, LARGEST_CUT, LOOSER, NEVER_FAR, QUERIES, REPEATS, SAME_ANSWER

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Overlap:
    """Shares of the mass of x and of y that have a counterpart; None: to be estimated."""

    x: float | None = None
    y: float | None = None


@dataclass(frozen=True)
class Scales:
    """Squared lengths of a problem, and the number of dimensions that its clouds fill.

    ``chance``: from a point to the nearest target under a random map; ``neighbour``: to the nearest point of the same cloud.
    """

    chance: float
    neighbour: float
    dimensions: float = 1.0

    @property
    def least(self) -> float:
        """The smallest squared cut."""
        return self.neighbour / LARGEST_CUT


def check_overlap(value: Any) -> Overlap | None:
    """Return what ``overlap=`` asks for: None (all mass), "auto", a share of x, or a pair of shares."""
    if value is None:
        return None
    if isinstance(value, str):
        if value == "auto":
            return Overlap()
        raise InputError(
            f'overlap: expected "auto", a share in (0, 1], a pair of shares or None, got {value!r}; use "auto"'
        )
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise InputError(
                f"overlap: expected a pair (share of x, share of y), got {len(value)} values; write (0.5, 0.8)"
            )
        return Overlap(*(check_number(one, "overlap", low=0, high=1, open_low=True) for one in value))
    return Overlap(check_number(value, "overlap", low=0, high=1, open_low=True))


def measure_scales(x: Array, y: Array, rng: np.random.Generator) -> Scales:
    """Measure both clouds in the coordinates of the solve, x (n, dx) and y (m, dy), about their centres."""
    xp = namespace(x)
    probes = x[_draw_rows(x, FEW_POINTS, rng)]
    turns = []
    for _ in range(REPEATS):
        q, _ = np.linalg.qr(rng.standard_normal((max(x.shape[1], y.shape[1]),) * 2))
        turns.append(as_like(q[: x.shape[1], : y.shape[1]], x))
    moved = xp.concat([(probes - xp.mean(x, axis=0)) @ turn + xp.mean(y, axis=0) for turn in turns])
    found = np.median(to_numpy(nearest_distances(moved, y)).reshape(REPEATS, -1), axis=1)
    rows = [None if one.shape[0] <= QUERIES else _draw_rows(one, QUERIES, rng) for one in (x, y)]
    neighbour = min(_first_quartile(neighbour_distances(*one)) for one in zip((x, y), rows, strict=True))
    spread = np.linalg.eigvalsh(np.cov(to_numpy(y), rowvar=False).reshape(y.shape[1], y.shape[1]))
    return Scales(float(np.mean(found)), neighbour, float(spread.sum() ** 2 / max(np.sum(spread**2), 1e-300)))


def choose_cut(residual_x: Floats, residual_y: Floats, scales: Scales) -> float:
    """Return the squared cut for squared distances (n,), (m,) of both sides to the nearest point of the other side."""
    everything = np.concatenate([residual_x, residual_y])
    # between infinite distances, of points with nothing in reach, the cut is NaN
    with np.errstate(invalid="ignore"):
        typical = min(np.quantile(residual_x, 0.25), np.quantile(residual_y, 0.25))
    cut = scales.least
    for _ in range(BRIEF_STEPS):
        cut = max(min((typical * scales.chance) ** 0.5, scales.chance, LARGEST_CUT * typical), scales.least)
        inside = everything[everything <= cut]
        if not inside.size:
            break
        typical = float(np.median(inside))
    return float(cut)


def match_on_surfaces(x: SurfaceSample, y: SurfaceSample, w: Floats) -> tuple[Floats, Floats]:
    """Return the shares (n,), (m,) of points that have a counterpart under the map w (d + 1, d), for samples of surfaces.

    Distances are taken over the size of both neighbourhoods, since samples are dense in one place and sparse in another. A point
    has a counterpart up to `LARGEST_CUT` squared first quartiles of those that have one: that is nearly all of them if the points of two samples
    of one surface are strewn at random (there the first quartile is 0.29 of the mean, and one in a hundred is farther than 4.6 means).
    On a curve in the plane that holds of the distances themselves, not of their squares.
    """
    found = measure_relative_gaps(x, y, w)
    curved = y.points.shape[1] == 2 and max(map(count_directions, (x, y))) < 1 + 1 / 2
    if curved:
        found = found[0] ** 0.5, found[1] ** 0.5
    every = np.concatenate(found)
    cut = NEVER_FAR
    typical = min(float(np.quantile(one, 0.25)) for one in found)
    for _ in range(LOOSER):
        cut = max(LARGEST_CUT * typical, NEVER_FAR)
        typical = float(np.quantile(every[every <= cut], 0.25)) if np.any(every <= cut) else 0.0
    left, right = (np.asarray(share_near(one, cut)) for one in found)
    return left, right


def are_copies(x: Floats, y: Floats, w: Floats) -> bool:
    """Return whether most points of x that have a neighbour in y under the map w (d + 1, d) are points of y: some of x are tried.

    Of the points of another sample, one in five lies within half the distance between neighbours.
    """
    tree = cKDTree(y)
    gaps, near = tree.query(x[:: -(-len(x) // FEW_POINTS)] @ w[:-1] + w[-1])
    spacing = tree.query(y[near], 2)[0][:, 1]
    return bool(np.sum(gaps < spacing / 2) > np.sum(gaps < 2 * spacing) / 2)


def score_map(x: Array, y: Array, w: Array, scales: Scales) -> float:
    """Return how much nearer points lie to targets than by chance, as a mean logarithm over both clouds.

    log(chance/residual²) where positive, residuals below the distance between neighbours counted as that distance. It compares
    maps whatever share of the points they match, and needs no cut. In many dimensions, where an unrelated point never coincides
    with a target, the number of dimensions times log(neighbour/residual²) is added where positive: the logarithm of how unlikely that
    is. In few dimensions points coincide under wrong maps too (the symmetries of a regular mesh, outliers that fill a box).
    """
    z = x @ w
    least = max(scales.least, 1e-12 * scales.chance, float(namespace(z).finfo(z.dtype).smallest_normal))
    neighbour = max(scales.neighbour, least)
    weight = scales.dimensions if y.shape[1] > FEW_DIMENSIONS else 0.0
    gains = []
    for one, other in ((z, y), (y, z)):
        residual = np.log(np.maximum(to_numpy(nearest_distances(one, other)).astype(np.float64), least))
        near = math.log(neighbour) - residual
        far = math.log(max(scales.chance, neighbour)) - np.maximum(residual, math.log(neighbour))
        gains.append(np.mean(np.maximum(far, 0.0) + weight * np.maximum(near, 0.0)))
    return float(np.mean(gains))


def share_near(residual: Array, cut: float) -> Array:
    """Return the share (n,) of each point that has a counterpart: 1 well within the cut, 1/2 at it, 0 beyond."""
    xp = namespace(residual)
    return 1 / (1 + xp.exp(xp.clip((residual / cut - 1) / SAME_ANSWER, -50.0, 50.0)))


def _draw_rows(points: Array, count: int, rng: np.random.Generator) -> Array:
    return as_like(rng.permutation(points.shape[0])[:count], points, dtype=namespace(points).int64)


def _first_quartile(values: Array) -> float:
    return float(np.quantile(to_numpy(values), 0.25))
