"""Few groups in place of many cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..arrays import to_numpy
from ..retrieval.kmeans import kmeans
from ..retrieval.nearest import nearest

Floats = np.ndarray[Any, Any]
Ints = np.ndarray[Any, Any]
Views = dict[str, Floats]


@dataclass(frozen=True)
class Groups:
    """Cells of one assay in groups."""

    views: Views  # the mean of each group, in every view
    weights: Floats  # (k,): shares of the cells
    label: Ints  # (n,): the group of each cell


def group_cells(views: Views, count: int, rng: np.random.Generator) -> Groups:
    """Group cells by k-means over all views; with at most ``count`` cells each is its own group."""
    points = np.hstack(list(views.values()))
    n = len(points)
    if n <= count:
        return Groups(views, np.full(n, 1 / n), np.arange(n))
    centres, _ = kmeans(points, np.full(n, 1 / n), count, rng=rng, rounds=10)
    _, label = np.unique(to_numpy(nearest(points, centres)), return_inverse=True)
    size = np.bincount(label)
    member = scipy.sparse.csr_array((1 / size[label], (label, np.arange(n))), shape=(len(size), n))
    return Groups({name: member @ view for name, view in views.items()}, size / n, label)
