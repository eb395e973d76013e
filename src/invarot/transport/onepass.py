"""Both halves of a Sinkhorn iteration in one read of the kernel, compiled if Numba is installed.

Two BLAS calls read a block of the kernel twice, the second time from a cache hardly faster than memory. The loop below
multiplies four rows by v while it adds the previous four, still in the nearest cache, to the column sums.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np

Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.floating[Any]]]"
OnePass: TypeAlias = Callable[[Floats, Floats, Floats, Floats, Floats], None]

WORTH_COMPILING = 1 << 22  # entries of a kernel: below, all sweeps of a solve take less time than compiling


def one_pass(kernel: Floats, right: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Return mass = K · right and (a / mass) · K, for a block of rows K."""
    mass, columns = np.empty_like(a), np.zeros_like(right)
    _compiled()(kernel, right, a, mass, columns)
    return mass, columns


def can_compile(entries: int) -> bool:
    """Return whether compiling pays for this many ``entries`` and Numba is installed (``pip install 'invarot[fast]'``)."""
    return entries >= WORTH_COMPILING and find_spec("numba") is not None


@lru_cache(maxsize=1)
def _compiled() -> OnePass:
    import numba

    # sums may be reordered, as BLAS does; infinities and NaN keep their meaning
    options = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz", "arcp"}}
    try:
        return numba.njit(cache=True, **options)(_four_rows_at_a_time)
    except RuntimeError:  # no writable cache folder
        return numba.njit(**options)(_four_rows_at_a_time)


def _four_rows_at_a_time(kernel: Floats, right: Floats, a: Floats, mass: Floats, columns: Floats) -> None:
    """Fill ``mass`` and add to ``columns``, four rows at a time; the remaining rows one by one."""
    n, m = kernel.shape
    zero = columns[0] * 0
    u0 = u1 = u2 = u3 = zero
    p0 = p1 = p2 = p3 = kernel[0]
    even = n - n % 4
    for i in range(0, even, 4):
        k0, k1, k2, k3 = kernel[i], kernel[i + 1], kernel[i + 2], kernel[i + 3]
        s0 = s1 = s2 = s3 = zero
        for j in range(m):
            columns[j] += u0 * p0[j] + u1 * p1[j] + u2 * p2[j] + u3 * p3[j]
            s0 += k0[j] * right[j]
            s1 += k1[j] * right[j]
            s2 += k2[j] * right[j]
            s3 += k3[j] * right[j]
        mass[i], mass[i + 1], mass[i + 2], mass[i + 3] = s0, s1, s2, s3
        u0, u1, u2, u3 = a[i] / s0, a[i + 1] / s1, a[i + 2] / s2, a[i + 3] / s3
        p0, p1, p2, p3 = k0, k1, k2, k3
    for j in range(m):
        columns[j] += u0 * p0[j] + u1 * p1[j] + u2 * p2[j] + u3 * p3[j]
    for i in range(even, n):
        s0 = zero
        for j in range(m):
            s0 += kernel[i, j] * right[j]
        mass[i] = s0
        for j in range(m):
            columns[j] += a[i] / s0 * kernel[i, j]
