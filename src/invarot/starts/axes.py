"""Principal axes of one cloud mapped onto those of the other; uncertain signs are tried both ways."""

from __future__ import annotations

import itertools

import numpy as np

from ..arrays import Array, as_like, namespace, to_numpy, transpose
from ..errors import InputError
from ..geometry.frames import weighted_second_moment


def axes(
    x: Array, y: Array, a: Array, b: Array, *, rng: np.random.Generator, all_signs: int = 5, doubtful: int = 4
) -> Array:
    """Match principal axes in order of spread, signs by skewness.

    Axes are those of the weighted second moment about the origin, the fixed point of all maps.

    Parameters
    ----------
    x, y, a, b, rng
        As of every start (:mod:`invarot.starts`); ``rng`` is not used.
    all_signs : int
        Up to this many dimensions every pattern of signs is returned.
    doubtful : int
        In more dimensions, every pattern of the ``doubtful`` signs with the least skewness.

    Returns
    -------
    maps : array (s, dx, dy)
        The pattern that agrees with the skewness first, then by increasing disagreement.
    """
    if all_signs < 0 or doubtful < 0:
        raise InputError(f"all_signs, doubtful: expected numbers ≥ 0, got {all_signs} and {doubtful}; use 0 for none")
    d = min(x.shape[1], y.shape[1])
    vx, vy = top_axes(x, a, d), top_axes(y, b, d)
    belief = _skewness(x @ vx, a) * _skewness(y @ vy, b)
    base = np.where(belief < 0, -1.0, 1.0)
    free = np.arange(d) if d <= all_signs else np.argsort(np.abs(belief), kind="stable")[: min(doubtful, d)]
    patterns = np.asarray(list(itertools.product((1.0, -1.0), repeat=len(free))), dtype=np.float64)
    contradiction = (patterns < 0) @ np.abs(belief[free])
    patterns = patterns[np.argsort(contradiction, kind="stable")]
    signs = np.tile(base, (len(patterns), 1))
    signs[:, free] *= patterns
    return (vx[None] * as_like(signs, x)[:, None, :]) @ transpose(vy)[None]


def top_axes(x: Array, a: Array, d: int) -> Array:
    """Return the top ``d`` eigenvectors, each with its largest entry positive to fix the sign."""
    xp = namespace(x)
    _, vectors = xp.linalg.eigh(weighted_second_moment(x, a))
    top = np.ascontiguousarray(to_numpy(vectors)[:, ::-1][:, :d])
    sign = np.sign(top[np.argmax(np.abs(top), axis=0), np.arange(d)])
    return as_like(top * np.where(sign == 0, 1.0, sign), x)


def _skewness(z: Array, a: Array) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the weighted third moment of each column over the 3/2 power of its second, about the origin."""
    xp = namespace(z)
    third = to_numpy(xp.sum(z**3 * a[:, None], axis=0)).astype(np.float64)
    second = to_numpy(xp.sum(z**2 * a[:, None], axis=0)).astype(np.float64)
    return np.asarray(np.where(second > 0, third / np.where(second > 0, second, 1.0) ** 1.5, 0.0))
