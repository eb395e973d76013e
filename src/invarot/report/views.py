"""What is drawn of an alignment: points before and after in two or three axes, their matches, and who has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..alignment.result import Alignment
from ..arrays import to_numpy, top_k

Floats = np.ndarray[Any, Any]
Rows = np.ndarray[Any, Any]
MATCHED_SHARE = 0.5  # share from which a point counts as matched


@dataclass(frozen=True)
class View:
    """Drawn rows of both clouds; places are (s, axes) and (t, axes).

    ``match`` gives for each drawn source point the drawn target it is matched to, −1 for none.
    ``shared`` says that the coordinates before are the same on both sides, so that one panel can hold both.
    """

    rows: tuple[Rows, Rows]
    before: tuple[Floats, Floats]
    after: tuple[Floats, Floats]
    matched: tuple[Rows, Rows]
    match: Rows
    shared: bool
    principal: bool


def view_alignment(result: Alignment, *, axes: int, points: int) -> View:
    """Choose at most ``points`` rows per cloud, evenly, with the targets that they are matched to, and project them."""
    source, target, moved = find_points(result)
    matched = find_matched(result)
    matches = to_numpy(result.matches())
    rows_x = spread_rows(len(moved), points)
    wanted = matches[rows_x]
    rows_y = choose_targets(np.unique(wanted[wanted >= 0]), len(target), points)
    place = np.full(len(target), -1)
    place[rows_y] = np.arange(len(rows_y))
    match = np.where(wanted >= 0, place[wanted], -1)
    shared = source.shape[1] == target.shape[1] <= axes
    frame = principal_axes(target, axes)
    moved, still = moved[rows_x] @ frame, target[rows_y] @ frame
    before = (source[rows_x] @ principal_axes(source, axes), still)
    if not shared:  # unrelated coordinates: each cloud about its own centre
        before = (before[0] - before[0].mean(axis=0), still - still.mean(axis=0))
    both = matched[0][rows_x], matched[1][rows_y]
    return View((rows_x, rows_y), before, (moved, still), both, match, shared, target.shape[1] > axes)


def find_points(result: Alignment) -> tuple[Floats, Floats, Floats]:
    """Return source, target, and the source mapped to the target, as float64.

    After loading, or where ranks hold parts, the points of the call are not known; the mapped ones, in the coordinates of
    the solve, stand in.
    """
    if result.source is None or result.target is None or len(result.source) != len(result.plan.z):
        z, y = (to_numpy(one).astype(np.float64) for one in (result.plan.z, result.plan.y))
        return z, y, z
    source, target = (to_numpy(one).astype(np.float64) for one in (result.source, result.target))
    return source, target, source @ to_numpy(result.map).astype(np.float64) + to_numpy(result.offset)


def find_matched(result: Alignment) -> tuple[Rows, Rows]:
    """Return for every point of both clouds whether it has a counterpart."""
    sizes = len(result.plan.z), len(result.plan.y)
    shares = result.matched_x, result.matched_y
    found = [
        np.ones(size, bool) if share is None else to_numpy(share) >= MATCHED_SHARE
        for size, share in zip(sizes, shares, strict=True)
    ]
    return found[0], found[1]


def spread_rows(count: int, most: int) -> Rows:
    """Return at most ``most`` rows of ``count``, evenly spaced: the same call draws the same picture."""
    return np.arange(count) if count <= most else np.floor(np.arange(most) * count / most).astype(np.int64)


def choose_targets(wanted: Rows, count: int, most: int) -> Rows:
    """Return the wanted rows and, while there is room, others evenly spaced."""
    room = most - len(wanted)
    if room <= 0:
        return wanted
    others = np.setdiff1d(np.arange(count), wanted, assume_unique=True)
    return np.sort(np.concatenate([wanted, others[spread_rows(len(others), room)]]))


def principal_axes(points: Floats, axes: int) -> Floats:
    """Return (d, axes): the coordinates themselves where there are no more than ``axes``, else the principal axes."""
    d = points.shape[1]
    if d <= axes:
        return np.eye(d, axes)
    centred = points - points.mean(axis=0)
    top = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :axes]
    return top * np.sign(top[np.abs(top).argmax(axis=0), np.arange(axes)])


def nearest_few(moved: Floats, target: Floats, k: int) -> tuple[Rows, Floats]:
    """Return the k nearest targets of each mapped point, nearest first, and their distances; in blocks."""
    half = (target**2).sum(axis=1) / 2
    step = max(1, (1 << 22) // len(target))
    found, far = [], []
    for i in range(0, len(moved), step):
        part = moved[i : i + step]
        scores, rows = top_k(part @ target.T - half, k)
        square = (part**2).sum(axis=1)[:, None] - 2 * to_numpy(scores)
        found.append(to_numpy(rows))
        far.append(np.sqrt(np.maximum(square, 0)))
    return np.concatenate(found), np.concatenate(far)


def default_axes(result: Alignment) -> int:
    """Return 3 for clouds in three dimensions, else 2."""
    return 3 if tuple(result.map.shape) == (3, 3) else 2
