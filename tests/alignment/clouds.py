"""Problems with a known answer, posed without the front door."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from invarot.alignment.candidate import Candidate
from invarot.alignment.loop.alternate import alternate, make_candidate
from invarot.alignment.options import Schatten, Sinkhorn
from invarot.alignment.problem import Problem, pose
from invarot.arrays import namespace

Floats = np.ndarray[Any, Any]


def random_turn(d: int, rng: np.random.Generator) -> Floats:
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def rotation(angle: float) -> Floats:
    """A turn of the plane."""
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def turned(n: int, d: int, *, noise: float = 0.0, seed: Any = 0) -> tuple[Floats, Floats, Floats, Floats]:
    """x, y, the turn, and for each row of x its row in y: a skewed cloud, turned and shuffled."""
    rng = np.random.default_rng([n, d, seed])
    x = rng.gamma(2.0, size=(n, d))
    turn, order = random_turn(d, rng), rng.permutation(n)
    y = (x @ turn)[order] + noise * rng.standard_normal((n, d))
    return x, y, turn, np.argsort(order)


def two_swapped() -> tuple[Floats, Floats, Floats, Floats]:
    """Fifty noisy points in a hundred dimensions of which two, matched to each other's twins, hold each other in place.

    Besides x and y the right matches, and those with the two swapped.
    """
    rng = np.random.default_rng([11, 50, 100, 1])
    turn = np.linalg.qr(rng.standard_normal((100, 100)))[0]
    x = rng.uniform(-1, 1, (50, 100)) * np.linspace(1.5, 0.5, 100) + 0.2 * rng.uniform(0, 1, (50, 1)) ** 2
    order = rng.permutation(50)
    y = (x @ turn)[order]
    y += 0.2 * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape)
    truth = np.argsort(order)
    swapped = truth.copy()
    swapped[[31, 44]] = truth[[44, 31]]
    return x, y, truth, swapped


def posed(
    x: Any, y: Any, *, a: Any = None, b: Any = None, maps: Any = None, solver: Any = None, **more: Any
) -> Problem:
    """The problem of two clouds, uniformly weighted unless said otherwise."""
    a, b = (
        namespace(points).ones_like(points[:, 0]) / points.shape[0] if given is None else given
        for points, given in ((x, a), (y, b))
    )
    return pose(x, y, a, b, maps=maps or Schatten(), solver=solver or Sinkhorn(), **more)


def solved(problem: Problem, w: Any, name: str = "given") -> Candidate:
    """The candidate that the solve of all points makes of a map."""
    return make_candidate(problem, alternate(problem, w[None], problem.budgets.solve), 0, name)


def arrays_in(value: Any, where: str = "") -> dict[str, Floats]:
    """A copy of every array inside a dataclass, by its path."""
    if is_dataclass(value):
        found: dict[str, Floats] = {}
        for one in fields(value):
            found.update(arrays_in(getattr(value, one.name), f"{where}.{one.name}"))
        return found
    return {where: np.array(value)} if isinstance(value, np.ndarray) else {}
