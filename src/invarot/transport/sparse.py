"""The cost of a partial plan in few dimensions: only pairs near enough to be matched, found by a kd-tree.

Where mass may stay unmatched at the price λ, an entry of the plan is at most aᵢ bⱼ exp((2λ − ‖zᵢ − yⱼ‖²)/ε). Pairs for which this is
below rounding are left out: the plan is the same, and memory is linear in the number of points.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from ..arrays import Array, is_torch, to_numpy
from .marginals import Marginals

DIMENSIONS = 6  # up to which a kd-tree pays
BEYOND = 25.0  # log of the largest entry that is left out
SHARE = 0.1  # of all pairs, above which a dense kernel is faster: where that fits
MOST = 1000  # pairs per point that are stored


class SparseCost:
    """Scores −‖zᵢ − yⱼ‖²/ε of the pairs within reach; one start, NumPy."""

    mode = "sparse"

    def __init__(self, y: Array, a: Array, b: Array, kernel: csr_array) -> None:
        self.y, self.a, self.b = to_numpy(y), to_numpy(a), to_numpy(b)
        self.kernel, self.transposed = kernel, kernel.T.tocsr()

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


def make_sparse_cost(z: Array, y: Array, epsilon: float, a: Array, b: Array, reach: float) -> SparseCost | None:
    """Return the cost of pairs z (1, n, d), y (m, d) for potentials of at most ``reach``/2; None where that does not pay."""
    n, m, d = z.shape[1], y.shape[0], y.shape[1]
    if is_torch(z) or z.shape[0] != 1 or d > DIMENSIONS or reach / epsilon > 300:
        return None
    left, right = cKDTree(to_numpy(z[0])), cKDTree(to_numpy(y))
    radius = (reach + BEYOND * epsilon) ** 0.5
    if left.count_neighbors(right, radius) > min(SHARE * n * m, MOST * (n + m)):
        return None
    pairs = left.sparse_distance_matrix(right, radius, output_type="coo_matrix").tocsr()
    pairs.data = np.exp(-(pairs.data**2) / epsilon)
    return SparseCost(y, a, b, csr_array(pairs.astype(y.dtype)))
