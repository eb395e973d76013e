"""The graph of nearest neighbours of one assay, and coordinates that keep its shortest paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import dijkstra

from ..arrays import to_numpy, top_k
from ..threads import map_blocks

Floats = np.ndarray[Any, Any]
Ints = np.ndarray[Any, Any]

GRAPH_NEIGHBOURS = 15
GRAPH_DIMENSIONS = 10
LANDMARKS = 500  # cells whose paths to all others are computed; the rest are placed by theirs to these
GRAPH_BLOCK = 1 << 22


def nearest_cells(queries: Floats, cells: Floats, k: int, *, itself: bool = False) -> tuple[Ints, Floats]:
    """Return the ``k`` nearest cells of each query, nearest first, and their distances, both (q, k).

    ``itself``: the queries are the cells, and none is its own neighbour.
    """
    half = (cells**2).sum(1) / 2
    k = min(k, len(cells) - itself)
    step = max(1, GRAPH_BLOCK // len(cells))

    def work(rows: slice) -> tuple[Floats, Ints]:
        scores = queries[rows] @ cells.T - half
        if itself:
            scores[np.arange(len(scores)), np.arange(len(queries))[rows]] = -np.inf
        values, found = top_k(scores, k)
        return to_numpy(values), to_numpy(found)

    parts = list(map_blocks(work, [slice(i, i + step) for i in range(0, len(queries), step)]))
    values, found = (np.concatenate(column) for column in zip(*parts, strict=True))
    square = (queries**2).sum(1)[:, None] - 2 * values
    return found, np.sqrt(np.maximum(square, 0))


def neighbour_means(x: Floats, values: Floats, k: int) -> Floats:
    """Return the mean of ``values`` (n, c) over the ``k`` nearest neighbours of each row of x."""
    near, _ = nearest_cells(x, x, k, itself=True)
    return values[near].mean(1)


def graph_coordinates(x: Floats, *, rng: np.random.Generator) -> Floats:
    """Return coordinates (n, ≤ 10) by classical scaling of shortest paths between cells; x is (n, d).

    Parts of the graph that no path joins are as far apart as the most distant cells of one part. With many cells the paths
    go to a sample of landmarks (de Silva and Tenenbaum 2004).
    """
    n = len(x)
    near, distances = nearest_cells(x, x, GRAPH_NEIGHBOURS, itself=True)
    edges = (distances.ravel() + 1e-12, (np.repeat(np.arange(n), near.shape[1]), near.ravel()))
    graph = scipy.sparse.coo_array(edges, shape=(n, n)).tocsr()
    landmarks = np.arange(n) if n <= LANDMARKS else np.sort(rng.choice(n, LANDMARKS, replace=False))
    paths = dijkstra(graph.maximum(graph.T), directed=False, indices=landmarks)
    known = np.isfinite(paths)
    paths[~known] = paths[known].max()
    square = paths**2
    inner = square[:, landmarks]
    column = inner.mean(1, keepdims=True)
    values, vectors = np.linalg.eigh(-(inner - column - column.T + inner.mean()) / 2)
    keep = np.flatnonzero(values > 1e-9 * values[-1])[: -GRAPH_DIMENSIONS - 1 : -1]
    placed = -((square - column) / 2).T @ (vectors[:, keep] / np.sqrt(values[keep]))
    return placed - placed.mean(0)
