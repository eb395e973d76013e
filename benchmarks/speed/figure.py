"""The benchmark as a picture: the plan step of every library, the scaling, where a solve spends its time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from invarot.errors import MissingExtra

from .problems import Row

OURS, OTHERS, LINE = "#0b6e4f", "#9aa5b1", "#d1495b"


def draw(path: Path, plans: list[Row], curve: list[Row], profile: list[Row], title: str) -> None:
    """Four panels in one PNG, one scale each."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtra("the figure of the benchmark", "bench") from error
    figure, ((first, second), (third, fourth)) = plt.subplots(2, 2, figsize=(12.5, 7.4), layout="constrained")
    _dots(first, plans)
    first.set_title(title, fontsize=10)
    _parts(second, profile)
    _curve(third, curve, "seconds", 1.0, 2.0, "scaling of the streamed solve: seconds of one outer step")
    _curve(fourth, curve, "peak", 2.0**20, 1.0, "the same: peak memory of the process, MiB")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _dots(axes: Any, plans: list[Row]) -> None:
    """Draw seconds as dots: a logarithmic axis has no zero for bars to begin at."""
    done = [row for row in plans if row.get("seconds")][::-1]
    times = [row["seconds"] for row in done]
    for k, row in enumerate(done):
        ours = row["what"].startswith("invarot")
        mark = "*" if row["note"].startswith("computed") else "†" if row["note"] else ""
        axes.plot(row["seconds"], k, "o" if ours else "s", color=OURS if ours else OTHERS)
        axes.text(row["seconds"] * 1.25, k, f"{row['seconds']:.3g} s{mark}", va="center", fontsize=8)
    axes.set_yticks(range(len(done)), [row["what"] for row in done])
    axes.set_xscale("log")
    axes.set_xlim(min(times) / 2, max(times) * 6)
    axes.tick_params(axis="y", labelsize=8)
    axes.grid(axis="x", color="#e6e6e6")
    axes.set_xlabel("seconds (* computed from a few iterations, † not at that error)", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _curve(axes: Any, curve: list[Row], key: str, unit: float, power: float, title: str) -> None:
    points = sorted((row["n"], row[key] / unit) for row in curve if row.get("d") == 300)
    n, values = (np.asarray(part, dtype=float) for part in zip(*points, strict=True))
    axes.loglog(n, values, "o-", color=OURS)
    axes.loglog(n, values[-1] * (n / n[-1]) ** power, ":", color=OTHERS)
    axes.annotate(f"n{'²' if power == 2 else ''}", (n[1], values[-1] * (n[1] / n[-1]) ** power), xytext=(6, -10),
                  textcoords="offset points", fontsize=8, color="#555555")  # fmt: skip
    for place, value in zip(n, values, strict=True):
        axes.annotate(f"{value:.2g}" if value < 100 else f"{value:.0f}", (place, value), xytext=(-4, 7),
                      textcoords="offset points", fontsize=8, ha="right")  # fmt: skip
    axes.margins(x=0.12)  # the first label stands left of its point
    axes.set_xlabel("n = m, d = 300, streamed", fontsize=8)
    axes.set_xticks(n, [f"{size / 1000:g}k" for size in n])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _parts(axes: Any, profile: list[Row]) -> None:
    rows = [row for row in profile if row["what"] != "the solve"][::-1]
    colours = [LINE if row["what"].startswith("floor") else OURS for row in rows]
    axes.barh([row["what"] for row in rows], [row["seconds"] for row in rows], color=colours, height=0.7)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlabel("seconds", fontsize=8)
    axes.set_title("a full alignment, where the time goes", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
