"""Hints for a failed alignment: clouds of different size or origin need a scale or a translation."""

from __future__ import annotations

import math
from dataclasses import replace

from ...arrays import Array, namespace
from ...geometry.frames import mean_square
from ..tuning import OTHER_ORIGIN, OTHER_SIZE
from ..verdict import Verdict


def add_size_hint(verdict: Verdict, x: Array, y: Array, a: Array, b: Array, *, radius: float | None) -> Verdict:
    """Add the hint ``scale=True`` if maps of this radius cannot reach the size of y; the verdict is then not aligned."""
    size_x, size_y = _size_and_origin(x, a)[0], _size_and_origin(y, b)[0]
    if min(size_x, size_y) == 0 or 1 / OTHER_SIZE < (radius or 1.0) * size_x / size_y < OTHER_SIZE:
        return verdict
    advice = "try scale=True" if radius is None else "try scale=True without a radius"
    hint = f"x spreads {size_x / size_y:.3g} times as far as y: {advice}"
    word = "doubtful" if verdict.word == "aligned" else verdict.word
    return replace(verdict, word=word, probability=min(verdict.probability, 0.5), reasons=(*verdict.reasons, hint))


def add_origin_hint(verdict: Verdict, x: Array, y: Array, a: Array, b: Array) -> Verdict:
    """Add the hint ``translate=True`` if the verdict is not aligned and the clouds lie at different distances."""
    (size_x, off_x), (size_y, off_y) = _size_and_origin(x, a), _size_and_origin(y, b)
    if verdict.word == "aligned" or min(size_x, size_y) == 0:
        return verdict
    if abs(off_x / size_x - off_y / size_y) <= OTHER_ORIGIN:
        return verdict
    hint = "the clouds lie at different distances from the origin: try translate=True"
    return replace(verdict, reasons=(*verdict.reasons, hint))


def _size_and_origin(points: Array, weights: Array) -> tuple[float, float]:
    """Return the rms spread of points about their centre, and its distance from the origin: both rotation-invariant."""
    centre = weights @ points
    return math.sqrt(mean_square(points - centre, weights)), float(namespace(points).linalg.vector_norm(centre))
