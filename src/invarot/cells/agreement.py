"""How well two assays agree under a plan: in distances, in neighbourhoods, and in directions.

Plans are fitted to distances. On assays that correspond loosely the best fit to distances can be a wrong plan; neighbourhoods alone
cannot tell which of several separate clusters belong together; directions alone forget how large they are. So all three count, and
equally (results/cells.md has the comparison).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]
Views = dict[str, Floats]

NEAREST = 0.03  # share of the cells that one step of the diffusion reaches
DIFFUSION_STEPS = 4  # of the diffusion
COMPARED_AXES = 8  # leading axes whose directions are compared


@dataclass(frozen=True)
class Side:
    """What is compared of one assay: its views, and a kernel (n, n) of neighbourhoods for each of some views."""

    views: Views
    kernels: Views


def describe_side(views: Views, weights: Floats) -> Side:
    """Return the kernels of weighted groups; the graph view is made of neighbourhoods already."""
    return Side(views, {name: diffuse(views[name], weights) for name in views if name != "graph" or len(views) == 1})


def score_plan(x: Side, y: Side, plan: Floats) -> float:
    """Return the agreement of both sides under a plan (n, m), at most 1."""
    plan = plan.astype(np.float64)
    distances = [fit_view(x.views[name], y.views[name], plan) for name in x.views]
    neighbourhoods = [compare_kernels(x.kernels[name], y.kernels[name], plan) for name in x.kernels]
    directions = [share_directions(x.views[name], y.views[name], plan) for name in x.kernels]
    return float(np.mean(distances) + np.mean(neighbourhoods) + np.mean(directions)) / 3


def fit_view(x: Floats, y: Floats, plan: Floats) -> float:
    """Return the score of the best rigid map under the plan, 1 if it is exact; about the means of the matched cells."""
    rows, columns = plan.sum(1), plan.sum(0)
    x, y = x - rows @ x, y - columns @ y
    size = np.sqrt((rows @ (x**2).sum(1)) * (columns @ (y**2).sum(1)))
    return float(np.linalg.svd(x.T @ plan @ y, compute_uv=False).sum() / (size or 1.0))


def diffuse(points: Floats, weights: Floats) -> Floats:
    """Return the kernel (n, n) of a few steps of a diffusion between near points (n, d); it forgets density and scale.

    One step is Gaussian, at each point as wide as the neighbourhood that holds 3 % of the weight.
    """
    square = (points**2).sum(1)
    far = np.maximum(square[:, None] + square - 2 * points @ points.T, 0)
    order = np.argsort(far, axis=1)
    edge = np.argmax(np.cumsum(weights[order], axis=1) >= NEAREST, axis=1)
    every = np.arange(len(points))
    width = np.sqrt(far[every, order[every, np.maximum(edge, 1)]] + 1e-12)
    near = np.exp(-far / np.outer(width, width))
    root, total = np.sqrt(weights), near @ weights
    step = near * np.outer(root, root) / np.sqrt(np.outer(total, total))
    return np.linalg.matrix_power(step, DIFFUSION_STEPS) / np.outer(root, root)


def compare_kernels(x: Floats, y: Floats, plan: Floats) -> float:
    """Return the centred alignment of kernels x (n, n) and y (m, m), with the mass of the plan for pairs: at most 1."""
    rows, columns = plan.sum(1), plan.sum(0)
    x, y = _centre(x, rows), _centre(y, columns)
    both = float((plan.T @ x @ plan * y).sum())
    return both / (float(np.sqrt((rows @ x**2 @ rows) * (columns @ y**2 @ columns))) or 1.0)


def share_directions(x: Floats, y: Floats, plan: Floats) -> float:
    """Return the mean squared canonical correlation of the leading axes of x (n, d) and y (m, e) under the plan."""
    left, right = _whiten(x, plan.sum(1)), _whiten(y, plan.sum(0))
    return float((np.linalg.svd(left.T @ plan @ right, compute_uv=False) ** 2).mean())


def _whiten(points: Floats, weights: Floats) -> Floats:
    centred = points - weights @ points
    values, axes = np.linalg.eigh((centred * weights[:, None]).T @ centred)
    kept = np.flatnonzero(values > 1e-9 * values[-1])[-COMPARED_AXES:]
    found: Floats = centred @ axes[:, kept] / np.sqrt(values[kept])
    return found


def _centre(kernel: Floats, weights: Floats) -> Floats:
    mean = kernel @ weights
    return kernel - mean[:, None] - mean + weights @ mean
