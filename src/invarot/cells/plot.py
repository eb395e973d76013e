"""A picture of an alignment: each assay before, both together after."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import MissingExtra
from .tables import KEY, take_embedding, take_joint, take_labels

Floats = np.ndarray[Any, Any]

COLOURS = (
    "#2563c4", "#d9730d", "#2f9e58", "#c0392b", "#8258c9", "#8a6d3b", "#d6589f", "#5f6b7a", "#a8a227", "#1fa3b5",
)  # fmt: skip
SIDES = ("#2563c4", "#d9730d")
GREY = "#9aa3af"
WORD_COLOURS = {"aligned": "#12703a", "coarse": "#12703a", "doubtful": "#855400", "failed": "#b3261e"}
LISTED = 12  # labels in the legend


def plot(rna: Any, atac: Any, *, color: str | None = None, names: tuple[str, str] = ("RNA", "ATAC")) -> Any:
    """Draw both assays before and after the alignment; return the matplotlib figure (extra: report).

    Above: the two leading principal axes of each embedding as it was, coloured by label. Below: those of the joint space,
    coloured by label and by assay; the verdict is in the corner.

    Parameters
    ----------
    rna, atac : AnnData, aligned by :func:`invarot.cells.align`
    color : str, optional
        A column of obs with labels, in either table or both. Without it the cells of the upper row are coloured by assay.
    names : (str, str)
        Of the assays, for the titles.

    Examples
    --------
    >>> cells.plot(rna, atac, color="cell_type").savefig("joint.png")  # doctest: +SKIP
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("cells.plot", "report") from error
    tables = (rna, atac)
    joint = [take_joint(table, name) for table, name in zip(tables, ("rna", "atac"), strict=True)]
    before = [
        take_embedding(table, str(table.uns[KEY]["use"]), name)
        for table, name in zip(tables, ("rna", "atac"), strict=True)
    ]
    labels, kinds = _labels(tables, color)

    figure = Figure(figsize=(10.5, 9.4), dpi=110, layout="constrained")
    axes = figure.subplots(2, 2)
    for axis, points, own, name, side in zip(axes[0], before, labels, names, SIDES, strict=True):
        coloured = _by_label(own, kinds) if kinds else [side] * len(points)
        _scatter(
            axis, [(_plane(points), coloured, "o")], f"{name} before: {len(points):,} cells, {points.shape[1]} axes"
        )
    both = _plane(np.vstack(joint))
    halves = both[: len(joint[0])], both[len(joint[0]) :]
    plain = [[side] * len(half) for side, half in zip(SIDES, halves, strict=True)]
    labelled = [_by_label(own, kinds) for own in labels] if kinds else plain
    marks = ("o", "^")
    _scatter(axes[1, 0], list(zip(halves, labelled, marks, strict=True)), f"both after, by {color or 'assay'}")
    _scatter(axes[1, 1], list(zip(halves, plain, marks, strict=True)), "both after, by assay")
    _legend(figure, axes, kinds, names)
    verdict = rna.uns[KEY]["verdict"]
    axes[1, 1].text(
        0.98, 0.98, f"{verdict['word']} ({float(verdict['probability']):.2f})", transform=axes[1, 1].transAxes, ha="right", va="top",
        color=WORD_COLOURS.get(str(verdict["word"]), GREY), fontsize=11, fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": "#d8dde5", "boxstyle": "round,pad=0.35"},
    )  # fmt: skip
    return figure


def _labels(tables: tuple[Any, Any], color: str | None) -> tuple[list[np.ndarray[Any, Any]], list[str]]:
    """Return the labels of the cells of both sides ("" where there is none), and all labels, most frequent first."""
    if color is None:
        return [np.full(table.n_obs, "") for table in tables], []
    if not any(color in table.obs for table in tables):
        take_labels(tables[0], color, "color")  # raises, and names the columns that are there
    found = [take_labels(t, color, "color") if color in t.obs else np.full(t.n_obs, "") for t in tables]
    names, counts = np.unique(np.concatenate(found), return_counts=True)
    return found, [str(name) for name in names[np.argsort(-counts)] if name != ""]


def _by_label(own: np.ndarray[Any, Any], kinds: list[str]) -> list[str]:
    shown = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(kinds)}
    return [shown.get(str(one), GREY) for one in own]


def _plane(points: Floats) -> Floats:
    """Return the two leading principal coordinates (n, 2)."""
    centred = points - points.mean(0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    plane = centred @ axes[:, -1:-3:-1]
    return plane if plane.shape[1] == 2 else np.column_stack([plane, np.zeros(len(plane))])


def _scatter(axis: Any, layers: list[tuple[Floats, list[str], str]], title: str) -> None:
    points = np.vstack([layer[0] for layer in layers])
    colours = np.concatenate([layer[1] for layer in layers])
    owner = np.repeat(np.arange(len(layers)), [len(layer[0]) for layer in layers])
    order = np.random.default_rng(0).permutation(len(points))  # so that no side covers the other
    size = float(np.clip(9000 / len(points), 2, 16))
    for chunk in np.array_split(order, min(20, len(order))):
        for i, (_, _, mark) in enumerate(layers):
            rows = chunk[owner[chunk] == i]
            axis.scatter(
                *points[rows].T,
                c=colours[rows].tolist(),
                s=size,
                marker=mark,
                linewidths=0,
                alpha=0.75,
                rasterized=True,
            )
    axis.set_title(title, fontsize=11, loc="left")
    axis.set_xticks([])
    axis.set_yticks([])
    for edge in axis.spines.values():
        edge.set_color("#d8dde5")


def _legend(figure: Any, axes: Any, kinds: list[str], names: tuple[str, str]) -> None:
    from matplotlib.lines import Line2D

    def handle(name: str, colour: str, mark: str) -> Any:
        return Line2D([], [], linestyle="", marker=mark, color=colour, markersize=6, label=name)

    sides = [handle(name, colour, mark) for name, colour, mark in zip(names, SIDES, ("o", "^"), strict=True)]
    axes[1, 1].legend(handles=sides, loc="lower right", fontsize=9, framealpha=0.9)
    if kinds:
        shown = [handle(name, COLOURS[i % len(COLOURS)], "s") for i, name in enumerate(kinds[:LISTED])]
        if len(kinds) > LISTED:
            shown.append(handle(f"and {len(kinds) - LISTED} more", GREY, "s"))
        figure.legend(handles=shown, loc="outside lower center", ncols=min(6, len(shown)), fontsize=9, frameon=False)
