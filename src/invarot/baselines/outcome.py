"""Convert a baseline's map and plan to the result type of the solver."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..alignment.history import History, StartRecord, Status, Step
from ..alignment.judging.judge import judge_map
from ..alignment.options import Schatten, Sinkhorn
from ..alignment.problem import pose
from ..alignment.result import Alignment
from ..arrays import Array, as_like, device, namespace, to_numpy, transpose
from ..checks import check_points, check_rng, check_same_library, check_weights, common_dtype
from ..errors import InputError
from ..retrieval.nearest import nearest
from ..transport.plan import EntropicPlan
from ..transport.sparse_plan import SparsePlan


def check_pair(x: Any, y: Any, a: Any = None, b: Any = None) -> tuple[Array, Array, Array, Array]:
    """Check both clouds and their weights as :func:`invarot.align` does, and return them."""
    x, y = check_points(x, "x"), check_points(y, "y")
    check_same_library(x, y)
    x, y = common_dtype(x, y)
    return x, y, check_weights(a, "a", x), check_weights(b, "b", y)


def check_registered(x: Any, y: Any, a: Any = None, b: Any = None) -> tuple[Array, Array, Array, Array]:
    """As :func:`check_pair`, and require as many columns in x as in y, for distances to be defined."""
    x, y, a, b = check_pair(x, y, a, b)
    if x.shape[1] != y.shape[1]:
        raise InputError(f"x and y: expected as many columns in x as in y, got {x.shape[1]} "
                         f"and {y.shape[1]}; map one of them first")  # fmt: skip
    return x, y, a, b


def nearest_plan(x: Array, y: Array, w: Array, a: Array, b: Array, *, offset: Array | None = None) -> SparsePlan:
    """Return the plan that sends each source point to its nearest target; ``error`` is the column error."""
    xp = namespace(x)
    z = x @ w if offset is None else x @ w + offset
    rows = xp.arange(x.shape[0], device=device(x))
    plan = SparsePlan(z, y, rows, nearest(z, y), a)
    error = float(np.abs(to_numpy(plan.marginals()[1] - b)).sum())
    return replace(plan, error=error)


def as_alignment(
    x: Array,
    y: Array,
    a: Array,
    b: Array,
    w: Array,
    *,
    name: str,
    plan: EntropicPlan | SparsePlan | None = None,
    offset: Array | None = None,
    history: History | None = None,
    settled: bool = True,
    p: float = float("inf"),
    options: dict[str, Any] | None = None,
    rng: int | np.random.Generator = 0,
) -> Alignment:
    """Return the :class:`~invarot.Alignment` of a baseline.

    The objective is the score ⟨xᵀΓy, W⟩ of its plan (nearest neighbours if it has none); the verdict is that of the solver
    for this map, with random numbers from ``rng``. ``options`` are stored in ``settings`` with the baseline's name.
    """
    xp = namespace(x)
    w = as_like(w, x)
    found = plan or nearest_plan(x, y, w, a, b, offset=offset)
    problem = pose(x, y, a, b, maps=Schatten(p), solver=Sinkhorn(), translate=offset is not None)
    score = float(xp.sum(transpose(x) @ found.apply(y) * w))
    if history is None or not len(history):
        history = History([record(0, objective=score, mode=name, epsilon=found.epsilon, error=found.error)])
    verdict = judge_map(problem, w, check_rng(rng))
    return Alignment(
        map=w,
        offset=xp.zeros_like(y[0]) if offset is None else offset,
        plan=found,
        objective=score,
        history=history,
        status=Status.SETTLED if settled else Status.NOT_SETTLED,
        starts=(StartRecord(name, score, True),),
        verdict=verdict,
        settings={
            "p": float(p),
            "objective": "simplified",
            "translate": offset is not None,
            "baseline": name,
            **(options or {}),
        },
    )


def record(
    step: int,
    *,
    objective: float,
    mode: str,
    epsilon: float = 0.0,
    map_change: float = float("nan"),
    error: float = 0.0,
    inner: int = 1,
    energy: float = float("nan"),
) -> Step:
    """Return a step of a history; values a method does not have are NaN."""
    return Step(step, epsilon, objective, energy, map_change, float("nan"), error, inner, float("nan"), mode, mode)


def change(new: Array, old: Array) -> float:
    """Return ‖new − old‖_F / ‖new‖_F."""
    xp = namespace(new)
    return float(xp.sqrt(xp.sum((new - old) ** 2)) / (xp.sqrt(xp.sum(new**2)) + 1e-30))


def rectangular_identity(x: Array, y: Array) -> Array:
    """Return the identity (dx, dy), cropped or padded with zeros."""
    return as_like(np.eye(x.shape[1], y.shape[1]), x)
