"""Reflections of a map in principal axes of x, refitted: other answers that keep the shape of both clouds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from ..arrays import Array, as_like, entries_at_once, namespace, to_numpy, transpose
from ..retrieval.nearest import BLOCK, nearest
from ..rows import ALL, Rows
from .crowding import compare_crowding
from .problem import Problem
from .tuning import ELSEWHERE, REFLECTED_AXES, REFLECTED_POINTS, REFLECTION_ROUNDS, REFLECTIONS

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
TINY = 1e-12  # relative to the mean square of y: a squared distance that counts as none


@dataclass(frozen=True)
class Reflections:
    """Reflected and refitted maps beside the map that is judged, refitted too; the arrays have an entry per reflection."""

    errors: Floats  # the difference of the two for points held out of the fit, point by point, in standard errors
    apart: Floats  # share of targets nearer to an image than the target of the reflection
    crowding: Floats  # how much better crowding at points and targets agrees under the map
    inner_crowding: Floats  # the same of near neighbours, at equal distance from the centre

    def smallest(self, values: Floats) -> float:
        """Return the smallest of ``values`` over the reflections that send points elsewhere; 0 if none does."""
        there = values[self.apart > ELSEWHERE]
        return float(there.min()) if len(there) else 0.0

    def mean(self, values: Floats) -> float:
        """Return the mean of ``values`` over the reflections that send points elsewhere; 0 if none does."""
        there = values[self.apart > ELSEWHERE]
        return float(there.mean()) if len(there) else 0.0


def reflect(problem: Problem, w: Array, rng: np.random.Generator) -> Array:
    """Return w (dx, dy) after reflections of x in its principal axes (s, dx, dy).

    All of them in few dimensions; else in each of the strongest axes, in all axes, and in random sets. The more dimensions,
    the more alike random ones are, and the fewer are needed.
    """
    xp = namespace(w)
    _, axes = xp.linalg.eigh(problem.second_moment)
    mirror = as_like(_choose_signs(axes.shape[0], rng), w)
    return (axes[None, :, :] * mirror[:, None, :]) @ (transpose(axes) @ w)


def _choose_signs(d: int, rng: np.random.Generator) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    least, most = REFLECTIONS
    if 2**d - 1 <= most:
        return np.asarray(list(product([1.0, -1.0], repeat=d))[1:])
    count = min(max(REFLECTED_AXES // d, least), most)
    signs = rng.choice([-1.0, 1.0], size=(count, d))
    single = min(d, count // 2 - 1)
    signs[:single] = 1.0
    signs[np.arange(single), d - 1 - np.arange(single)] = -1.0
    signs[single] = -1.0
    return signs[np.any(signs < 0, axis=1)]


def fit_reflections(problem: Problem, w: Array, some: Array, rng: np.random.Generator) -> Reflections:
    """Refit w and its reflections to the nearest targets of the points ``some`` for a few rounds, and compare them."""
    xp = namespace(w)
    x, y = problem.x[some], problem.y
    if x.shape[0] < 2:
        nothing = np.zeros(0)
        return Reflections(nothing, nothing, nothing, nothing)
    maps = xp.concat([w[None], reflect(problem, w, rng)])
    for _ in range(REFLECTION_ROUNDS):
        maps = problem.maps.best_map(transpose(x) @ y[_find_targets(x @ maps, y, problem.rows)])
    images = x @ maps
    there = _find_targets(images, y, problem.rows)
    floor = TINY * float(xp.mean(xp.sum(y**2, axis=1))) + 1e-300
    crowding = compare_crowding(problem, some, to_numpy(there))
    return Reflections(
        errors=_compare_held_out(problem, x, there, floor),
        apart=share_nearer(x @ w, y, there[1:]),
        crowding=crowding[0, 0] - crowding[0, 1:],
        inner_crowding=crowding[1, 0] - crowding[1, 1:],
    )


def _compare_held_out(problem: Problem, x: Array, there: Array, floor: float) -> Floats:
    """Return by how much points lie nearer to a target under the first map than under each other one, in standard errors.

    Maps are fitted to the targets ``there`` (s, n) of one half of the points, and the other half is compared: in many
    dimensions a map fits the points it was fitted to whether it is right or not.
    """
    xp, y = namespace(x), problem.y
    gaps = []
    for half in range(2):
        held, fitted = slice(half, None, 2), slice(1 - half, None, 2)
        images = x[held] @ problem.maps.best_map(transpose(x[fitted]) @ y[there[:, fitted]])
        gaps.append(xp.sum((images - y[_find_targets(images, y, problem.rows)]) ** 2, axis=-1))
    ahead = xp.concat([one[1:] - one[:1] for one in gaps], axis=1)
    mean, spread = (to_numpy(one).astype(np.float64) for one in (xp.mean(ahead, axis=1), xp.std(ahead, axis=1)))
    return mean / (spread + floor) * x.shape[0] ** 0.5


def _find_targets(images: Array, y: Array, rows: Rows = ALL) -> Array:
    """Return the nearest rows of y (s, n) of images (s, n, d)."""
    xp = namespace(y)
    there = rows.map(partial(nearest, y=y), xp.reshape(images, (-1, y.shape[1])))
    return xp.reshape(there, images.shape[:2])


def find_elsewhere(problem: Problem, w: Array, others: Sequence[Array]) -> list[Array]:
    """Return the maps among ``others`` that send points to clearly other targets than w (dx, dy) does.

    Where clouds correspond loosely, equally good maps that differ by less are one answer.
    """
    if not others:
        return []
    some = problem.x[:: max(1, problem.x.shape[0] // REFLECTED_POINTS)]
    there = _find_targets(some @ namespace(w).stack(list(others)), problem.y)
    apart = share_nearer(some @ w, problem.y, there)
    return [one for one, share in zip(others, apart, strict=True) if share > ELSEWHERE]


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
