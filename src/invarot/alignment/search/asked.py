"""The requested starts, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, as_like, is_array, to_numpy
from ...checks import check_choice, check_count, check_map, check_range
from ...errors import InputError
from ...jobs import count_jobs
from ...starts import STARTS
from ...starts.seeds import check_pairs
from ..options import Search
from ..problem import Problem

START_NAMES = ("auto", *STARTS)
EFFORT = {"quick": 1, "normal": 4, "high": 8, "max": 30}  # maximal number of waves of starts
DRAWN = ("random", "gaussian")  # starts of which any number can be drawn
FROM_PAIRS = ("auto", "seeds")  # starts that use known pairs
SIDE_WEIGHT = 0.3  # default


@dataclass(frozen=True)
class Asked:
    """Which starts to solve: a name of `START_NAMES`, or ``"given"`` and the maps (s, dx, dy)."""

    name: str
    maps: Array | None
    n_starts: int | None
    waves: int
    exhaustive: bool  # whether waves go on where two solves agree
    pairs: Any  # known pairs, as rows among the points with weight; None if there are none
    side: tuple[Any, Any] | None
    side_weight: float
    n_jobs: int


def check_asked(
    problem: Problem, start: Any, n_starts: int | None, effort: str | None, pairs: Any, search: Search, side: Any
) -> Asked:
    """Check the options about starts, each alone and together."""
    if effort is not None:
        check_choice(effort, "effort", EFFORT)
    if n_starts is not None:
        check_count(n_starts, "n_starts")
    named = isinstance(start, str)
    name = check_choice(start, "start", START_NAMES) if named else "given"
    if name == "auto" and n_starts is not None:
        name = "random"
    _check_used(name, n_starts, effort, pairs, search)
    maps = None
    if not named:
        maps = check_map(start, "start", *problem.whole_shape, problem.x)
        check_range(maps, "start")
    elif name == "identity" and problem.restricted:  # of the coordinates as they came
        maps = as_like(np.eye(*problem.whole_shape)[None], problem.x)
    if maps is not None:
        maps = problem.frame_x.inverse @ maps @ problem.frame_y.linear
        if problem.scale or named:  # the scale is fitted at the end, on top of a map of unit size
            maps = problem.maps.fit(maps)
    return Asked(
        name=name,
        maps=maps,
        n_starts=n_starts,
        waves=EFFORT[effort or "normal"],
        exhaustive=effort == "max",
        pairs=pairs,
        side=side,
        side_weight=SIDE_WEIGHT if search.side_weight is None else search.side_weight,
        n_jobs=count_jobs(search.n_jobs),
    )


def _check_used(name: str, n_starts: int | None, effort: str | None, pairs: Any, search: Search) -> None:
    """Raise for options that would have no effect."""
    shown = "a map" if name == "given" else repr(name)
    if effort is not None and name != "auto":
        raise InputError(
            f"effort: expected only with start='auto', got {effort!r} and {shown}; other starts are all solved in full"
        )
    if n_starts is not None and name not in DRAWN:
        raise InputError(
            f"n_starts: expected with start='random' or 'gaussian', got {shown}, which makes its own candidates; leave n_starts out"
        )
    if search.side is not None and name not in ("auto", "signature"):
        raise InputError(
            f"side: expected with start='auto' or 'signature', got {shown}, which does not use it; leave side out"
        )
    if search.seed_weight == 0 and name not in FROM_PAIRS:
        raise InputError(
            f"seed_weight: expected more than 0 with {shown}, which does not start from known pairs, got 0; leave seed_weight "
            "out, or seeds"
        )
    if name == "seeds" and pairs is None:
        raise InputError(
            "seeds: expected known pairs (k, 2) of points with weight with start='seeds', got none; pass seeds"
        )


def keep_pairs(seeds: Any, a: Array, b: Array) -> np.ndarray[Any, Any]:
    """Return known pairs (k, 2), checked, by their row numbers among the points that have weight."""
    try:
        rows, columns, _ = check_pairs(seeds, None, a.shape[0], b.shape[0])
    except InputError as error:
        raise InputError(f"seeds{str(error).removeprefix('pairs')}") from error
    used_x, used_y = to_numpy(a) > 0, to_numpy(b) > 0
    lost = int(np.sum(~(used_x[to_numpy(rows)] & used_y[to_numpy(columns)])))
    if lost:
        raise InputError(f"seeds: expected pairs of points with weight, got {lost} with a point of weight 0; drop them")
    return np.stack([np.cumsum(used_x)[to_numpy(rows)] - 1, np.cumsum(used_y)[to_numpy(columns)] - 1], axis=1)


def keep_rows(side: tuple[Any, Any], a: Array, b: Array) -> tuple[Any, Any]:
    """Return the side information of the points with weight."""
    kept = []
    for name, values, weights in zip(("fx", "fy"), side, (a, b), strict=True):
        try:
            rows = np.asarray(to_numpy(values) if is_array(values) else values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"side: expected numbers in {name}, one row per point, got {error}; encode them"
            ) from error
        if rows.ndim < 1 or rows.shape[0] != weights.shape[0]:
            raise InputError(
                f"side: expected {weights.shape[0]} rows in {name}, one per point, got shape {rows.shape}; pass all rows"
            )
        if not np.all(np.isfinite(rows)):
            raise InputError(f"side: expected finite numbers in {name}, got NaN or inf; drop or impute them")
        kept.append(rows[to_numpy(weights) > 0])
    return kept[0], kept[1]
