"""The Schatten balls in the plane of two singular values, and the optima of a linear objective on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..arrays import to_numpy
from ..geometry.schatten import SchattenBall, dual_exponent, identity_radius, vector_norm
from .findings import Finding, decide
from .run import Cell, Context, Experiment, Row
from .style import INK, look

EXPONENTS = (1.0, 4 / 3, 2.0, 4.0, math.inf)
SIGMA = (1.0, 0.55)  # singular values of the moment


def cells(context: Context) -> Sequence[Cell]:
    return [Cell(f"p = {p:.3g}", partial(measure, p, context)) for p in EXPONENTS]


def measure(p: float, context: Context) -> list[Row]:
    """Return the optimum in closed form, its bound, and the best of many random maps of the ball."""
    rng = np.random.default_rng(context.seed)
    u, v = (np.linalg.qr(rng.normal(size=(2, 2)))[0] for _ in range(2))
    moment = u @ np.diag(SIGMA) @ v.T
    ball = SchattenBall(p)
    best = to_numpy(ball.best_map(moment))
    spectrum = np.linalg.svd(best)[1]
    guesses = ball.fit(rng.normal(size=(2_000 if context.quick else 200_000, 2, 2)))
    row = {
        "p": p,
        "s1": spectrum[0],
        "s2": spectrum[1],
        "norm": float(vector_norm(spectrum, p)),
        "radius": identity_radius(p, 2),
        "value": float(np.sum(moment * best)),
        "bound": identity_radius(p, 2) * float(vector_norm(np.asarray(SIGMA), dual_exponent(p))),
        "best_random": float(np.max(np.sum(guesses * moment, axis=(1, 2)))),
    }
    return [row]


def draw(rows: list[Row], pyplot: Any) -> Any:
    figure, axis = pyplot.subplots(figsize=(7.4, 4.8))
    angles = np.linspace(0, math.pi / 2, 400)
    for number, row in enumerate(rows):
        p = row["p"]
        edge = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        edge *= (row["radius"] / vector_norm(edge, p))[:, None]
        style = look(number)
        name = {math.inf: "∞ (orthogonal maps at the corner)", 1.0: "1 (rank one at the corner)", 2.0: "2 (Frobenius)"}
        label = f"p = {name.get(p, f'{p:.3g}')}"
        axis.plot(edge[:, 0], edge[:, 1], color=style["color"], linestyle=style["linestyle"], label=label)
        axis.plot(row["s1"], row["s2"], style["marker"], color=style["color"], markersize=9, markeredgecolor="white",
                  clip_on=False, zorder=4)  # fmt: skip
    axis.plot(1, 1, "o", color=INK, markerfacecolor="none", markersize=15, zorder=5)
    axis.annotate("identity", (1, 1), xytext=(10, 8), textcoords="offset points", color=INK)
    length = 0.45
    axis.annotate("", (SIGMA[0] * length, SIGMA[1] * length), (0, 0), arrowprops={"arrowstyle": "->", "color": INK})
    axis.annotate("the objective", (SIGMA[0] * length, SIGMA[1] * length), xytext=(-52, 8),
                  textcoords="offset points", color=INK)  # fmt: skip
    axis.set(xlabel="first singular value of the map", ylabel="second singular value", xlim=(0, 2.15), ylim=(0, 2.15))
    axis.set_aspect("equal")
    axis.set_title("Schatten balls with the identity on the edge;\nmarkers: the best map for a linear objective")
    axis.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0))
    return figure


def judge(rows: list[Row]) -> list[Finding]:
    by = {row["p"]: row for row in rows}
    if not {1.0, math.inf} <= set(by):
        return []
    orthogonal = abs(by[math.inf]["s1"] - 1) + abs(by[math.inf]["s2"] - 1) < 1e-9
    attained = max(abs(row["value"] - row["bound"]) for row in rows)
    beaten = max(row["best_random"] - row["value"] for row in rows)
    return [
        Finding("the best map of a linear objective is orthogonal for p = ∞ and of rank one for p = 1",
                f"singular values {by[math.inf]['s1']:.3f}, {by[math.inf]['s2']:.3f} and {by[1.0]['s1']:.3f}, {by[1.0]['s2']:.3f}",
                decide(orthogonal and by[1.0]["s2"] < 1e-9)),
        Finding("its value is k·‖σ‖_q for every p",
                f"off by {attained:.0e} at most; the best random map of a ball is {-beaten:.1e} below",
                decide(attained < 1e-9 and beaten <= 1e-9)),
    ]  # fmt: skip


EXPERIMENT = Experiment(
    "schatten",
    "For linear objectives the solutions over F_∞ are orthogonal and over F_1 of rank one; the optimum is k·‖σ‖_q.",
    cells, draw, judge,
)  # fmt: skip
