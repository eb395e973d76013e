"""Surfaces made from formulas, another one for every seed, and samples of them as a scanner takes them: pairs with a known answer.

SURFACES   knot      a tube of changing width along a torus knot
           blob      a sphere with bumps and dents
           terrain   a height field of ridges, on a square
           bracket   an L-shaped plate with holes, as in a machine
           branches  tubes that fork, as a plant
           room      floor, two walls and boxes, as an indoor scan
           chair     seat, back, legs: a mirror image of itself
           relief    one side of an ellipsoid with a nose, two eyes and a mouth of other sizes
SAMPLES    those of partial_pairs.py (cut, both, resampled, outliers, noise), and, without common points:
           uneven-K  y cut to K %; either side up to ten times as dense at one end as at the other
           view-K    either side holds what is seen from one place; the places are K degrees apart
           scan-K    the same, denser near the viewer, noise of 0.2 % of the extent on both sides, 5 % outliers
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from partial_pairs import Pair, Truth, add_outliers, draw_rotation, shape_pair
from scipy.spatial import ConvexHull, cKDTree

POOL = 24_000  # points of a surface that samples are drawn from
DEVELOPMENT = ("knot", "terrain", "bracket", "relief")  # numbers and rules may be chosen on these
REPORT = ("blob", "branches", "room", "chair")  # and not on these
SURFACES = (*DEVELOPMENT, *REPORT)
SAMPLES = ("cut-50", "both-50", "resampled-70", "resampled-50", "resampled-30", "outliers-20", "noise-0.3",
           "uneven-70", "view-30", "view-60", "scan-30")  # fmt: skip
RATIO = 10.0  # of densities at both ends
FRONT = {"terrain": (0.0, 0.0, 1.0), "room": (0.6, 0.6, 0.6), "relief": (0.0, 0.0, 1.0)}  # where a scanner stands

Rng = np.random.Generator
Floats = np.ndarray


@lru_cache(maxsize=4)
def make_surface(name: str, seed: int, count: int = POOL) -> Floats:
    """``count`` points, uniform on a surface: ``name`` is one of SURFACES."""
    rng = np.random.default_rng([seed, *name.encode()])
    points = _MAKERS[name](rng, count)
    return points[rng.permutation(len(points))[:count]]


def surface_pair(name: str, case: str, seed: int, *, points: int = 1000) -> Pair:
    """A pair made of one surface: ``case`` is one of SAMPLES, or the same word with another number."""
    pool = make_surface(name, seed, max(POOL, 8 * points))
    word, value = case.split("-")
    if word not in ("uneven", "view", "scan"):
        return shape_pair(pool, case, seed, points=points)
    rng = np.random.default_rng([seed, *case.encode()])
    extent = float(np.linalg.norm(np.ptp(pool, axis=0)))
    if word == "uneven":
        height = pool @ rng.standard_normal(3)
        seen = [np.ones(len(pool), dtype=bool), height >= np.quantile(height, 1 - float(value) / 100)]
        density = [_grade(pool, rng.standard_normal(3)) for _ in seen]
    else:
        places = _draw_places(pool, extent, float(value), name, rng)
        seen = [find_visible(pool, place) for place in places]
        far = [np.sum((pool - place) ** 2, axis=1) for place in places]
        density = [1 / one if word == "scan" else np.ones(len(pool)) for one in far]
    half = rng.permutation(len(pool)) < len(pool) // 2  # no point is in both clouds
    rows = []
    for own, visible, weight in zip((half, ~half), seen, density, strict=True):
        chance = weight * own * visible
        count = min(points, int(np.sum(chance > 0)))
        rows.append(rng.choice(len(pool), count, replace=False, p=chance / chance.sum()))
    x, y = pool[rows[0]], pool[rows[1]]
    common_x, common_y = _find_common(x, pool[seen[1]]), _find_common(y, pool[seen[0]])
    if word == "scan":
        x, y = (one + 0.002 * extent * rng.standard_normal(one.shape) for one in (x, y))
        x, inlier = add_outliers(x, 0.05, rng)
        common_x = np.r_[common_x, np.zeros(len(x) - len(common_x), dtype=bool)] & inlier
        y, inlier = add_outliers(y, 0.05, rng)
        common_y = np.r_[common_y, np.zeros(len(y) - len(common_y), dtype=bool)] & inlier
    turn, shift = draw_rotation(3, rng), extent * rng.uniform(-1, 1, 3)
    return x, y @ turn + shift, Truth(common_x, common_y, turn, shift, None, extent=extent)


def find_visible(points: Floats, place: Floats) -> Floats:
    """Which points are seen from a place: those on the hull of the points mirrored at a sphere around it (Katz et al. 2007)."""
    away = points - place
    far = np.linalg.norm(away, axis=1, keepdims=True)
    flipped = away + 2 * (300 * far.max() - far) * away / far
    seen = np.zeros(len(points) + 1, dtype=bool)
    seen[ConvexHull(np.concatenate([flipped, np.zeros((1, 3))])).vertices] = True
    return seen[:-1]


def _find_common(points: Floats, seen: Floats) -> Floats:
    """Which points lie as near to what the other side has seen as points of their own cloud lie to each other."""
    reach = np.quantile(cKDTree(points).query(points, 2)[0][:, 1], 0.9)
    return cKDTree(seen).query(points)[0] <= reach


def _draw_places(pool: Floats, extent: float, angle: float, name: str, rng: Rng) -> tuple[Floats, Floats]:
    """Two places from which a surface is seen, ``angle`` degrees apart around it; what has a front is seen from there."""
    middle = (pool.max(axis=0) + pool.min(axis=0)) / 2
    toward = rng.standard_normal(3)
    if name in FRONT:
        toward = np.array(FRONT[name]) + 0.4 * toward
    toward /= np.linalg.norm(toward)
    aside = np.cross(toward, rng.standard_normal(3))
    aside /= np.linalg.norm(aside)
    half = np.radians(angle) / 2
    return tuple(middle + 1.2 * extent * (np.cos(half) * toward + sign * np.sin(half) * aside) for sign in (1, -1))


def _grade(points: Floats, direction: Floats) -> Floats:
    height = points @ direction
    return RATIO ** ((height - height.min()) / np.ptp(height))


def _sample_sheet(sheet: Callable[[Floats, Floats], Floats], count: int, rng: Rng) -> Floats:
    """Points, uniform on a sheet (u, v) ↦ (n, 3), u and v in [0, 1]: drawn by its area at (u, v)."""
    step = 1e-4
    found: list[Floats] = []
    while sum(map(len, found)) < count:
        u, v = rng.uniform(step, 1 - step, (2, 6 * count))
        along, across = (sheet(u + step, v) - sheet(u - step, v)), (sheet(u, v + step) - sheet(u, v - step))
        area = np.linalg.norm(np.cross(along, across), axis=1)
        kept = rng.uniform(size=len(u)) * np.quantile(area, 0.999) < area
        found.append(sheet(u[kept], v[kept]))
    return np.concatenate(found)[:count]


def _sample_tube(path: Callable[[Floats], Floats], width: Callable[[Floats], Floats], count: int, rng: Rng) -> Floats:
    """Points on a tube of a width around a path t ↦ (n, 3), t in [0, 1]."""

    def sheet(u: Floats, v: Floats) -> Floats:
        ahead = path(u + 1e-4) - path(u - 1e-4)
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        up = np.where(np.abs(ahead[:, 2:]) < 0.9, [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
        left = np.cross(ahead, up)
        left /= np.linalg.norm(left, axis=1, keepdims=True)
        turn = 2 * np.pi * v[:, None]
        return path(u) + width(u)[:, None] * (np.cos(turn) * left + np.sin(turn) * np.cross(ahead, left))

    return _sample_sheet(sheet, count, rng)


def _sample_boxes(low: Floats, high: Floats, count: int, rng: Rng) -> Floats:
    """Points on the faces of boxes (k, 3) to (k, 3), by their area; those inside another box are left out."""
    size = high - low
    area = np.stack([size[:, 1] * size[:, 2], size[:, 0] * size[:, 2], size[:, 0] * size[:, 1]], axis=1)
    chance = np.repeat((area / area.sum() / 2).reshape(-1), 2)
    face = rng.choice(len(chance), 2 * count, p=chance / chance.sum())
    box, axis, side = face // 6, face // 2 % 3, face % 2
    points = low[box] + size[box] * rng.uniform(size=(2 * count, 3))
    rows = np.arange(len(points))
    points[rows, axis] = np.where(side == 0, low[box, axis], high[box, axis])
    inside = np.all((points[:, None] > low + 1e-9) & (points[:, None] < high - 1e-9), axis=2).any(axis=1)
    return points[~inside][:count]


def _make_knot(rng: Rng, count: int) -> Floats:
    p, q = ((2, 3), (3, 2), (2, 5))[rng.integers(3)]
    phase, swell = rng.uniform(0, 2 * np.pi, 2)

    def path(t: Floats) -> Floats:
        t = 2 * np.pi * t
        ring = 2 + np.cos(q * t)
        return np.stack([ring * np.cos(p * t), ring * np.sin(p * t), 1.2 * np.sin(q * t + 0.2 * np.sin(t))], axis=1)

    return _sample_tube(
        path, lambda t: 0.3 + 0.1 * np.sin(2 * np.pi * t + phase) + 0.06 * np.sin(6 * np.pi * t + swell), count, rng
    )


def _make_blob(rng: Rng, count: int) -> Floats:
    centres = rng.standard_normal((14, 3))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    height, width = rng.normal(0, 0.25, 14), rng.uniform(0.25, 0.7, 14)

    def sheet(u: Floats, v: Floats) -> Floats:
        z, turn = 2 * v - 1, 2 * np.pi * u
        flat = np.sqrt(1 - z**2)
        ball = np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=1)
        return ball * (1 + np.exp((ball @ centres.T - 1) / width**2) @ height)[:, None]

    return _sample_sheet(sheet, count, rng)


def _make_terrain(rng: Rng, count: int) -> Floats:
    waves = rng.standard_normal((40, 2)) * 2.0 ** rng.uniform(0, 3.5, 40)[:, None]
    size, phase = 0.12 / (1 + np.linalg.norm(waves, axis=1)) ** 0.9, rng.uniform(0, 2 * np.pi, 40)

    def sheet(u: Floats, v: Floats) -> Floats:
        ground = np.stack([u, v], axis=1)
        ridges = 1 - np.abs(np.sin(ground @ waves.T * np.pi + phase))
        return np.column_stack([ground, 2 * ridges @ size])

    return _sample_sheet(sheet, count, rng)


def _make_bracket(rng: Rng, count: int) -> Floats:
    long, high, wide, thick = rng.uniform(2.5, 4), rng.uniform(1.5, 2.5), rng.uniform(1.2, 2), rng.uniform(0.15, 0.3)
    low = np.array([[0.0, 0, 0], [0, 0, 0]])
    top = np.array([[long, wide, thick], [thick, wide, high]])
    points = _sample_boxes(low, top, 2 * count, rng)
    parts = []
    for axis, span in ((2, long), (0, high)):  # holes in the plate that lies, then in the one that stands
        for place in (0.35, 0.75)[: 1 + rng.integers(2)]:
            radius = wide * rng.uniform(0.12, 0.22)
            along, across = span * (place + rng.uniform(-0.08, 0.08)), wide * rng.uniform(0.35, 0.65)
            plane = [0, 1] if axis == 2 else [2, 1]
            on_plate = points[:, axis] <= thick + 1e-9
            gone = on_plate & (np.linalg.norm(points[:, plane] - [along, across], axis=1) < radius)
            points = points[~gone]
            many = int(2 * count * 2 * np.pi * radius * thick / (2 * wide * (long + high)))
            turn = rng.uniform(0, 2 * np.pi, many)
            wall = np.zeros((many, 3))
            wall[:, plane[0]], wall[:, plane[1]] = along + radius * np.cos(turn), across + radius * np.sin(turn)
            wall[:, axis] = rng.uniform(0, thick, many)
            parts.append(wall)
    return rng.permutation(np.concatenate([points, *parts]))[:count]


def _make_branches(rng: Rng, count: int) -> Floats:
    tubes: list[tuple[Floats, Floats, Floats, float, float]] = []

    def grow(begin: Floats, toward: Floats, length: float, width: float, depth: int) -> None:
        end = begin + length * toward
        bend = 0.15 * length * rng.standard_normal(3)
        tubes.append((begin, end, bend, width, length))
        if depth:
            for _ in range(2 + int(rng.integers(2))):
                aside = toward + 0.8 * rng.standard_normal(3)
                grow(end, aside / np.linalg.norm(aside), length * rng.uniform(0.55, 0.85), 0.65 * width, depth - 1)

    grow(np.zeros(3), np.array([0.0, 0.0, 1.0]), 1.5, 0.15, 3)
    total = sum(width * length for *_, width, length in tubes)
    parts = []
    for begin, end, bend, width, length in tubes:
        many = max(8, round(1.05 * count * width * length / total))

        def path(t: Floats, begin: Floats = begin, end: Floats = end, bend: Floats = bend) -> Floats:
            return begin + t[:, None] * (end - begin) + (4 * t * (1 - t))[:, None] * bend

        parts.append(_sample_tube(path, lambda t, width=width: width * (1 - 0.3 * t), many, rng))
    return rng.permutation(np.concatenate(parts))[:count]


def _make_room(rng: Rng, count: int) -> Floats:
    long, wide, high = rng.uniform(4, 6), rng.uniform(3, 5), 2.5
    low = [[0.0, 0, -0.01], [-0.01, 0, 0], [0, -0.01, 0]]  # floor and two walls: thin boxes
    top = [[long, wide, 0.0], [0, wide, high], [long, 0, high]]
    for _ in range(6):
        size = rng.uniform(0.4, 1.4, 3) * [1, 1, 1.2]
        place = rng.uniform(0, 1, 3) * [long - size[0], wide - size[1], 0]
        low.append(place.tolist())
        top.append((place + size).tolist())
    return _sample_boxes(np.array(low), np.array(top), count, rng)


def _make_chair(rng: Rng, count: int) -> Floats:
    wide, deep, seat, back, leg = rng.uniform([0.45, 0.4, 0.42, 0.8, 0.03], [0.6, 0.55, 0.5, 1.1, 0.06])
    low, top = [[0.0, 0, seat]], [[wide, deep, seat + 0.05]]
    low.append([0, deep - 0.05, seat + rng.uniform(0.1, 0.2)])
    top.append([wide, deep, back])
    for a in (0.0, wide - leg):
        for b in (0.0, deep - leg):
            low.append([a, b, 0])
            top.append([a + leg, b + leg, back - 0.1 if b else seat])
    return _sample_boxes(np.array(low), np.array(top), count, rng)


def _make_relief(rng: Rng, count: int) -> Floats:
    places = np.array([[0.0, 0.05], [-0.32, 0.3], [0.32, 0.3], [0.0, -0.4]]) + rng.normal(0, 0.04, (4, 2))
    height = np.array([0.5, -0.15, -0.15, 0.12]) * rng.uniform(0.7, 1.3, 4)
    width = np.array([0.12, 0.14, 0.14, 0.18]) * rng.uniform(0.8, 1.2, 4)

    def sheet(u: Floats, v: Floats) -> Floats:
        radius, turn = 0.98 * np.sqrt(u), 2 * np.pi * v
        flat = radius[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        far = np.sum((flat[:, None] - places) ** 2, axis=2)
        rise = 0.8 * np.sqrt(1 - 0.999 * radius**2) + np.exp(-far / (2 * width**2)) @ height
        return np.column_stack([flat[:, 0] * 0.8, flat[:, 1], rise])

    return _sample_sheet(sheet, count, rng)


_MAKERS: dict[str, Callable[[Rng, int], Floats]] = {
    "knot": _make_knot, "blob": _make_blob, "terrain": _make_terrain, "bracket": _make_bracket, "branches": _make_branches,
    "room": _make_room, "chair": _make_chair, "relief": _make_relief,
}  # fmt: skip
