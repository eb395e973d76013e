"""Style of all figures: plain axes, and lines that differ by dash and marker, also readable in greyscale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import MissingExtra
from .findings import Interval, estimate
from .run import Row

GOOD, BAD, INK = "#1b7f4d", "#c8352b", "#333333"

# color, dash, marker: in order of lightness
LOOKS = (
    ("#1f3b73", "-", "o"),
    ("#c8553d", "--", "s"),
    ("#2a9d8f", "-.", "^"),
    ("#8a6fb0", ":", "D"),
    ("#e0a030", (0, (5, 1, 1, 1, 1, 1)), "v"),
    ("#777777", (0, (1, 2)), "x"),
    ("#4fa3d8", (0, (7, 2)), "P"),
)


def load_pyplot() -> Any:
    """Return matplotlib.pyplot without a display, in our style."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtra("a figure", "report") from error
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    pyplot.rcParams.update(
        {
            "figure.dpi": 110,
            "savefig.dpi": 160,
            "savefig.bbox": "tight",
            "svg.hashsalt": "invarot",
            "font.size": 9.5,
            "axes.titlesize": 10.5,
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": "#888888",
            "axes.grid": True,
            "grid.color": "#e6e6e6",
            "grid.linewidth": 0.7,
            "axes.axisbelow": True,
            "lines.linewidth": 1.7,
            "lines.markersize": 4.5,
            "legend.frameon": False,
            "legend.handlelength": 2.8,
        }
    )
    return pyplot


def look(number: int) -> dict[str, Any]:
    """Return color, dash and marker of the n-th series."""
    color, dash, marker = LOOKS[number % len(LOOKS)]
    return {"color": color, "linestyle": dash, "marker": marker}


def typeset(name: str) -> str:
    """Return a name with l_p and F_p as mathematics, for a figure."""
    for plain, maths in (("l_∞", r"$\ell_\infty$"), ("l_2", r"$\ell_2$"), ("F_∞", r"$F_\infty$"), ("F_2", "$F_2$")):
        name = name.replace(plain, maths)
    return name


def mean_and_sd(rows: Iterable[Row], x: str, y: str) -> tuple[list[Any], list[float], list[float]]:
    """Return the sorted values of ``x``, and mean and standard deviation of ``y`` at each (NaN skipped)."""
    groups: dict[Any, list[float]] = {}
    for row in rows:
        if row.get(y) is not None and np.isfinite(row[y]):
            groups.setdefault(row[x], []).append(float(row[y]))
    keys = sorted(groups)
    return keys, [float(np.mean(groups[key])) for key in keys], [float(np.std(groups[key])) for key in keys]


def plot_series(
    axis: Any, rows: Sequence[Row], x: str, y: str, label: str, number: int, *, bars: bool = True, aside: float = 0.0,
    interval: bool = False,
) -> None:  # fmt: skip
    """Plot the mean of ``y`` against ``x``, with one standard deviation as error bar if there are several runs.

    ``interval`` draws the 95 % interval of the mean instead.
    ``aside`` shifts the series to the right, in points, so that error bars do not overlap.
    """
    keys, means, deviations = mean_and_sd(rows, x, y)
    if not keys:
        return
    if interval:
        found = [estimate(row[y] for row in rows if row[x] == key and row.get(y) is not None) for key in keys]
        deviations = [one.high - one.mean if np.isfinite(one.high) else 0.0 for one in found]
    error = deviations if bars and any(deviations) else None
    place = axis.transData
    if aside:
        from matplotlib.transforms import ScaledTranslation

        place = place + ScaledTranslation(aside / 72, 0, axis.figure.dpi_scale_trans)
    axis.errorbar(keys, means, yerr=error, label=label, capsize=2.5, elinewidth=0.9, transform=place, **look(number))


def make_panels(pyplot: Any, count: int, rows: int, *, margin: float, width: float, height: float) -> tuple[Any, Any]:
    """Return a figure and its axes (lines, columns): ``count`` panels of so many rows, three in a line at most.

    Sizes are inches: the margin for the names of the rows, the width of a panel, the height of a row.
    """
    columns = min(3, count)
    lines = -(-count // columns)
    size = margin + width * columns, (height * rows + 0.9) * lines
    figure, axes = pyplot.subplots(lines, columns, figsize=size, sharey=True, squeeze=False)
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    return figure, axes


def dot_rows(
    axis: Any, names: Sequence[str], series: Mapping[str, Mapping[Any, Interval]], *, near: float | None = None
) -> None:
    """Draw one line of dots with intervals per name, the series side by side; the axis does not begin at zero.

    ``near`` cuts the axis at this share of the median: means below it are written at the edge, so that the others can be
    told apart, and intervals end at the edges.
    """
    means = [one.mean for values in series.values() for one in values.values() if one.count]
    low = near * float(np.median(means)) if near is not None and means else -np.inf
    for number, (label, values) in enumerate(series.items()):
        if not any(one.count for one in values.values()):
            continue
        color, _, marker = LOOKS[number % len(LOOKS)]
        places = [len(names) - 1 - k + 0.6 * (0.5 - (number + 0.5) / len(series)) for k in range(len(names))]
        there = [(one, place) for one, place in zip(values.values(), places, strict=True) if one.count]
        kept = [(one, place) for one, place in there if one.mean >= low]
        reach = [one.high - one.mean if np.isfinite(one.high) else 0.0 for one, _ in kept]
        axis.errorbar([one.mean for one, _ in kept], [place for _, place in kept], xerr=reach, fmt=marker, color=color,
                      markersize=4.6, markerfacecolor="white" if number % 2 else color, elinewidth=1.0, label=label)  # fmt: skip
        for one, place in there:
            if one.mean < low:
                axis.annotate(f"◂ {one.mean:.0f}", (0.01 + 0.17 * number, place), xycoords=("axes fraction", "data"),
                              color=color, fontsize=7.5, va="center")  # fmt: skip
    if np.isfinite(low):
        highs = [one.high for values in series.values() for one in values.values() if np.isfinite(one.high)]
        top = max([max(means), *(high for high in highs if high < 1.15 * max(means))])  # very long intervals are cut
        axis.set_xlim(low - 0.02 * (top - low), top + 0.04 * (top - low))
    axis.set_yticks(range(len(names)), list(names)[::-1])
    axis.set_ylim(-0.6, len(names) - 0.4)
    for k in range(len(names) - 1):
        axis.axhline(k + 0.5, color="#eeeeee", linewidth=0.8, zorder=0)
    axis.grid(visible=False, axis="y")


def add_legend(axes: Any) -> None:
    """Add one legend for a grid of axes, beside its first line: every series that one of them has."""
    found: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    axes[0, -1].legend(found.values(), found, loc="upper left", bbox_to_anchor=(1.01, 1.0))


def footnote(figure: Any, text: str) -> None:
    """Add a line of text below the axes."""
    figure.text(0.01, -0.02, text, fontsize=8, color="#666666", ha="left", va="top")
