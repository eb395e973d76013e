"""A rotated cloud in space: the matches of classic transport and of invariant transport."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import align
from ..baselines import emd
from .clouds import make_cloud, random_orthogonal
from .run import Cell, Context, Experiment, Row
from .style import BAD, GOOD, INK, footnote

SHIFT = 5.0  # of the target, along the first axis, in the drawing
SYSTEMS = ("classic OT (EMD)", "l_∞-invariant OT")


def cells(context: Context) -> Sequence[Cell]:
    count = 24 if context.quick else 40
    repetitions = 2 if context.quick else 20
    return [Cell(f"cloud {k}", partial(measure, context.seed + k, count)) for k in range(repetitions)]


def measure(seed: int, count: int) -> list[Row]:
    """Return one row per edge: the point, its match, whether it is right, and the coordinates of both."""
    rng = np.random.default_rng(seed)
    x = make_cloud(count, 3, rng)
    turn = random_orthogonal(3, rng)
    y = x @ turn
    rows = []
    for system in SYSTEMS:
        found = emd(x, y) if system == SYSTEMS[0] else align(x, y, rng=seed)
        for i, j in enumerate(np.asarray(found.matches())):
            places = {f"{name}{axis}": float(value) for name, point in (("x", x[i]), ("y", y[j]))
                      for axis, value in enumerate(point)}  # fmt: skip
            rows.append(
                {"seed": seed, "system": system, "source": i, "target": int(j), "right": bool(i == j), **places}
            )
    return rows


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure = pyplot.figure(figsize=(9.2, 4.0))
    first = rows[0]["seed"]
    for number, system in enumerate(SYSTEMS):
        axis = figure.add_subplot(1, 2, number + 1, projection="3d")
        edges = [row for row in rows if row["system"] == system and row["seed"] == first]
        for row in edges:
            ends = [
                [row[f"{name}{axis_}"] + (SHIFT if name == "y" and axis_ == 0 else 0) for name in "xy"]
                for axis_ in range(3)
            ]
            style = (
                {"color": GOOD, "linewidth": 1.1, "clip_on": False}
                if row["right"]
                else {"color": BAD, "linewidth": 0.9, "linestyle": ":", "clip_on": False}
            )
            axis.plot(*ends, **style)
            axis.scatter(*[[end[0]] for end in ends], color=INK, s=12, marker="o", clip_on=False)
            axis.scatter(*[[end[1]] for end in ends], color="#999999", s=14, marker="^", clip_on=False)
        share = np.mean([row["right"] for row in edges])
        axis.set_title(f"{system}: {share:.0%} right")
        axis.set_axis_off()
        axis.set_box_aspect((1.7, 1, 1), zoom=1.6)
        axis.view_init(elev=18, azim=-78)
    figure.subplots_adjust(left=0, right=1, bottom=0.02, top=0.9, wspace=0)
    footnote(figure, "● source  ▲ target (the same points, turned, and drawn to the right); "
                     "solid green: right match, dotted red: wrong match.")  # fmt: skip
    return figure


def conclude(rows: list[Row]) -> str:
    share = {name: np.mean([row["right"] for row in rows if row["system"] == name]) for name in SYSTEMS}
    seeds = {row["seed"] for row in rows}
    whole = np.mean(
        [all(row["right"] for row in rows if row["system"] == SYSTEMS[1] and row["seed"] == seed) for seed in seeds]
    )
    recovered = share[SYSTEMS[1]] > 0.95 and share[SYSTEMS[0]] < 0.5
    return (
        f"The claim {held(recovered)}: under an unknown orthogonal map classic OT matched "
        f"{share[SYSTEMS[0]]:.0%} of the points and l_∞-invariant OT {share[SYSTEMS[1]]:.0%} ({whole:.0%} of "
        f"{len(seeds)} clouds without a mistake)."
    )


EXPERIMENT = Experiment(
    "matchings",
    "With a latent orthogonal map, l_∞-invariant OT recovers the matching and classic OT does not.",
    cells, draw, conclude,
)  # fmt: skip
