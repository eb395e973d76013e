"""Matching accuracy and error of the map against noise, for true maps of F_2 and of F_∞."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import align, paper
from ..baselines import emd, entropic, oracle
from .clouds import make_cloud, random_map
from .findings import Finding, Interval, both, estimate, is_above, pair_up
from .run import Cell, Context, Experiment, Row
from .style import footnote, plot_series, typeset

FAMILIES = {"F_2": 2.0, "F_∞": math.inf}
SYSTEMS = ("EMD", "Sinkhorn", "l_2", "l_∞", "oracle")
STARTS = ("Algorithm 1", "auto")
SHADES = {"EMD": 5, "l_2": 1, "l_∞": 0, "oracle": 4}  # looks that differ in grey too
EPSILON = 0.01  # of every entropic plan: relative to the mean cost


def cells(context: Context) -> Sequence[Cell]:
    levels = (0.0, 0.2, 0.5) if context.quick else (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
    clouds, count = (6, 40) if context.quick else (30, 80)
    return [
        Cell(f"{family}, noise {level:g}, cloud {k}", partial(measure, family, level, k, count, 20, context.seed))
        for k in range(clouds)
        for family in FAMILIES
        for level in levels
    ]


def measure(family: str, noise: float, cloud: int, count: int, n_starts: int, seed: int) -> list[Row]:
    """Run all systems on one draw; a cloud is the same at every noise level.

    The cloud is white if the true map is in F_2, as the paper's lemma requires, and not if it is orthogonal. ``accuracy``
    matches each point with the largest entry of its row, as the paper does; ``assigned`` matches one to one.
    """
    rng = np.random.default_rng((seed, cloud))
    x = make_cloud(count, 3, rng, whiten=family == "F_2")
    true = random_map(3, FAMILIES[family], rng)
    order = rng.permutation(count)
    disturbance = noise * rng.normal(size=x.shape)
    y, untransformed = (x @ true + disturbance)[order], (x + disturbance)[order]
    answer = np.argsort(order)
    rows = []
    found: dict[tuple[str, str], Any] = {
        ("EMD", "-"): emd(x, y),
        ("Sinkhorn", "-"): entropic(x, y, epsilon=EPSILON),
        ("oracle", "-"): oracle(x, untransformed, epsilon=EPSILON),
    }
    for name, p in (("l_2", 2.0), ("l_∞", math.inf)):
        found[name, STARTS[0]] = align(x, y, rng=cloud, **paper(p=p, n_starts=n_starts))
        found[name, STARTS[1]] = align(x, y, p=p, rng=cloud)
    for (system, start), result in found.items():
        mapped = system.startswith("l_")
        error = float(np.linalg.norm(result.map - true) / np.linalg.norm(true)) if mapped else None
        row = {"family": family, "noise": noise, "cloud": cloud, "system": system, "start": start}
        for name, how in (("accuracy", "plan"), ("assigned", "assignment")):
            row[name] = float(np.mean(np.asarray(result.matches(how)) == answer))
        rows.append(row | {"map_error": error, "verdict": result.verdict.word if mapped else None})
    return rows


def pick(rows: list[Row], start: str, **wanted: Any) -> list[Row]:
    """Return the rows of one kind of start; systems without starts belong to both."""
    return [
        row for row in rows if row["start"] in ("-", start) and all(row[key] == value for key, value in wanted.items())
    ]


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(2, 4, figsize=(12.6, 5.6), sharex=True, sharey="row")
    for column, (start, family) in enumerate((start, family) for start in STARTS for family in FAMILIES):
        for number, system in enumerate(SYSTEMS):
            some = pick(rows, start, family=family, system=system)
            if system == "Sinkhorn":  # coincides with EMD: one line for both
                continue
            label = "EMD, Sinkhorn" if system == "EMD" else typeset(system)
            for axis, value in ((axes[0, column], "accuracy"), (axes[1, column], "map_error")):
                plot_series(axis, some, "noise", value, label, SHADES[system], aside=1.2 * (number - 2), interval=True)
        axes[0, column].set_title(f"true map in {typeset(family)}; {start}")
        axes[1, column].set_xlabel("noise (sd; points have 1)")
    axes[0, 0].set_ylabel("share of points matched right")
    axes[1, 0].set_ylabel(r"error of the map $\|W - P\|/\|P\|$")
    axes[0, 0].set_ylim(-0.03, 1.05)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=4, bbox_to_anchor=(0.5, 0.99))
    count = len({row["cloud"] for row in rows})
    footnote(
        figure,
        f"Mean and its 95 % interval over {count} clouds, drawn slightly offset. Each point is matched with the largest "
        "entry of its row of the plan, as in the paper.\nOracle: entropic OT on the noisy points before the transformation. "
        "Algorithm 1: its annealing, best of 20 random starts by objective.",
    )
    figure.tight_layout()
    return figure


def compare(rows: list[Row], start: str, family: str, left: str, right: str, value: str = "accuracy") -> Interval:
    """Return the difference of two systems, cloud by cloud (each cloud's mean over the noise levels)."""
    some = pick(rows, start, family=family)
    return estimate(pair_up(some, lambda row: row["cloud"], value, of={"system": left}, less={"system": right}))


def judge(rows: list[Row]) -> list[Finding]:
    found = []
    count = len({row["cloud"] for row in rows})

    def show(parts: dict[str, Interval]) -> str:
        return f"{'; '.join(f'{name} {one.show()}' for name, one in parts.items())}; {count} clouds"

    for start in STARTS:
        infinity = compare(rows, start, "F_∞", "l_∞", "l_2")
        two = compare(rows, start, "F_2", "l_2", "l_∞")
        gap = compare(rows, start, "F_2", "oracle", "l_2")
        over = {f"{name} − oracle": compare(rows, start, "F_∞", name, "oracle") for name in ("l_∞", "l_2")}
        fitting = [{**row, "case": case} for case, system in (("F_2", "l_2"), ("F_∞", "l_∞"))
                   for row in pick(rows, start, family=case, system=system)]  # fmt: skip
        harder = estimate(
            pair_up(fitting, lambda row: row["cloud"], "map_error", of={"case": "F_2"}, less={"case": "F_∞"})
        )
        found += [
            Finding(f"l_∞ matches better than l_2 under a rotation [{start}]", show({"l_∞ − l_2": infinity}),
                    is_above(infinity)),
            Finding(f"l_2 matches better than l_∞ under a map of F_2 [{start}]", show({"l_2 − l_∞": two}), is_above(two)),
            Finding(f"l_2 loses to the oracle under a map of F_2 [{start}]", show({"oracle − l_2": gap}), is_above(gap)),
            Finding(f"both beat the oracle under a rotation [{start}]", show(over), both(*map(is_above, over.values()))),
            Finding(f"the map is recovered less well in the F_2 case [{start}]",
                    show({"error of l_2 there − of l_∞ under a rotation": harder}), is_above(harder)),
        ]  # fmt: skip
    return found


EXPERIMENT = Experiment(
    "noise",
    "l_∞ beats l_2 when the true map is orthogonal and vice versa; there is a gap to the oracle for F_2; both beat the "
    "oracle for F_∞.",
    cells, draw, judge,
)  # fmt: skip
