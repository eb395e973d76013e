"""Principal axes of many small symmetric matrices: in the plane and in space by formulas, several times as fast as a general solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]


def find_axes(matrices: Floats) -> Floats:
    """Return the eigenvectors (k, d, d) of symmetric matrices (k, d, d) as columns, by rising eigenvalue."""
    if matrices.shape[1] == 2:
        return _in_plane(matrices[:, 0, 0], matrices[:, 0, 1], matrices[:, 1, 1])
    return _in_space(matrices) if matrices.shape[1] == 3 else np.linalg.eigh(matrices)[1]


def _in_plane(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return the eigenvectors (k, 2, 2) of ((a, b), (b, c))."""
    angle = np.arctan2(2 * b, a - c) / 2  # of the axis with the larger eigenvalue
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([np.stack([-sin, cos], axis=1), np.stack([cos, sin], axis=1)], axis=2)


def _in_space(matrices: Floats) -> Floats:
    """Return the eigenvectors (k, 3, 3): first the one whose eigenvalue lies apart from the others, then those of the plane across it.

    Eigenvalues are the roots of the characteristic polynomial, by cosines. Everything is written by entries: arrays of three are slow.
    """
    (a, d, e), (_, b, f), (_, _, c) = (np.ascontiguousarray(one) for one in matrices.transpose(1, 2, 0))
    mean = (a + b + c) / 3
    a, b, c = a - mean, b - mean, c - mean
    size = np.sqrt((a * a + b * b + c * c + 2 * (d * d + e * e + f * f)) / 6) + 1e-300
    a, b, c, d, e, f = (one / size for one in (a, b, c, d, e, f))
    half = np.clip((a * (b * c - f * f) - d * (d * c - e * f) + e * (d * f - b * e)) / 2, -1.0, 1.0)
    apart = np.where(half < 0, -1.0, 1.0)  # the smallest, or the largest
    root = 2 * apart * np.cos(np.arccos(np.abs(half)) / 3)
    first = _find_kernel(a - root, b - root, c - root, d, e, f)
    x, y, z = first
    flat = np.abs(x) > np.abs(y)
    left = np.where(flat, -z, 0.0), np.where(flat, 0.0, z), np.where(flat, x, -y)
    length = np.sqrt(left[0] ** 2 + left[1] ** 2 + left[2] ** 2)
    left = left[0] / length, left[1] / length, left[2] / length
    right = _cross(first, left)
    rows = (a, d, e), (d, b, f), (e, f, c)
    turned, upright = ([_dot(row, one) for row in rows] for one in (left, right))
    angle = np.arctan2(2 * _dot(right, turned), _dot(left, turned) - _dot(right, upright)) / 2
    cos, sin = np.cos(angle), np.sin(angle)
    axes = np.empty(matrices.shape)
    below = apart < 0
    for k in range(3):
        larger, smaller = cos * left[k] + sin * right[k], cos * right[k] - sin * left[k]
        axes[:, k, 0] = np.where(below, first[k], smaller)
        axes[:, k, 1] = np.where(below, smaller, larger)
        axes[:, k, 2] = np.where(below, larger, first[k])
    return axes


def _find_kernel(a: Floats, b: Floats, c: Floats, d: Floats, e: Floats, f: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the unit vectors that singular matrices ((a, d, e), (d, b, f), (e, f, c)) send to zero: across two of their rows."""
    rows = (a, d, e), (d, b, f), (e, f, c)
    best: tuple[Floats, ...] = np.zeros_like(a), np.zeros_like(a), np.ones_like(a)  # a ball has any
    longest = np.zeros_like(a)
    for one, other in ((0, 1), (1, 2), (2, 0)):
        found = _cross(rows[one], rows[other])
        length = _dot(found, found)
        better = length > longest
        best = tuple(np.where(better, new, old) for new, old in zip(found, best, strict=True))
        longest = np.where(better, length, longest)
    size = np.sqrt(np.where(longest > 0, longest, 1.0))
    return best[0] / size, best[1] / size, best[2] / size


def _cross(one: Sequence[Floats], other: Sequence[Floats]) -> tuple[Floats, Floats, Floats]:
    (a, b, c), (x, y, z) = one, other
    return b * z - c * y, c * x - a * z, a * y - b * x


def _dot(one: Sequence[Floats], other: Sequence[Floats]) -> Floats:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]
