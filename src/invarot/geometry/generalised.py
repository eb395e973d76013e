"""Generalised Procrustes: one orthogonal map per space into a common space, from the moments of pairs of spaces.

With moments Mij (di, dj) of matched points, the maps maximise Σ ⟨Mij, Qi Qjᵀ⟩. The best Qi for the others is the polar factor of
Σj Mij Qj, and rounds over the spaces increase the sum until it settles. There are several optima, so the rounds start from the
leading eigenvectors of the matrix of all blocks, which solve the problem without constraints, and from the maps into each
space; the best is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..arrays import Array, device, namespace, transpose
from .orthogonal import polar

Moments = Mapping[tuple[int, int], Array]  # (i, j) with i < j -> (di, dj)
MOST_ROUNDS = 100
LEAST_GAIN = 1e-10  # relative gain of a round that ends them


def stack_blocks(moments: Moments, sizes: Sequence[int]) -> Array:
    """Return the symmetric matrix of all blocks, 0 on the diagonal and where no pair is known."""
    like = next(iter(moments.values()))
    xp = namespace(like)
    starts = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    out = xp.zeros((starts[-1], starts[-1]), dtype=like.dtype, device=device(like))
    places = [slice(starts[k], starts[k + 1]) for k in range(len(sizes))]
    for (i, j), block in moments.items():
        out[places[i], places[j]], out[places[j], places[i]] = block, transpose(block)
    return out


def cut_rows(stacked: Array, sizes: Sequence[int]) -> list[Array]:
    """Return the rows of each space."""
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    return [stacked[start : start + size, :] for start, size in zip(starts, sizes, strict=True)]


def leading_blocks(matrix: Array, sizes: Sequence[int]) -> list[Array]:
    """Return the leading eigenvectors of a block matrix, as many as the largest block has rows, cut by space."""
    _, vectors = namespace(matrix).linalg.eigh(matrix)
    return cut_rows(vectors[:, -max(sizes) :], sizes)


def generalised_procrustes(moments: Moments, sizes: Sequence[int]) -> list[Array]:
    """Return maps Qi (di, d) with orthonormal rows, d the largest of ``sizes`` di, that maximise Σ ⟨Mij, Qi Qjᵀ⟩.

    Every space needs a pair, and the pairs must connect all spaces. For two spaces Q₀Q₁ᵀ is the polar factor of M₀₁.

    Examples
    --------
    >>> import numpy as np
    >>> turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> a, b = generalised_procrustes({(0, 1): turn}, (2, 2))
    >>> np.abs((a @ b.T - turn)).max() < 1e-9
    np.True_
    """
    matrix = stack_blocks(moments, sizes)
    starts = [[polar(block) for block in leading_blocks(matrix, sizes)]]
    d = max(sizes)
    for pivot, size in enumerate(sizes):
        pairs = [(min(k, pivot), max(k, pivot)) for k in range(len(sizes)) if k != pivot]
        if size == d and all(pair in moments for pair in pairs):
            starts.append([_into(moments, matrix, k, pivot, d) for k in range(len(sizes))])
    return max((_improve(matrix, sizes, maps) for maps in starts), key=lambda found: found[0])[1]


def _into(moments: Moments, matrix: Array, k: int, pivot: int, d: int) -> Array:
    """Return the best map of space ``k`` into the space ``pivot``."""
    if k == pivot:
        return namespace(matrix).eye(d, dtype=matrix.dtype, device=device(matrix))
    return polar(moments[k, pivot] if k < pivot else transpose(moments[pivot, k]))


def _improve(matrix: Array, sizes: Sequence[int], maps: list[Array]) -> tuple[float, list[Array]]:
    """Improve one map after the other until a round gains nothing; return the sum and the maps."""
    xp = namespace(matrix)
    rows = cut_rows(matrix, sizes)
    stacked = xp.concat(maps, axis=0)
    places = cut_rows(stacked, sizes)  # views of ``stacked``
    total = 0.0
    for _ in range(MOST_ROUNDS):
        for row, place in zip(rows, places, strict=True):
            place[:] = polar(row @ stacked)
        before, total = total, float(xp.sum(stacked * (matrix @ stacked))) / 2
        if total - before <= LEAST_GAIN * abs(total):
            break
    return total, [xp.asarray(place, copy=True) for place in places]
