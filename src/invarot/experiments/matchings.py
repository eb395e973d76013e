"""A rotated cloud in space: the matches of classic transport and of invariant transport, and a picture of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import align
from ..baselines import emd
from .clouds import RING, Floats, make_cloud, make_shell, random_orthogonal
from .findings import Finding, both, estimate, is_above, is_below
from .run import Cell, Context, Experiment, Row
from .style import BAD, GOOD, INK, footnote, typeset

CLASSIC, OURS = SYSTEMS = ("classic OT (EMD)", "l_∞-invariant OT")
SHELL = "shell"
SHIFT = 8.0  # of the target, to the right, in the picture
CAMERA = 16.0  # its distance
EDGES = 30  # drawn of all matches


def _turn(axis: int, degrees: float) -> Floats:
    """Return the rotation about a coordinate axis."""
    angle = np.deg2rad(degrees)
    others = [k for k in range(3) if k != axis]
    turn = np.eye(3)
    turn[np.ix_(others, others)] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    return turn


TURN = _turn(2, 140) @ _turn(0, 75)


def cells(context: Context) -> Sequence[Cell]:
    count, clouds, rings = (24, 6, 24) if context.quick else (40, 30, 60)
    found = [Cell(f"cloud {k}", partial(measure, k, count, context.seed)) for k in range(clouds)]
    return [Cell(SHELL, partial(measure_shell, rings, context.seed)), *found]


def measure(cloud: int, count: int, seed: int) -> list[Row]:
    """Match a clustered cloud with itself after a random orthogonal map: the share of right matches."""
    rng = np.random.default_rng((seed, cloud))
    x = make_cloud(count, 3, rng)
    y = x @ random_orthogonal(3, rng)
    return [
        {"cloud": cloud, "system": system, "right": float(np.mean(_match(system, x, y, cloud) == np.arange(count)))}
        for system in SYSTEMS
    ]


def measure_shell(rings: int, seed: int) -> list[Row]:
    """Match a sea shell with itself after a turn and a tilt: one row per match, for the picture."""
    x = make_shell(rings, np.random.default_rng(seed))
    y = x @ TURN
    rows: list[Row] = []
    for system in SYSTEMS:
        for i, j in enumerate(_match(system, x, y, seed)):
            places = {f"x{axis}": round(float(value), 4) for axis, value in enumerate(x[i])}
            rows.append(
                {"cloud": SHELL, "system": system, "source": i, "target": int(j), "right": float(i == j), **places}
            )
    return rows


def _match(system: str, x: Floats, y: Floats, seed: int) -> Any:
    return np.asarray((emd(x, y) if system == CLASSIC else align(x, y, rng=seed)).matches("plan"))


def project(points: Floats) -> tuple[Floats, Floats]:
    """Return points (n, 3) as a camera sees them, (n, 2), and their nearness."""
    seen = points @ _turn(2, 200) @ _turn(0, 50)
    near = CAMERA / (CAMERA - seen[:, 2])
    return seen[:, :2] * near[:, None], near


def draw_shell(axis: Any, points: Floats, shift: float, marker: str, colors: Any) -> Floats:
    """Draw the points in perspective over a faint wire frame; return where they are drawn."""
    flat, near = project(points)
    flat = flat + np.asarray([shift, 0.0])
    grid = flat.reshape(-1, RING, 2)
    for lines in (np.concatenate([grid, grid[:, :1]], axis=1), grid.transpose(1, 0, 2)):
        axis.plot(*lines.transpose(2, 1, 0), color="#b8b8b8", linewidth=0.45, zorder=1, rasterized=True)
    axis.scatter(*flat.T, c=colors, s=11 * near**3, marker=marker, linewidths=0, zorder=2, rasterized=True)
    return np.asarray(flat)


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(1, 3, figsize=(13.2, 2.9))
    shell = [row for row in rows if row["cloud"] == SHELL]
    if not shell:
        axes[0].set_title("the shell was not run")
        return figure
    order = {
        name: np.argsort([row["target"] for row in shell if row["system"] == name], kind="stable") for name in SYSTEMS
    }
    # the target in its own order, ring by ring: under the right matching row i of it is point i
    ours = [row for row in shell if row["system"] == OURS]
    source = np.asarray([[row[f"x{k}"] for k in range(3)] for row in ours])
    target = source @ TURN
    place = pyplot.get_cmap("viridis")(np.linspace(0, 1, len(source)))
    for axis, system in zip(axes, (None, *SYSTEMS), strict=True):
        if system is None:
            draw_shell(axis, source, 0.0, "o", INK)
            draw_shell(axis, target, SHIFT, "^", "#8a8a8a")
            axis.set_title("before: nothing paired")
        else:
            some = [row for row in shell if row["system"] == system]
            left = draw_shell(axis, source, 0.0, "o", place)
            right = draw_shell(axis, target, SHIFT, "^", place[order[system]])  # the color of the point matched to it
            for k in np.linspace(0, len(some) - 1, EDGES).astype(int):
                good = some[k]["right"] == 1
                ends = np.stack([left[k], right[some[k]["target"]]])
                axis.plot(*ends.T, color=GOOD if good else BAD, linewidth=0.8, linestyle="-" if good else ":", zorder=3)
            share = float(np.mean([row["right"] for row in some]))
            axis.set_title(f"{typeset(system)}: {share:.0%} of the points right")
        axis.set_aspect("equal")
        axis.set_axis_off()
    footnote(figure, "A sea shell (●) and the same shell turned (▲), side by side, in perspective. Color: the place along the shell "
                     "of a source point, given to the target it is matched to. Lines: some of the\nmatches; solid green right, "
                     "dotted red wrong.")  # fmt: skip
    figure.tight_layout()
    return figure


def judge(rows: list[Row]) -> list[Finding]:
    clouds = [row for row in rows if row["cloud"] != SHELL]
    share = {name: estimate(row["right"] for row in clouds if row["system"] == name) for name in SYSTEMS}
    whole = [row["right"] == 1 for row in clouds if row["system"] == OURS]
    text = "; ".join(f"{name} {100 * one.mean:.0f} per cent of the points" for name, one in share.items())
    return [
        Finding("under an unknown rotation classic OT fails (below half) and l_∞-invariant OT recovers the matching (over 95 %)",
                f"{text}; {sum(whole)} of {len(whole)} clouds without a mistake",
                both(is_below(share[CLASSIC], 0.5), is_above(share[OURS], 0.95)))
    ]  # fmt: skip


EXPERIMENT = Experiment(
    "matchings",
    "With a latent orthogonal map, l_∞-invariant OT recovers the matching and classic OT does not.",
    cells, draw, judge,
)  # fmt: skip
