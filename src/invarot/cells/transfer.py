"""Move what one assay knows to the other: labels through the joint space, features through the plan."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..checks import check_count, check_number
from ..errors import InputError
from .graph import nearest_cells
from .tables import MATCHED, PLAN, check_anndata, take_joint, take_labels

Floats = np.ndarray[Any, Any]

UNKNOWN = "unknown"


def transfer_labels(
    source: Any, target: Any, key: str, *, k: int = 5, least: float = 0.5, to: str | None = None
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Give cells of ``target`` the labels of ``source``, by a vote of the nearest cells in the joint space.

    Parameters
    ----------
    source, target : AnnData, aligned by :func:`invarot.cells.align`
    key : str
        The column of ``source.obs``. Cells without a label do not vote.
    k : int
        Neighbours that vote.
    least : float
        Confidence below which a cell is called "unknown".
    to : str, optional
        Column of ``target.obs`` to write; the confidence goes to ``to + "_confidence"``. By default nothing is written.

    Returns
    -------
    labels : (m,) array of str
    confidence : (m,) array
        The share of the votes, times the share of the cell's weight that the plan matches.
    """
    check_count(k, "k")
    check_number(least, "least", low=0, high=1)
    known = take_labels(source, key, "source")
    votes = np.flatnonzero(known != "")
    if not len(votes):
        raise InputError(f"source: expected labels in obs[{key!r}], got none")
    best, share = vote(take_joint(source, "source")[votes], known[votes], take_joint(target, "target"), k)
    confidence = share * matched_share(target)
    labels = np.where(confidence >= least, best, UNKNOWN)
    if to is not None:
        target.obs[to] = labels
        target.obs[f"{to}_confidence"] = confidence
    return labels, confidence


def vote(source: Floats, labels: Floats, target: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the label (m,) that most of the k nearest of source (n, d) give each of target (m, d), and its share (m,)."""
    near, _ = nearest_cells(target, source, k)
    names, codes = np.unique(labels, return_inverse=True)
    count = np.zeros((len(near), len(names)))
    np.add.at(count, (np.arange(len(near))[:, None], codes[near]), 1 / near.shape[1])
    return names[count.argmax(1)], count.max(1)


def barycentre(source: Any, target: Any, values: Any = None) -> Any:
    """Give cells of ``source`` the mean features of their matches in ``target``: (n, p).

    Parameters
    ----------
    source, target : AnnData, aligned by :func:`invarot.cells.align`
    values : (m, p) array or sparse matrix, optional
        One row per cell of ``target``; by default ``target.X``.

    Returns
    -------
    (n, p) array, or a sparse matrix if ``values`` is one
        NaN for cells that the plan matches with none (zero if sparse).
    """
    plan = take_plan(source, target)
    values = target.X if values is None else values
    if values is None or values.shape[0] != plan.shape[1]:
        got = "no values" if values is None else f"{values.shape[0]} rows"
        raise InputError(f"values: expected one row for each of the {plan.shape[1]} cells of target, got {got}")
    mass = np.asarray(plan.sum(1)).ravel()
    sums = scipy.sparse.diags(1 / np.where(mass > 0, mass, 1.0)) @ plan @ values
    if scipy.sparse.issparse(sums):
        return sums.tocsr()
    sums = np.asarray(sums)
    sums[mass == 0] = np.nan
    return sums


def take_plan(source: Any, target: Any) -> Any:
    """Return the sparse plan from the cells of ``source`` to those of ``target``."""
    for table, name in ((source, "source"), (target, "target")):
        check_anndata(table, name)
        if PLAN not in table.obsm:
            raise InputError(f"{name}: expected obsm[{PLAN!r}], got none; run cells.align(rna, atac) first")
    plan = scipy.sparse.csr_matrix(source.obsm[PLAN])
    if plan.shape[1] != target.n_obs:
        raise InputError(
            f"target: expected the {plan.shape[1]} cells that source was aligned with, got {target.n_obs}; align again"
        )
    return plan


def matched_share(table: Any) -> np.ndarray[Any, Any]:
    """Return the share (n,) of each cell's weight that the plan matches: 1 where every cell has a counterpart."""
    if MATCHED not in table.obs:
        return np.ones(table.n_obs)
    return np.asarray(table.obs[MATCHED], dtype=np.float64)
