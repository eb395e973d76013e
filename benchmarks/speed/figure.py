"""The benchmark as a picture: the plan step of every library, the scaling, where a solve spends its time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from invarot.errors import MissingExtra

from .problems import Row

OURS, OTHERS, LINE = "#0b6e4f", "#9aa5b1", "#d1495b"


def draw(path: Path, plans: list[Row], curve: list[Row], profile: list[Row], title: str) -> None:
    """Three panels in one PNG."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtra("the figure of the benchmark", "bench") from error
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(15, 4.6), gridspec_kw={"width_ratios": [1.25, 1, 1]}, layout="constrained"
    )
    _bars(left, plans)
    left.set_title(title, fontsize=10)
    _curve(middle, curve)
    _parts(right, profile)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _bars(axes: Any, plans: list[Row]) -> None:
    done = [row for row in plans if row.get("seconds")][::-1]
    times = [row["seconds"] for row in done]
    colours = [OURS if row["what"].startswith("invarot") else OTHERS for row in done]
    axes.barh([row["what"] for row in done], times, color=colours, height=0.7)
    for k, row in enumerate(done):
        mark = "*" if row["note"].startswith("computed") else "†" if row["note"] else ""
        axes.text(row["seconds"] * 1.08, k, f"{row['seconds']:.3g} s{mark}", va="center", fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(min(times) / 2, max(times) * 6)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlabel("seconds (* computed from a few iterations, † not at that error)", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _curve(axes: Any, curve: list[Row]) -> None:
    points = sorted((row["n"], row["seconds"], row["peak"]) for row in curve if row.get("d") == 300)
    n, spent, peak = (np.asarray(part, dtype=float) for part in zip(*points, strict=True))
    axes.loglog(n, spent, "o-", color=OURS)
    axes.loglog(n, spent[-1] * (n / n[-1]) ** 2, ":", color=OURS, alpha=0.6)
    axes.set_ylabel("seconds, one outer step (dotted: n²)", color=OURS, fontsize=8)
    axes.set_xlabel("n = m, d = 300, streamed", fontsize=8)
    other = axes.twinx()
    other.loglog(n, peak / 2**20, "s-", color=LINE)
    other.set_ylabel("peak of the process, MiB", color=LINE, fontsize=8)
    other.set_yscale("linear")
    other.set_ylim(0, 1.1 * peak.max() / 2**20)
    axes.set_xticks(n, [f"{size / 1000:g}k" for size in n])
    axes.minorticks_off()
    axes.set_title("scaling of the streamed solve", fontsize=10)


def _parts(axes: Any, profile: list[Row]) -> None:
    rows = [row for row in profile if row["what"] != "the solve"][::-1]
    colours = [LINE if row["what"].startswith("floor") else OURS for row in rows]
    axes.barh([row["what"] for row in rows], [row["seconds"] for row in rows], color=colours, height=0.7)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlabel("seconds", fontsize=8)
    axes.set_title("a full alignment, where the time goes", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
