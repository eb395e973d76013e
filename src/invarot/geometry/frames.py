"""Frames: the affine change of coordinates of each cloud for the solve (centred, scaled, whitened, in the span of its points)."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array, device, machine_epsilon, namespace, svd, transpose
from ..rows import ALL, Rows


@dataclass(frozen=True)
class Frame:
    """Coordinates of the solve, ``(points - origin) @ linear``; ``inverse`` is the (pseudo-)inverse of ``linear``."""

    origin: Array  # (d,)
    linear: Array  # (d, k), k = d unless the frame is that of a span
    inverse: Array  # (k, d)

    def enter(self, points: Array) -> Array:
        return (points - self.origin) @ self.linear

    def leave(self, points: Array) -> Array:
        return points @ self.inverse + self.origin

    def restrict(self, points: Array) -> Frame:
        """Return the frame in the span of the points, and so of their mean; itself if there are as many points as dimensions.

        The axes do not depend on the order of the points.
        """
        if points.shape[0] >= points.shape[1]:
            return self
        xp = namespace(points)
        axes = svd(points @ self.linear)[2]
        high, low = xp.max(axes, axis=1), xp.min(axes, axis=1)
        axes = axes * xp.where(high >= -low, xp.ones_like(high), -xp.ones_like(high))[:, None]
        return Frame(self.origin, self.linear @ transpose(axes), axes @ self.inverse)


def weighted_mean(points: Array, weights: Array, rows: Rows = ALL) -> Array:
    return rows.sum(weights @ points)


def weighted_second_moment(points: Array, weights: Array, rows: Rows = ALL) -> Array:
    """Return S = pointsᵀ diag(weights) points, (d, d)."""
    return rows.sum(transpose(points * weights[:, None]) @ points)


def mean_square(points: Array, weights: Array, rows: Rows = ALL) -> float:
    """Return Σ wᵢ ‖pᵢ‖²."""
    return float(rows.sum(namespace(points).sum(weights[:, None] * points**2)))


def make_frame(points: Array, weights: Array, *, center: bool, whiten: bool, unit: bool, rows: Rows = ALL) -> Frame:
    """Return the frame of one cloud.

    ``center`` moves the weighted mean to 0, ``unit`` makes the mean squared norm 1, ``whiten`` makes the second moment
    Σ wᵢ pᵢ pᵢᵀ the identity (on the span of the cloud).
    """
    xp = namespace(points)
    d = points.shape[1]
    eye = xp.eye(d, dtype=points.dtype, device=device(points))
    origin = weighted_mean(points, weights, rows) if center else xp.zeros_like(points[0])
    inside = points - origin
    if whiten:
        power, vectors = xp.linalg.eigh(weighted_second_moment(inside, weights, rows))
        floor = float(power[-1]) * d * machine_epsilon(points)
        root = xp.sqrt(xp.where(power > floor, power, xp.ones_like(power)))
        keep = xp.astype(power > floor, points.dtype)
        back = transpose(vectors)
        return Frame(origin, (vectors * (keep / root)) @ back, (vectors * (keep * root)) @ back)
    if unit:
        size = mean_square(inside, weights, rows) ** 0.5 or 1.0
        return Frame(origin, eye / size, eye * size)
    return Frame(origin, eye, eye)


def best_scale(moment: Array, second_moment: Array, w: Array) -> float:
    """Return argmin over s of Σ Γij ‖s·xᵢW − yⱼ‖² = ⟨M, W⟩ / tr(Wᵀ Sx W); 1 if the mapped points are all 0."""
    xp = namespace(moment)
    extent = float(xp.sum((second_moment @ w) * w))
    return float(xp.sum(moment * w)) / extent if extent > 0 else 1.0
