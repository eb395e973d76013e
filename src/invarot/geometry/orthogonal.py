"""Orthogonal maps: the polar factor, and rotations without reflection."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array, namespace, svd


def polar(m: Array) -> Array:
    """Return the (semi-)orthogonal map nearest to ``m`` (…, dx, dy): U Vᵀ of its thin SVD."""
    u, _, vt = svd(m)
    return u @ vt


@dataclass(frozen=True)
class RotationGroup:
    """Proper rotations, det W = +1, times ``radius``; square maps only (Kabsch's sign on the last pair)."""

    radius: float | None = None

    def size(self, dx: int, dy: int) -> float:
        return 1.0 if self.radius is None else self.radius

    def best_map(self, moment: Array) -> Array:
        xp = namespace(moment)
        u, _, vt = svd(moment)
        sign = xp.sign(xp.linalg.det(u) * xp.linalg.det(vt))
        last = u[..., :, -1:] * (sign[..., None, None] * vt[..., -1:, :])
        return self.size(0, 0) * (u[..., :, :-1] @ vt[..., :-1, :] + last)

    def fit(self, w: Array) -> Array:
        """Return the rotation nearest to ``w``, for starts that may be reflections."""
        return self.best_map(w)
