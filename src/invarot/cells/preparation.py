"""Prepare one assay: rows without their length where lengths are noise, then views that do not share their faults."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import to_numpy, unit_rows
from .graph import graph_coordinates, neighbour_means

Floats = np.ndarray[Any, Any]

VIEWS = ("linear", "cosine", "graph")
ROW_KINDS = ("as is", "unit", "roots")
NOISE_NEIGHBOURS = 10  # from whose mean a cell differs by its noise
NOISY = 5.0  # lengths this many times as noisy as any other direction are depth, not biology


def length_noise(x: Floats) -> float:
    """Return how noisy the lengths of rows (n, d) are, relative to the noise along any other direction.

    The residual of the log length from that of the nearest neighbours (by cosine), squared, over the residual of the
    direction, squared and per direction. Noise that is alike in all directions gives 1 to 4 (neighbours are chosen by
    direction, which lowers its residual); a depth that scales the rows gives 8 to 1,000.
    """
    if x.shape[1] < 2 or len(x) <= NOISE_NEIGHBOURS:
        return 1.0
    length = np.linalg.norm(x, axis=1)
    keep = length > 0
    if keep.sum() <= NOISE_NEIGHBOURS:
        return 1.0
    both = np.column_stack([to_numpy(unit_rows(x[keep])), np.log(length[keep])])
    residual = both - neighbour_means(both[:, :-1], both, NOISE_NEIGHBOURS)
    direction = float((residual[:, :-1] ** 2).sum(1).mean()) / (x.shape[1] - 1)
    return float((residual[:, -1] ** 2).mean()) / max(direction, 1e-12)


def choose_rows(x: Floats, noise: float) -> str:
    """Return how rows (n, d) should be scaled, given the noise of their lengths.

    "as is" if lengths are no noisier than directions; "unit", rows of length 1, if they are; "roots", the square roots of
    the shares of a row (whose distances are Hellinger's), if besides no number is negative: parts of a whole.
    """
    if noise <= NOISY:
        return "as is"
    return "roots" if bool(np.all(x >= 0)) else "unit"


def scale_rows(x: Floats, how: str) -> Floats:
    """Scale the rows of x (n, d): "as is", "unit" or "roots"."""
    if how == "roots":
        total = x.sum(1, keepdims=True)
        return np.sqrt(x / np.where(total > 0, total, 1.0))
    return to_numpy(unit_rows(x)) if how == "unit" else x


def make_views(
    rows: Floats, names: tuple[str, ...], *, rng: np.random.Generator, weights: Floats | None = None
) -> dict[str, Floats]:
    """Return the named views of rows (n, d), each centred (about the weighted mean) with mean square length 1.

    "linear" centres; "cosine" centres and scales rows to length 1; "graph" embeds the shortest paths in the graph of
    nearest neighbours by cosine; "whitened" gives all axes the same variance.
    """
    centred = rows - (rows.mean(0) if weights is None else weights @ rows)
    return {name: _make_view(centred, name, rng) for name in names}


def _make_view(centred: Floats, name: str, rng: np.random.Generator) -> Floats:
    if name == "linear":
        return scale_to_one(centred)
    if name == "cosine":
        return scale_to_one(to_numpy(unit_rows(centred)))
    if name == "graph":
        return scale_to_one(graph_coordinates(to_numpy(unit_rows(centred)), rng=rng))
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    return scale_to_one(u[:, s > 1e-6 * s[0]])


def scale_to_one(x: Floats) -> Floats:
    """Scale so that the mean square length of rows is 1."""
    size = float(np.sqrt((x**2).sum(1).mean()))
    return x / (size or 1.0)


def leading_axes(view: Floats, k: int) -> Floats:
    """Return the coordinates along the ``k`` leading principal axes, of mean square length 1."""
    _, axes = np.linalg.eigh(view.T @ view)
    return scale_to_one(view @ axes[:, : -k - 1 : -1])
