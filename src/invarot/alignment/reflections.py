"""Reflections of a map in principal axes of x, refitted: other answers that keep the shape of both clouds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, as_like, entries_at_once, namespace, to_numpy, transpose
from ..retrieval.nearest import BLOCK, nearest
from .problem import Problem
from .tuning import ELSEWHERE, REFLECTION_ROUNDS, REFLECTIONS

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
TINY = 1e-12  # relative to the mean square of y: a squared distance that counts as none


@dataclass(frozen=True)
class Reflections:
    """Reflected and refitted maps beside the map that is judged, refitted too; the arrays have an entry per reflection."""

    lead: Floats  # log of the mean squared distance to the nearest targets over that of the map
    errors: Floats  # the difference of the two, point by point, in standard errors
    apart: Floats  # share of targets nearer to an image than the target of the reflection
    drift: float  # the same share for the targets of the refitted map itself

    def summarise(self, values: Floats) -> tuple[float, float]:
        """Return the smallest and the mean of ``values`` over the reflections that send points elsewhere; 0 if none does."""
        there = values[self.apart > ELSEWHERE]
        return (float(there.min()), float(there.mean())) if len(there) else (0.0, 0.0)

    @property
    def blur(self) -> float:
        """Share of targets nearer than the true one, if a reflection is as plausible as its fit: e⁻¹ at a lead of 0.2."""
        weight = np.exp(-5 * np.maximum(self.lead, -0.3))
        return float(weight @ self.apart / (1 + weight.sum())) if len(weight) else 1.0


def reflect(problem: Problem, w: Array, rng: np.random.Generator) -> Array:
    """Return w (dx, dy) after reflections of x in its principal axes (s, dx, dy): the strongest two, then random sets."""
    xp = namespace(w)
    _, axes = xp.linalg.eigh(problem.second_moment)
    d = axes.shape[0]
    signs = rng.choice([-1.0, 1.0], size=(REFLECTIONS, d))
    for k in range(min(2, d)):
        signs[k] = 1.0
        signs[k, d - 1 - k] = -1.0
    signs = np.unique(signs, axis=0)
    mirror = as_like(signs[np.any(signs < 0, axis=1)], w)
    return (axes[None, :, :] * mirror[:, None, :]) @ (transpose(axes) @ w)


def fit_reflections(problem: Problem, w: Array, some: Array, rng: np.random.Generator) -> Reflections:
    """Refit w and its reflections to the nearest targets of the points ``some`` for a few rounds, and compare them."""
    xp = namespace(w)
    x, y = problem.x[some], problem.y
    maps = xp.concat([w[None], reflect(problem, w, rng)])
    for left in range(REFLECTION_ROUNDS, -1, -1):
        images = x @ maps
        there = xp.reshape(nearest(xp.reshape(images, (-1, y.shape[1])), y), images.shape[:2])
        if left:
            maps = problem.maps.best_map(transpose(x) @ y[there])
    gaps = xp.sum((images - y[there]) ** 2, axis=-1)
    floor = TINY * float(xp.mean(xp.sum(y**2, axis=1))) + 1e-300
    mean = to_numpy(xp.mean(gaps, axis=1)).astype(np.float64) + floor
    spread = to_numpy(xp.std(gaps - gaps[0], axis=1)).astype(np.float64) + floor
    apart = share_nearer(x @ w, y, there)
    return Reflections(
        lead=np.log(mean[1:] / mean[0]),
        errors=(mean[1:] - mean[0]) / spread[1:] * x.shape[0] ** 0.5,
        apart=apart[1:],
        drift=float(apart[0]),
    )


def share_nearer(z: Array, y: Array, there: Array) -> Floats:
    """Return for each row of ``there`` (s, n) the mean share of y nearer to z (n, d) than the targets it names, in blocks."""
    xp = namespace(z)
    half = xp.sum(y**2, axis=1) / 2
    step = max(1, entries_at_once(z, BLOCK) // y.shape[0])
    total = np.zeros(there.shape[0])
    for begin in range(0, z.shape[0], step):
        rows = slice(begin, begin + step)
        scores = z[rows] @ transpose(y) - half
        for k in range(there.shape[0]):
            own = xp.sum(z[rows] * y[there[k, rows]], axis=1) - half[there[k, rows]]
            own = own + 1e-6 * xp.abs(own)
            total[k] += float(xp.sum(xp.astype(scores > own[:, None], z.dtype)))
    return total / (z.shape[0] * y.shape[0])
