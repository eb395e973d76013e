"""Scores that need pairs: for benchmarks, where the same cells were measured twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import to_numpy
from ..checks import check_points
from ..errors import InputError
from ..threads import map_blocks
from .tables import take_joint

Floats = np.ndarray[Any, Any]

SCORE_BLOCK = 1 << 22


def foscttm(rna: Any, atac: Any) -> float:
    """Return the fraction of samples closer than the true match: 0 is perfect, 0.5 chance.

    Parameters
    ----------
    rna, atac : AnnData with ``obsm["X_invarot"]``, paired by cell names; or arrays (n, d), paired by rows

    Returns
    -------
    float
        The mean over cells of both sides.

    Examples
    --------
    >>> foscttm(np.eye(4), np.eye(4))
    0.0
    """
    x, y = _take_pairs(rna, atac)
    n = len(x)
    squares = (x**2).sum(1), (y**2).sum(1)
    own = ((x - y) ** 2).sum(1)
    slack = 1e-9 * float(own.max() + 1e-30)  # the two ways to compute a distance differ by rounding
    step = max(1, SCORE_BLOCK // n)

    def work(rows: slice) -> int:
        far = squares[0][rows, None] + squares[1] - 2 * x[rows] @ y.T
        far += slack
        return int((far < own[rows, None]).sum() + (far < own[None, :]).sum())

    closer = sum(map_blocks(work, [slice(i, min(i + step, n)) for i in range(0, n, step)]))
    return closer / (2 * n * max(n - 1, 1))


def _take_pairs(rna: Any, atac: Any) -> tuple[Floats, Floats]:
    """Return both sides with rows in the same order."""
    if not hasattr(rna, "obsm"):
        x, y = (to_numpy(check_points(one, name)) for one, name in ((rna, "rna"), (atac, "atac")))
    else:
        x, y = take_joint(rna, "rna"), take_joint(atac, "atac")
        order = rna.obs_names.get_indexer(atac.obs_names)
        if len(x) != len(y) or np.any(order < 0):
            missing = [str(one) for one in atac.obs_names[order < 0][:3]]
            raise InputError(
                f"atac: expected the cell names of rna ({len(x)} cells), got {len(y)} cells"
                + (f", {', '.join(missing)} among them not in rna" if missing else "")
                + "; FOSCTTM needs the same cells on both sides"
            )
        x = x[order]
    if x.shape != y.shape:
        raise InputError(f"rna and atac: expected as many rows and columns, got shapes {x.shape} and {y.shape}")
    return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
