"""What to try where an alignment did not work: clouds of other size or origin need a scale or a translation."""

from __future__ import annotations

import math
from dataclasses import replace

from ..arrays import Array, namespace
from ..geometry.frames import mean_square
from .settings import Settings
from .verdict import Verdict

SIZES = 2.0  # rms of one cloud over the other's from which they are of different size
ORIGINS = 0.3  # difference of the centres' distances from the origin, in units of the spread


def with_hints(verdict: Verdict, settings: Settings, x: Array, y: Array, a: Array, b: Array) -> Verdict:
    """The verdict with what the clouds, as they came, suggest. A map that cannot reach the size of y is never sure."""
    if not math.isinf(settings.p) or settings.whiten:
        return verdict
    (size_x, off_x), (size_y, off_y) = _size_and_origin(x, a), _size_and_origin(y, b)
    if min(size_x, size_y) == 0:
        return verdict
    ratio = size_x / size_y
    reach = ratio if settings.radius is None else settings.radius * ratio
    if not settings.scale and not 1 / SIZES < reach < SIZES:
        hint = f"x spreads {ratio:.3g} times as far as y: try scale=True"
        word = "doubtful" if verdict.word == "aligned" else verdict.word
        return replace(verdict, word=word, probability=min(verdict.probability, 0.5), reasons=(*verdict.reasons, hint))
    apart = abs(off_x / size_x - off_y / size_y)
    if verdict.word != "aligned" and not settings.translate and apart > ORIGINS:
        hint = "the clouds lie at different distances from the origin: try translate=True"
        return replace(verdict, reasons=(*verdict.reasons, hint))
    return verdict


def _size_and_origin(points: Array, weights: Array) -> tuple[float, float]:
    """How far points spread about their centre (rms), and how far that lies from the origin: no rotation changes either."""
    centre = weights @ points
    return math.sqrt(mean_square(points - centre, weights)), float(namespace(points).linalg.vector_norm(centre))
