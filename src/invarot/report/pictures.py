"""Pictures of an alignment and of its history, with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..alignment.history import History
from ..alignment.result import Alignment
from ..checks import check_count
from ..errors import InputError, MissingExtra
from .views import View, default_axes, view_alignment

SOURCE, TARGET, LINE = "#d1495b", "#1f6f8b", "#555555"  # red on blue: told apart by their lightness too
STEPS = (
    ("objective", "objective", "linear"),
    ("epsilon", "epsilon", "log"),
    ("map_change", "change of the map", "log"),
    ("plan_change", "change of the plan", "log"),
)


def draw_alignment(result: Alignment, *, axes: int | None, points: int, lines: int) -> Any:
    """Draw two panels, before and after; see :meth:`invarot.Alignment.plot`."""
    if axes not in (None, 2, 3):
        raise InputError(f"axes: expected 2, 3 or None, got {axes!r}; leave axes out")
    count = default_axes(result) if axes is None else axes
    view = view_alignment(result, axes=count, points=check_count(points, "points"))
    pyplot = load_pyplot()
    figure = pyplot.figure(figsize=(9, 4.6), layout="constrained")
    kind = {"projection": "3d"} if count == 3 else {}
    panels = [figure.add_subplot(1, 2, number, **kind) for number in (1, 2)]
    told = "before" if view.shared else "before: unrelated axes"
    for panel, places, title, joined in (
        (panels[0], view.before, told, view.shared),
        (panels[1], view.after, "after", True),
    ):
        if joined:
            _draw_lines(panel, places, view.match, check_count(lines, "lines", low=0))
        _draw_clouds(panel, places, view)
        panel.set_title(title + (", principal axes" if view.principal else ""), loc="left", fontsize=11)
        _clear(panel, count)
    _describe(figure, result, view)
    return figure


def draw_history(history: History) -> Any:
    """Draw what every step of the chosen start did; see :meth:`invarot.History.plot`."""
    figure = load_pyplot().figure(figsize=(9, 4.6), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    steps = np.arange(1, len(history) + 1)
    starts = [i for i, step in enumerate(history) if i and step.stage != history[i - 1].stage]
    for panel, (key, title, scale) in zip(panels.ravel(), STEPS, strict=True):
        values = np.asarray(history[key], dtype=float)
        if scale == "log":
            values = np.where(values > 0, values, np.nan)
        panel.plot(steps, values, color=TARGET, marker="o", markersize=3, linewidth=1.4)
        for start in starts:
            panel.axvline(start + 0.5, color="#bbbbbb", linestyle=":", linewidth=1)
        if scale == "log" and np.isfinite(values).any():
            panel.set_yscale("log")
        panel.set_title(title, loc="left", fontsize=11)
        panel.grid(color="#eeeeee", linewidth=0.7)
        panel.spines[["top", "right"]].set_visible(False)
    for panel in panels[1]:
        panel.set_xlabel("step")
        panel.xaxis.get_major_locator().set_params(integer=True)
    return figure


def load_pyplot() -> Any:
    """Return matplotlib.pyplot, so that a picture appears where the user's backend shows it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtra("a picture", "report") from error
    return pyplot


def _draw_lines(panel: Any, places: tuple[Any, Any], match: Any, most: int) -> None:
    rows = np.flatnonzero(match >= 0)
    for i in rows[:: max(1, len(rows) // most)][:most] if most else ():
        ends = np.stack([places[0][i], places[1][match[i]]])
        panel.plot(*ends.T, color=LINE, linewidth=0.7, alpha=0.35, zorder=1)


def _draw_clouds(panel: Any, places: tuple[Any, Any], view: View) -> None:
    size = float(np.clip(6000 / max(len(places[0]), 1), 3, 14))
    marks = (SOURCE, "o", 2.5 * size), (TARGET, "D", size)  # a larger disc is seen around the target on top of it
    for cloud, matched, (colour, marker, size) in zip(places, view.matched, marks, strict=True):
        solid, hollow = cloud[matched], cloud[~matched]
        panel.scatter(*solid.T, s=size, color=colour, marker=marker, linewidths=0, alpha=0.75, zorder=2)
        if len(hollow):
            panel.scatter(
                *hollow.T, s=size, facecolors="none", edgecolors=colour, marker=marker, linewidths=0.6, alpha=0.6
            )


def _clear(panel: Any, count: int) -> None:
    """Set equal scales and quiet axes."""
    panel.set_aspect("equal")
    if count == 3:
        panel.tick_params(labelbottom=False, labelleft=False, labelright=False)
        return
    panel.set(xticks=[], yticks=[])
    panel.margins(0.05)
    for spine in panel.spines.values():
        spine.set_color("#cccccc")


def _describe(figure: Any, result: Alignment, view: View) -> None:
    """Name the marks, and say what came out."""
    from matplotlib.lines import Line2D

    marks = [(SOURCE, "o", SOURCE, "source"), (TARGET, "D", TARGET, "target")]
    if not all(one.all() for one in view.matched):
        marks.append(("#777777", "o", "none", "hollow: no counterpart"))
    handles = [
        Line2D([], [], marker=marker, linestyle="", color=edge, markerfacecolor=face, label=label, markersize=5)
        for edge, marker, face, label in marks
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    verdict = result.verdict
    more = "" if result.overlap is None else f" · overlap {result.overlap[0]:.0%} and {result.overlap[1]:.0%}"
    figure.suptitle(f"{verdict.word}, probability {verdict.probability:.2f}{more}", x=0.01, ha="left", fontsize=12)
