"""A picture of a registration: both clouds before and after, seen along the target's shortest principal axis."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtra
from ..words.writers import write_atomically
from .cloud import Floats, as_cloud
from .registration import Registration

FORMATS = (".png", ".pdf", ".svg")
SOURCE, TARGET = "#d1495b", "#1f6f8b"  # red on blue: told apart by their lightness too
DRAWN = 15_000  # points of a cloud
FAINT = 0.15  # opacity of a point without a counterpart
MATCHED = 0.5  # weight from which a point counts as matched
SHOWN = 0.995  # share of the points within the frame: few strays would shrink the rest


def draw_registration(path: str | os.PathLike[str], source: Any, target: Any, found: Registration) -> Path:
    """Write a picture of both clouds before and after (.png, .pdf or .svg); points without a counterpart are faint.

    ``source`` and ``target`` are what :func:`register` was called with. Needs the extra ``report``.
    """
    path = Path(path)
    check_picture(path)
    figure_class = load_figure()
    moving, fixed = as_cloud(source, "source").points, as_cloud(target, "target").points
    centre, axes = find_axes(fixed)
    figure = figure_class(figsize=(11, 5.6), dpi=140, layout="constrained")
    panels = figure.subplots(1, 2)
    for panel, points, title in zip(panels, (moving, found.moved.points), ("before", "after"), strict=True):
        shown = [(fixed, found.matched_target, TARGET), (points, found.matched_source, SOURCE)]
        flat = [((cloud - centre) @ axes, weights, colour) for cloud, weights, colour in shown]
        for place, weights, colour in flat:
            _scatter(panel, place, weights, colour)
        _frame(panel, [place for place, _, _ in flat])
        panel.set_title(title, loc="left", fontsize=12)
    _describe(figure, found)
    content = BytesIO()
    figure.savefig(content, format=path.suffix[1:].lower(), facecolor="white")
    with write_atomically(path) as stream:
        stream.write(content.getvalue())
    return path


def check_picture(path: Path) -> None:
    """Raise unless a picture can be written to ``path``."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: expected a picture ({', '.join(FORMATS)}), got {path.suffix or 'no suffix'}")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: expected a file in a folder that exists, got none; create {path.parent} first")


def load_figure() -> Any:
    """Return matplotlib's Figure, which needs no display."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("a picture", "report") from error
    return Figure


def find_axes(points: Floats) -> tuple[Floats, Floats]:
    """Return the centre of a cloud (3,) and its two longest principal axes (3, 2), each with its largest entry positive."""
    centre = points.mean(axis=0)
    axes = np.linalg.eigh(np.cov((points - centre).T))[1][:, :0:-1]
    largest = np.take_along_axis(axes, np.argmax(np.abs(axes), axis=0)[None], axis=0)
    return centre, axes * np.where(largest < 0, -1, 1)


def _scatter(panel: Any, place: Floats, weights: Floats, colour: str) -> None:
    drawn = np.random.default_rng(0).permutation(len(place))[:DRAWN]
    size = float(np.clip(9000 / len(drawn), 0.6, 14))
    solid = weights[drawn] >= MATCHED
    for rows, opacity in ((drawn[~solid], FAINT), (drawn[solid], 0.75)):
        panel.scatter(*place[rows].T, s=size, color=colour, alpha=opacity, linewidths=0, rasterized=True)


def _frame(panel: Any, clouds: list[Floats]) -> None:
    """Set equal scales, a frame that holds nearly all points of every cloud, and no ticks but a scale of round length."""
    tail = (1 - SHOWN) / 2
    low = np.min([np.quantile(cloud, tail, axis=0) for cloud in clouds], axis=0)
    high = np.max([np.quantile(cloud, 1 - tail, axis=0) for cloud in clouds], axis=0)
    margin = 0.06 * float(np.max(high - low)) or 1.0
    panel.set_xlim(low[0] - margin, high[0] + margin)
    panel.set_ylim(low[1] - margin, high[1] + margin)
    panel.set_aspect("equal", adjustable="datalim")
    panel.tick_params(length=0, labelsize=8, labelcolor="#777777")
    panel.grid(color="#eeeeee", linewidth=0.7)
    panel.set_axisbelow(True)
    for spine in panel.spines.values():
        spine.set_color("#cccccc")


def _describe(figure: Any, found: Registration) -> None:
    """Name the colours, and say what came out."""
    from matplotlib.lines import Line2D

    dots = [
        Line2D([], [], marker="o", linestyle="", color=colour, alpha=opacity, label=label)
        for colour, opacity, label in (
            (SOURCE, 1, "source"), (TARGET, 1, "target"), ("#777777", 2 * FAINT, "faint: no counterpart"),
        )
    ]  # fmt: skip
    figure.legend(handles=dots, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(
        f"{found.verdict.word} · overlap {found.overlap[0]:.0%} of the source, {found.overlap[1]:.0%} of the target · "
        f"RMSE {found.rmse:.3g}",
        fontsize=12,
    )
