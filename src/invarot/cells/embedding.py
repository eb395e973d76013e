"""The joint embedding: both assays in one space, and new cells in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import to_numpy, unit_rows
from ..errors import InputError
from .graph import nearest_cells
from .preparation import scale_rows
from .tables import JOINT, KEY, check_anndata, take_embedding, take_joint

Floats = np.ndarray[Any, Any]
Views = dict[str, Floats]

PLACING_NEIGHBOURS = 5  # that place a new cell
SHARED = 0.25  # power of the singular values


def meet(plan: Any, x: Views, y: Views) -> tuple[Floats, Floats]:
    """Return both assays in one space (n, d), (m, d): every cell half way to the barycentre of its matches.

    A map alone leaves what no rigid map can undo, and the plan alone moves one side only. A cell with less mass in the
    plan than its weight moves by that share. The axes of each view are the singular vectors of the matched moment, scaled
    by the fourth root of its singular values: directions that the assays share count more. The graph view helps to find
    the plan and is left out here, unless it is the only one: its paths are coarser than the cells.
    """
    plan = plan.on_host()
    rows, columns = (to_numpy(one) for one in plan.marginals())
    names = [one for one in x if one != "graph"] or list(x)
    sums = _apply_to_all(plan.apply, [y[name] for name in names])
    others = _apply_to_all(plan.apply_transposed, [x[name] for name in names])
    left, right = [], []
    for name, from_y, from_x in zip(names, sums, others, strict=True):
        u, s, vt = np.linalg.svd(x[name].T @ from_y, full_matrices=False)
        strength = (s / (s[0] or 1.0)) ** SHARED
        left.append(_half_way(x[name] @ u * strength, from_y @ vt.T * strength, rows))
        right.append(_half_way(y[name] @ vt.T * strength, from_x @ u * strength, columns))
    return np.hstack(left), np.hstack(right)


def _apply_to_all(apply: Callable[[Floats], Any], views: list[Floats]) -> list[Floats]:
    """Return the plan times each view; the plan, which may not be in memory, is gone through once."""
    edges = np.cumsum([view.shape[1] for view in views])[:-1]
    return np.split(to_numpy(apply(np.hstack(views))), edges, axis=1)


def _half_way(points: Floats, sums: Floats, mass: Floats) -> Floats:
    safe = np.where(mass > 0, mass, 1.0)[:, None]
    share = np.clip(mass * len(mass), 0, 1)[:, None]
    return points + share * (sums / safe - points) / 2


def embed(table: Any, *, like: Any, use: str | None = None) -> Floats:
    """Place new cells of one assay in the joint space of an alignment, and write ``obsm["X_invarot"]``.

    Parameters
    ----------
    table : AnnData
        New cells, with the same embedding as the aligned ones.
    like : AnnData
        Cells of the same assay that were aligned. A new cell is placed at the mean of its five nearest of them.
    use : str, optional
        The embedding; by default the one that was aligned.

    Returns
    -------
    (n, d) array
    """
    check_anndata(table, "table")
    joint = take_joint(like, "like")
    facts = like.uns[KEY]
    key = use or str(facts["use"])
    x, old = take_embedding(table, key, "table"), take_embedding(like, key, "like")
    if x.shape[1] != old.shape[1]:
        raise InputError(f"table: expected {old.shape[1]} columns in {key!r}, as in like, got {x.shape[1]}")
    placed = place_cells(x, old, joint, rows=str(facts["rows"]))
    table.obsm[JOINT] = placed
    return placed


def place_cells(x: Floats, old: Floats, joint: Floats, *, rows: str) -> Floats:
    """Return new cells x (n, p) at the mean (n, d) of the nearest of the aligned cells old (k, p), which lie at joint (k, d).

    ``rows``: how both are scaled first. A cell that was aligned stays where it is.
    """
    x, old = (scale_rows(one, rows) for one in (x, old))
    centre = old.mean(0)
    near, distances = nearest_cells(
        to_numpy(unit_rows(x - centre)), to_numpy(unit_rows(old - centre)), PLACING_NEIGHBOURS
    )
    placed: Floats = joint[near].mean(1)
    same = distances[:, 0] <= 1e-6
    placed[same] = joint[near[same, 0]]
    return placed
