"""A picture of a registration: both clouds before and after, seen along the target's shortest principal axis."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtra
from ..files import write_file
from .cloud import Floats, as_cloud
from .registration import Registration

FORMATS = (".png", ".pdf", ".svg")
SOURCE, TARGET = "#d1495b", "#1f6f8b"  # red on blue: told apart by their lightness too
POINTS_DRAWN = 20_000  # points of a cloud
SOLID, FAINT = 0.75, 0.18  # opacity of a point with a counterpart, and of one without
MATCHED_WEIGHT = 0.5  # weight from which a point counts as matched
FRAMED_SHARE = 0.99  # share of the points within the frame: few strays would shrink the rest


def draw_registration(path: str | os.PathLike[str], source: Any, target: Any, found: Registration) -> Path:
    """Write a picture of both clouds before and after (.png, .pdf or .svg); points without a counterpart are faint.

    ``source`` and ``target`` are what :func:`register` was called with. Needs the extra ``report``.
    """
    path = Path(path)
    check_picture(path)
    figure_class = load_figure()
    moving, fixed = as_cloud(source, "source").points, as_cloud(target, "target").points
    centre, axes = find_view(fixed)
    figure = figure_class(figsize=(11, 6.2), dpi=140, layout="constrained")
    panels = figure.subplots(1, 2)
    for panel, points, title in zip(panels, (moving, found.moved.points), ("before", "after"), strict=True):
        shown = [(fixed, found.matched_target, TARGET), (points, found.matched_source, SOURCE)]
        flat = [((cloud - centre) @ axes, weights, colour) for cloud, weights, colour in shown]
        _scatter(panel, flat)
        _frame(panel, [place for place, _, _ in flat])
        panel.set_title(title, loc="left", fontsize=12)
    _describe(figure, found)
    content = BytesIO()
    figure.savefig(content, format=path.suffix[1:].lower(), facecolor="white")
    with write_file(path) as stream:
        stream.write(content.getvalue())
    return path


def check_picture(path: Path) -> None:
    """Raise unless a picture can be written to ``path``."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f"{path}: expected a picture ({', '.join(FORMATS)}), got {path.suffix or 'no suffix'}; name it so"
        )
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: expected a file in a folder that exists, got none; create {path.parent} first")


def load_figure() -> Any:
    """Return matplotlib's Figure, which needs no display."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("a picture", "report") from error
    return Figure


def find_view(points: Floats) -> tuple[Floats, Floats]:
    """Return the centre of a cloud (3,) and its two longest principal axes (3, 2), each with its largest entry positive."""
    centre = points.mean(axis=0)
    axes = np.linalg.eigh(np.cov((points - centre).T))[1][:, :0:-1]
    largest = np.take_along_axis(axes, np.argmax(np.abs(axes), axis=0)[None], axis=0)
    return centre, axes * np.where(largest < 0, -1, 1)


def _scatter(panel: Any, clouds: list[tuple[Floats, Floats, str]]) -> None:
    """Draw some points of every cloud, in mixed order so that none hides another."""
    from matplotlib.colors import to_rgb

    rng = np.random.default_rng(0)
    places, colours = [], []
    for place, weights, colour in clouds:
        drawn = rng.permutation(len(place))[:POINTS_DRAWN]
        opacity = np.where(weights[drawn] >= MATCHED_WEIGHT, SOLID, FAINT)
        places.append(place[drawn])
        colours.append(np.column_stack([np.tile(to_rgb(colour), (len(drawn), 1)), opacity]))
    order = rng.permutation(sum(map(len, places)))
    size = float(np.clip(18_000 / len(order), 1.6, 14))
    rows = np.concatenate(places)[order]
    panel.scatter(*rows.T, s=size, color=np.concatenate(colours)[order], linewidths=0, rasterized=True)


def _frame(panel: Any, clouds: list[Floats]) -> None:
    """Set equal scales and a square frame that holds nearly all points of every cloud."""
    tail = (1 - FRAMED_SHARE) / 2
    low = np.min([np.quantile(cloud, tail, axis=0) for cloud in clouds], axis=0)
    high = np.max([np.quantile(cloud, 1 - tail, axis=0) for cloud in clouds], axis=0)
    middle, half = (low + high) / 2, 0.56 * float(np.max(high - low)) or 1.0
    panel.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half), aspect="equal")
    panel.tick_params(length=0, labelsize=8, labelcolor="#777777")
    panel.grid(color="#eeeeee", linewidth=0.7)
    panel.set_axisbelow(True)
    for spine in panel.spines.values():
        spine.set_color("#cccccc")


def _describe(figure: Any, found: Registration) -> None:
    """Name the colours, and say what came out."""
    from matplotlib.lines import Line2D

    entries = [(SOURCE, 1.0, "source"), (TARGET, 1.0, "target")]
    if min(found.matched_source.min(), found.matched_target.min()) < MATCHED_WEIGHT:
        entries.append(("#777777", 2 * FAINT, "faint: no counterpart"))
    dots = [
        Line2D([], [], marker="o", linestyle="", color=colour, alpha=opacity, label=label)
        for colour, opacity, label in entries
    ]
    figure.legend(handles=dots, loc="outside lower center", ncols=len(dots), frameon=False)
    figure.suptitle(
        f"{found.verdict.word} · overlap {found.overlap[0]:.0%} of the source, {found.overlap[1]:.0%} of the target · "
        f"RMSE {found.rmse:.3g}",
        fontsize=12,
    )
