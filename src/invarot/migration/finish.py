"""The last fit of an adapter: more vectors than the search needs, and a map for retrieval instead of a rotation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..alignment.loop.alternate import alternate
from ..alignment.options import Schatten, Sinkhorn
from ..alignment.problem import add_seeds, pose, weigh_seeds_as_points
from ..arrays import place, to_numpy, transpose
from ..threads import own_threads

LAST_FIT_STEPS = 10  # of the alternation: from the map of a solve it hardly moves
CORRELATION_POWER = 0.5  # of the correlation of a direction, which weighs it; chosen on MiniLM–wordllama and MiniLM–mpnet (results/migrate.md)
NOISE_RIDGE = 2.0  # in units of the sampling noise of a covariance

Floats = np.ndarray[Any, Any]


def refit_moment(
    x: Floats, y: Floats, w: Floats, epsilon: float, *, pairs: int = 0, device: str | None = None
) -> Floats:
    """Return the moment xᵀΓy (dx, dy) of the plan where a few steps from the map w (dx, dy) end, at one epsilon.

    The first ``pairs`` rows of x and of y are the same texts.
    """
    points = [one if device is None else place(one, device) for one in (x, y)]
    left, right = points
    weights = [one[:, 0] * 0 + 1 / one.shape[0] for one in points]
    problem = pose(left, right, *weights, maps=Schatten(math.inf), solver=Sinkhorn(schedule=epsilon))
    if pairs:
        rows = np.arange(pairs)
        problem = weigh_seeds_as_points(add_seeds(problem, np.stack([rows, rows], axis=1)))
    budget = problem.budgets.solve
    budget = replace(budget, tol=max(budget.tol, budget.plan_tol)).at_most(LAST_FIT_STEPS)
    start = w if device is None else place(w, device)
    with own_threads():
        run = alternate(problem, start[None], budget, stage="last fit")
        moment = transpose(left) @ run.plan(0).apply(right)
    if problem.seed_moment is not None:
        moment = moment + problem.seed_moment
    return np.asarray(to_numpy(moment), dtype=np.float64)


def fit_retrieval_map(moment: Floats, x: Floats, y: Floats) -> Floats:
    """Return the map (dx, dy) whose directions weigh as much as the two models agree on them.

    With C = S + λI of each cloud and UσVᵀ the SVD of Cx^-½ M Cy^-½, the map is Cx^-½ U σ^½ Vᵀ Cy^½: between a rotation of the
    whitened clouds (σ⁰) and the regression of y on x (σ¹). Where two models agree on everything, it is a rotation.
    """
    (back_x, _), (back_y, out_y) = (_whiten(points) for points in (x, y))
    u, s, vt = np.linalg.svd(back_x @ moment @ back_y, full_matrices=False)
    found = back_x @ (u * np.minimum(s, 1.0) ** CORRELATION_POWER) @ vt @ out_y
    return np.asarray(found * (min(found.shape) / np.sum(found**2)) ** 0.5, dtype=np.float32)


def _whiten(points: Floats) -> tuple[Floats, Floats]:
    """Return C^-½ and C^½ of the second moment of the points, with a ridge of its sampling noise."""
    count, d = points.shape
    power, axes = np.linalg.eigh(points.T.astype(np.float64) @ points / count)
    power = np.maximum(power, 0) + float(np.mean(power)) * max(NOISE_RIDGE * d / count, 1e-10)
    return (axes / np.sqrt(power)) @ axes.T, (axes * np.sqrt(power)) @ axes.T
