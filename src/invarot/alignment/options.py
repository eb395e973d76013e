"""The options of :func:`invarot.align`, checked one by one and together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import Array, is_array, to_numpy
from ..checks import check_choice, check_count, check_flag, check_number
from ..errors import InputError
from ..threads import workers
from ..transport.choice import parse_memory
from ..transport.schedule import Schedule
from .settings import DEFAULT_SCHEDULE, Settings


def check_settings(
    dx: int, dy: int, *, schedule: Schedule | float | None, memory: str | int | None, **values: Any
) -> Settings:
    """Settings from the options of :func:`align`, each checked, and together."""
    p = check_number(values["p"], "p", low=1)
    if values["radius"] is not None:
        values["radius"] = check_number(values["radius"], "radius", low=0, high=1e300, open_low=True)
    for name in ("proper", "translate", "scale", "whiten", "polish"):
        check_flag(values[name], name)
    check_choice(values["objective"], "objective", ("simplified", "transport"))
    check_choice(values["plan"], "plan", ("sinkhorn", "exact"))
    for name in ("tol", "plan_tol"):
        values[name] = check_number(values[name], name, low=0, high=1)
    for name in ("max_iter", "plan_max_iter"):
        check_count(values[name], name)
    if values["n_jobs"] == -1:
        values["n_jobs"] = workers()
    check_count(values["n_jobs"], "n_jobs")
    values["stages"] = check_stages(values["stages"])
    check_choice(values["coarse"], "coarse", ("points", "clusters"))
    if values["proper"] and (not math.isinf(p) or dx != dy):
        raise InputError(
            f"proper: expected p=inf and as many columns in x as in y, got p={p:g}, {dx} and {dy} columns; "
            "leave proper=False"
        )
    if values["scale"] and (not math.isinf(p) or values["objective"] == "transport"):
        raise InputError(
            "scale: expected p=inf and objective='simplified', where a scale on top is a closed form; "
            f"got p={p:g} and objective={values['objective']!r}; set radius instead"
        )
    if values["scale"] and values["radius"] is not None:
        raise InputError(
            f"radius: expected None with scale=True, which finds the size of the map itself; got "
            f"{values['radius']:g}; leave one of them out"
        )
    if values["polish"] and values["objective"] == "transport":
        raise InputError("polish: expected objective='simplified', got 'transport'; leave polish=False")
    if values["plan"] == "exact" and schedule is not None:
        raise InputError("schedule: expected None with plan='exact', which has no epsilon; leave it out")
    return Settings(**{**values, "p": p}, schedule=check_schedule(schedule), memory=parse_memory(memory))


def check_stages(stages: Any) -> tuple[int, ...] | None:
    """Growing numbers of points, or None."""
    if stages is None:
        return None
    try:
        sizes = tuple(stages)
    except TypeError:
        sizes = (stages,)
    for size in sizes:
        check_count(size, "stages")
    if list(sizes) != sorted(set(sizes)):
        raise InputError(f"stages: expected growing numbers of points such as (2000, 10000), got {stages!r}")
    return tuple(int(size) for size in sizes)


def check_schedule(schedule: Schedule | float | None) -> Schedule:
    if schedule is None:
        return DEFAULT_SCHEDULE
    if isinstance(schedule, Schedule):
        return schedule
    if isinstance(schedule, (int, float, np.integer, np.floating)) and not isinstance(schedule, bool):
        return Schedule.fixed(check_number(schedule, "schedule", low=0, high=1e300, open_low=True))
    raise InputError(f"schedule: expected a Schedule, a positive number (a fixed epsilon) or None, got {schedule!r}")


def kept_pairs(seeds: Any, a: Array, b: Array) -> Any:
    """Known pairs of points that have weight, by their row numbers among those; None if there are none."""
    used_x, used_y = to_numpy(a) > 0, to_numpy(b) > 0
    pairs = np.asarray(to_numpy(seeds) if is_array(seeds) else seeds)
    pairs = pairs[used_x[pairs[:, 0]] & used_y[pairs[:, 1]]]
    found = np.stack([np.cumsum(used_x)[pairs[:, 0]] - 1, np.cumsum(used_y)[pairs[:, 1]] - 1], axis=1)
    return found if len(found) else None


def kept_rows(side: Any, a: Array, b: Array) -> tuple[Any, Any]:
    """Side information of the points that have weight."""
    if not isinstance(side, (tuple, list)) or len(side) != 2:
        raise InputError(f"side: expected a pair (fx, fy), one row a point of x and of y, got {type(side).__name__}")
    kept = []
    for name, values, weights in zip(("fx", "fy"), side, (a, b), strict=True):
        rows = np.asarray(to_numpy(values) if is_array(values) else values)
        if rows.ndim < 1 or rows.shape[0] != weights.shape[0]:
            raise InputError(f"side: expected {weights.shape[0]} rows in {name}, one a point, got shape {rows.shape}")
        kept.append(rows[to_numpy(weights) > 0])
    return kept[0], kept[1]
