"""Entropic Gromov–Wasserstein on shortest paths in the graphs of nearest neighbours: SCOT (Demetci et al. 2022)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..alignment.result import Alignment
from ..arrays import as_like, namespace, to_numpy, transpose, unit_rows
from ..checks import check_count, check_number
from ..errors import MissingExtra
from ..geometry.orthogonal import polar
from ..transport.sparse_plan import SparsePlan
from .outcome import as_alignment, check_pair

Floats = np.ndarray[Any, Any]


def graph_gromov_wasserstein(
    x: Any, y: Any, *, k: int = 50, epsilon: float = 1e-3, max_iter: int = 1000, tol: float = 1e-9
) -> Alignment:
    """Minimise Σ (Dx[i, i'] − Dy[j, j'])² Γij Γi'j' − ε·H(Γ) over plans, with D the paths in graphs of ``k`` neighbours.

    As in the paper: rows of unit length, neighbours by correlation, edges of length 1, the longest path in place of those
    that do not exist, D divided by its largest entry, POT's solver. The defaults are those of its authors' code, where both
    k and ε are meant to be tuned. It forms n × m matrices and needs the extra ``exact``.

    Departures: the map is the orthogonal one that fits the plan best, since the method itself has none; at most n // 5
    neighbours, so that small clouds are not complete graphs.
    """
    try:
        import ot
    except ImportError as error:
        raise MissingExtra("graph_gromov_wasserstein", "exact") from error
    check_count(k, "k")
    check_number(epsilon, "epsilon", low=0, open_low=True)
    x, y, a, b = check_pair(x, y)
    paths = [graph_paths(to_numpy(unit_rows(one)), k) for one in (x, y)]
    weights = [to_numpy(one).astype(np.float64) / float(namespace(one).sum(one)) for one in (a, b)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        plan, log = ot.gromov.entropic_gromov_wasserstein(
            *paths, *weights, "square_loss", epsilon=epsilon, max_iter=max_iter, tol=tol, log=True
        )
    rows, columns = np.nonzero(plan > 0)
    integer = namespace(x).int64
    w = polar(transpose(x) @ as_like(plan @ to_numpy(y), x))
    found = SparsePlan(
        x @ w, y, as_like(rows, x, dtype=integer), as_like(columns, x, dtype=integer), as_like(plan[rows, columns], x),
        epsilon=epsilon, error=float(np.abs(plan.sum(0) - weights[1]).sum()), iterations=len(log.get("err", [])) or 1,
    )  # fmt: skip
    return as_alignment(
        x, y, a, b, w, name="graph-gromov-wasserstein", plan=found, settled=not told,
        options={"k": k, "epsilon": epsilon, "distance": float(log.get("gw_dist", np.nan))},
    )  # fmt: skip


def graph_paths(x: Floats, k: int) -> Floats:
    """Return the shortest paths (n, n) in the graph of nearest neighbours by correlation, over the longest."""
    import scipy.sparse
    from scipy.sparse.csgraph import dijkstra

    n = len(x)
    centred = x - x.mean(1, keepdims=True)
    similar = to_numpy(unit_rows(centred))
    similar = similar @ similar.T
    np.fill_diagonal(similar, -np.inf)
    k = max(1, min(k, n // 5))
    near = np.argpartition(-similar, k - 1, axis=1)[:, :k]
    graph = scipy.sparse.coo_array((np.ones(n * k), (np.repeat(np.arange(n), k), near.ravel())), shape=(n, n)).tocsr()
    paths = np.asarray(dijkstra(graph.maximum(graph.T), directed=False, unweighted=True))
    paths[~np.isfinite(paths)] = paths[np.isfinite(paths)].max()
    return paths / paths.max()
