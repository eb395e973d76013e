"""The cost of a partial plan in few dimensions: only pairs near enough to be matched, found by a kd-tree.

Where mass may stay unmatched at the price λ, an entry of the plan is at most aᵢ bⱼ exp((2λ − ‖zᵢ − yⱼ‖²)/ε). Pairs for which this is
below rounding are left out: the plan is the same, and memory is linear in the number of points. The list of pairs reaches a little
farther than needed, and serves until points have moved by that much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.spatial import cKDTree

from ..arrays import Array, is_torch, to_numpy
from .marginals import Marginals

SPARSE_DIMENSIONS = 6  # up to which a kd-tree pays
BEYOND = 25.0  # log of the largest entry that is left out
SPARSE_SHARE = 0.1  # of all pairs, above which a dense kernel is faster: where that fits
PAIRS_PER_POINT = 1000  # pairs per point that are stored
SPARE = 0.2  # of the reach, by which a list of pairs reaches farther

Floats = np.ndarray[Any, Any]


class SparseCost:
    """Scores −‖zᵢ − yⱼ‖²/ε of the pairs within reach; one start, NumPy."""

    mode = "sparse"

    def __init__(self, y: Array, a: Array, b: Array, kernel: csr_array) -> None:
        self.y, self.a, self.b = to_numpy(y), to_numpy(a), to_numpy(b)
        self.kernel, self.transposed = kernel, kernel.T

    def sweep(self, v: Array, marginals: Marginals | None = None) -> tuple[Array, Array]:
        with np.errstate(divide="ignore"):
            u = -np.log(self.kernel @ (self.b * np.exp(to_numpy(v[0]))))[None]
            u = u if marginals is None else to_numpy(marginals.relax(u))
            return u, -np.log(self.transposed @ (self.a * np.exp(u[0])))[None]

    def images(self, u: Array, v: Array) -> tuple[Array, Array]:
        right = self.b * np.exp(to_numpy(v[0]))
        left = self.a * np.exp(to_numpy(u[0]))
        images = left[:, None] * (self.kernel @ (right[:, None] * self.y))
        return images[None], (left * (self.kernel @ right))[None]

    def entries(self, u: Array, v: Array) -> tuple[Array, Array, Array]:
        """Return rows, columns and masses of the plan's entries, those below rounding left out."""
        found = self.kernel.tocoo()
        mass = (self.a * np.exp(to_numpy(u[0])))[found.row] * found.data * (self.b * np.exp(to_numpy(v[0])))[found.col]
        kept = mass > 1e-12 * self.a[found.row]
        return found.row[kept].astype(np.int64), found.col[kept].astype(np.int64), mass[kept]


@dataclass(frozen=True, eq=False)
class PairList:
    """Pairs of points of z and of y within ``radius`` of each other when z was at ``at`` (n, d), sorted by rows."""

    at: Floats
    y: Floats
    radius: float
    rows: Floats
    columns: Floats
    begins: Floats  # (n + 1,): where each row begins

    @cached_property
    def by_column(self) -> tuple[Floats, Floats]:
        """The order of the pairs by columns, and where each column begins (m + 1,)."""
        counts = np.bincount(self.columns, minlength=len(self.y))
        return np.argsort(self.columns, kind="stable"), np.concatenate([[0], np.cumsum(counts)])

    def reaches(self, z: Floats) -> float:
        """Return the distance within which every pair of z (n, d) and y is in the list."""
        return self.radius - float(np.sqrt(np.max(np.sum((z - self.at) ** 2, axis=1), initial=0.0)))

    def measure(self, z: Floats) -> Floats:
        """Return the squared distances of the pairs."""
        square = np.zeros(len(self.rows), dtype=z.dtype)
        for here, there in zip(z.T, self.y.T, strict=True):  # a column at a time: less memory, and faster
            square += (np.take(here, self.rows) - np.take(there, self.columns)) ** 2
        return square

    def nearest(self, square: Floats) -> tuple[Floats, Floats]:
        """Return for each point the least of its squared distances (infinity: no pair), of both sides."""
        order, begins = self.by_column
        return _least(square, self.begins), _least(square[order], begins)

    def make_cost(self, square: Floats, epsilon: float, a: Array, b: Array) -> SparseCost:
        """Return the cost for the squared distances of the pairs."""
        kernel = csr_array((np.exp(-square / epsilon), self.columns, self.begins), shape=(len(self.at), len(self.y)))
        return SparseCost(self.y, a, b, kernel)


def list_pairs(z: Floats, y: Floats, reach: float, *, spare: float = SPARE) -> PairList | None:
    """Return the pairs of z (n, d) and y (m, d) within ``reach``, and some more unless points stay; None where a list does not pay."""
    n, m = len(z), len(y)
    left, right = cKDTree(z), cKDTree(y)
    radius = (1 + spare) * reach
    if left.count_neighbors(right, radius) > min(SPARSE_SHARE * n * m, PAIRS_PER_POINT * (n + m)):
        return None
    found = left.sparse_distance_matrix(right, radius, output_type="ndarray")
    listed = coo_array((np.ones(len(found), dtype=np.int8), (found["i"], found["j"])), shape=(n, m)).tocsr()
    rows = np.repeat(np.arange(n), np.diff(listed.indptr))
    return PairList(z, y, radius, rows, listed.indices.astype(np.int64), listed.indptr.astype(np.int64))


def find_reach(price: float, epsilon: float) -> float:
    """Return the distance beyond which no pair is matched where mass may stay unmatched at ``price``."""
    return float((2 * price + BEYOND * epsilon) ** 0.5)


def can_list(z: Array) -> bool:
    """Return whether pairs of points like z (…, d) can be listed: NumPy, few dimensions."""
    return not is_torch(z) and z.shape[-1] <= SPARSE_DIMENSIONS


def _least(values: Floats, begins: Floats) -> Floats:
    """Return the least of each run of ``values``; infinity for empty runs."""
    found = np.full(len(begins) - 1, np.inf, dtype=values.dtype)
    filled = begins[1:] > begins[:-1]
    if filled.any():
        found[filled] = np.minimum.reduceat(values, begins[:-1][filled])
    return found
