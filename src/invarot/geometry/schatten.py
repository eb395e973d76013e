"""The Schatten ball: the l_p norm of the singular values, and the map in the ball with the largest inner product."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..arrays import Array, namespace, svd
from .projection import project_spectrum


def dual_exponent(p: float) -> float:
    """Return q with 1/p + 1/q = 1."""
    if p == 1:
        return math.inf
    return 1.0 if math.isinf(p) else p / (p - 1)


def vector_norm(s: Array, p: float) -> Array:
    """Return the l_p norm of ``s`` ≥ 0 (…, d) along the last axis, without overflow: ‖s‖_p = s₁ ‖s/s₁‖_p."""
    xp = namespace(s)
    top = xp.max(s, axis=-1, keepdims=True)
    if math.isinf(p):
        return top[..., 0]
    ratio = s / xp.where(top > 0, top, xp.ones_like(top))
    return top[..., 0] * xp.sum(ratio**p, axis=-1) ** (1 / p)


def schatten_norm(m: Array, p: float) -> Array:
    """Return ‖m‖_{S_p} of the last two axes."""
    return vector_norm(svd(m)[1], p)


def identity_radius(p: float, d: int) -> float:
    """Return d^(1/p): the radius of the smallest ball that contains the (rectangular) identity."""
    return 1.0 if math.isinf(p) else d ** (1 / p)


def extreme_spectrum(s: Array, p: float, radius: float) -> Array:
    """Return the singular values of the best map: argmax ⟨t, s⟩ over ‖t‖_p ≤ radius, for sorted s ≥ 0.

    t ∝ (s/s₁)^(q−1): divided by the largest first, since s^(q−1) overflows for p near 1.
    """
    xp = namespace(s)
    if math.isinf(p):
        return radius * xp.ones_like(s)
    top = s[..., :1]
    if p == 1:  # all weight on one top pair, even with ties
        t = xp.zeros_like(s)
        t[..., 0] = radius
        return t
    ratio = xp.where(top > 0, s / xp.where(top > 0, top, xp.ones_like(top)), xp.ones_like(s))
    t = ratio ** (dual_exponent(p) - 1)
    return radius * t / vector_norm(t, p)[..., None]


@dataclass(frozen=True)
class SchattenBall:
    """All maps with ‖W‖_{S_p} ≤ radius; ``radius=None`` is the smallest ball that contains the identity."""

    p: float = math.inf
    radius: float | None = None

    def size(self, dx: int, dy: int) -> float:
        return self.radius if self.radius is not None else identity_radius(self.p, min(dx, dy))

    def best_map(self, moment: Array) -> Array:
        """Return argmax of ⟨moment, W⟩ over the ball, for moments (…, dx, dy); the value is radius·‖σ‖_q.

        Examples
        --------
        >>> import numpy as np
        >>> SchattenBall(p=2).best_map(np.diag([3.0, 4.0])).diagonal() / np.sqrt(2)
        array([0.6, 0.8])
        """
        u, s, vt = svd(moment)
        t = extreme_spectrum(s, self.p, self.size(*moment.shape[-2:]))
        return (u * t[..., None, :]) @ vt

    def contains(self, w: Array, tol: float = 1e-6) -> Array:
        return schatten_norm(w, self.p) <= self.size(*w.shape[-2:]) * (1 + tol)

    def project(self, w: Array) -> Array:
        """Return the nearest map of the ball in the Frobenius norm."""
        u, s, vt = svd(w)
        return (u * project_spectrum(s, self.p, self.size(*w.shape[-2:]))[..., None, :]) @ vt

    def fit(self, w: Array) -> Array:
        """Scale ``w`` to the boundary of the ball, where the simplified objective has its optima."""
        norm = schatten_norm(w, self.p)[..., None, None]
        xp = namespace(w)
        return w * (self.size(*w.shape[-2:]) / xp.where(norm > 0, norm, xp.ones_like(norm)))

    def shrink(self, w: Array) -> Array:
        """Scale ``w`` down into the ball if it lies outside: feasible, with the same singular vectors."""
        xp = namespace(w)
        size = self.size(*w.shape[-2:])
        return w * (size / xp.clip(schatten_norm(w, self.p), size, None))[..., None, None]
