"""Projection of spectra on the l_p ball, for projected gradient on a Schatten ball."""

from __future__ import annotations

import math

from ..arrays import Array, device, machine_epsilon, namespace

OUTER, INNER = 60, 40  # maximal Newton steps; usually about 8 and 4


def project_spectrum(s: Array, p: float, radius: float) -> Array:
    """Return argmin ‖t − s‖₂ over ‖t‖_p ≤ radius, for s ≥ 0 (…, d) in decreasing order."""
    xp = namespace(s)
    if math.isinf(p):
        return xp.clip(s, None, radius)
    if p == 1:
        return soft_threshold(s, radius)
    if p == 2:
        size = xp.sqrt(xp.sum(s**2, axis=-1, keepdims=True))
        return s * xp.clip(radius / xp.where(size > 0, size, xp.ones_like(size)), None, 1.0)
    return _project_smooth(s, p, radius)


def soft_threshold(s: Array, radius: float) -> Array:
    """Project sorted s ≥ 0 (…, d) on the l_1 ball: subtract one threshold and clip at 0."""
    xp = namespace(s)
    counts = xp.arange(1, s.shape[-1] + 1, dtype=s.dtype, device=device(s))
    lowering = (xp.cumulative_sum(s, axis=-1) - radius) / counts
    level = xp.max(lowering, axis=-1, keepdims=True)  # the threshold at which the sum equals the radius
    return xp.clip(s - xp.clip(level, 0.0, None), 0.0, None)


def _project_smooth(s: Array, p: float, radius: float) -> Array:
    """Solve t + λ t^(p−1) = s, 1 < p < ∞, with λ such that ‖t‖_p is the radius, by bracketed Newton on log λ."""
    xp = namespace(s)
    d, q = s.shape[-1], p / (p - 1)
    top = xp.max(s, axis=-1, keepdims=True)
    safe = xp.where(top > 0, top, xp.ones_like(top))
    log_s = xp.log(xp.clip(s / safe, 1e-30, None)) + xp.log(safe / radius)
    size = _log_norm(log_s, p)  # log of ‖s‖_p / radius
    inside = size <= 0
    size = xp.where(inside, xp.ones_like(size), size)
    high = _log_norm(log_s, q)
    low = xp.log(xp.expm1(size)) - max(0.0, 1 / p - 1 / q) * math.log(d)
    high = xp.maximum(high, low)
    level = (low + high) / 2
    rounding = 32 * machine_epsilon(s)
    for _ in range(OUTER):
        log_t = _shrink(log_s, level, p)
        excess = _log_norm(log_t, p)
        low, high = xp.where(excess > 0, level, low), xp.where(excess > 0, high, level)
        flatness = xp.exp(xp.clip(-level - (p - 2) * log_t, None, 80.0))
        slope = -xp.sum(xp.exp(p * (log_t - excess)) / (flatness + p - 1), axis=-1, keepdims=True)
        guess = level - excess / xp.where(slope < 0, slope, -xp.ones_like(slope))
        fits = (guess > low) & (guess < high) & (slope < 0)
        following = xp.where(fits, guess, (low + high) / 2)
        done = bool(xp.all(inside | (xp.abs(following - level) <= rounding * (1 + xp.abs(level)))))
        level = following
        if done:
            break
    log_t = _shrink(log_s, level, p)
    t = radius * xp.exp(log_t - xp.clip(_log_norm(log_t, p), 0.0, None))
    return xp.where(inside, s, xp.where(s > 0, t, xp.zeros_like(t)))


def _shrink(log_s: Array, level: Array, p: float) -> Array:
    """Solve t + e^level t^(p−1) = s for log t, by Newton on w = log s − log t from below, which never overshoots."""
    xp = namespace(log_s)
    rounding = 4 * machine_epsilon(log_s)
    log_k = level + (p - 2) * log_s
    w = xp.clip(log_k / (p - 1), 0.0, None)
    for _ in range(INNER):
        first, second = xp.exp(-w), xp.exp(log_k - (p - 1) * w)
        total = first + second
        move = xp.log(total) * total / (first + (p - 1) * second)
        w = w + move
        if bool(xp.all(xp.abs(move) <= rounding * (1 + w))):
            break
    return log_s - w


def _log_norm(log_s: Array, p: float) -> Array:
    """Return log ‖exp(log_s)‖_p, (…, 1)."""
    xp = namespace(log_s)
    top = xp.max(log_s, axis=-1, keepdims=True)
    return top + xp.log(xp.sum(xp.exp(p * (log_s - top)), axis=-1, keepdims=True)) / p
