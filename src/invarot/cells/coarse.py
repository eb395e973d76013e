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


def group_cells(views: Views, count: int, rng: np.random.Generator, weights: Floats | None = None) -> Groups:
    """Group cells by k-means over all views; with at most ``count`` cells each is its own group."""
    n = len(next(iter(views.values())))
    weights = np.full(n, 1 / n) if weights is None else weights
    groups, _ = merge_groups(Groups(views, weights, np.arange(n)), count, rng)
    return groups


def merge_groups(groups: Groups, count: int, rng: np.random.Generator) -> tuple[Groups, Ints]:
    """Return at most ``count`` larger groups, and which of them each of the groups belongs to."""
    points = np.hstack(list(groups.views.values()))
    if len(points) <= count:
        return groups, np.arange(len(points))
    centres, _ = kmeans(points, groups.weights, count, rng=rng, rounds=10)
    _, part = np.unique(to_numpy(nearest(points, centres)), return_inverse=True)
    weights = np.bincount(part, groups.weights)
    share = scipy.sparse.csr_array((groups.weights / weights[part], (part, np.arange(len(part)))))
    return Groups({name: share @ view for name, view in groups.views.items()}, weights, part[groups.label]), part


def share_out(weights: Floats, part: Ints) -> Floats:
    """Return the share of each group in the larger group that it belongs to."""
    found: Floats = weights / np.bincount(part, weights)[part]
    return found
