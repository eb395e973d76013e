"""The starts that were asked for, checked and run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..checks import check_choice, check_count, check_map, check_number
from ..errors import InputError
from ..starts import STARTS
from ..starts.portfolio import Wave, waves
from .alternate import Observer
from .heats import after_race
from .outcome import Outcome
from .problem import Problem
from .race import EFFORT, race, solve_all
from .settings import Settings

START_NAMES = ("auto", *(name for name in STARTS if name != "given"))


def search(
    problem: Problem, settings: Settings, start: Any, n_starts: int | None, seeds: Any, side: Any, side_weight: float,
    ordered: bool, effort: str, rng: np.random.Generator, on_step: Observer | None,
) -> Outcome:  # fmt: skip
    """Run the starts that were asked for."""
    x, y, a, b = problem.x, problem.y, problem.a, problem.b
    check_choice(effort, "effort", EFFORT)
    check_number(side_weight, "side_weight", low=0)
    racing = isinstance(start, str) and start == "auto" and n_starts is None
    if effort != "normal" and not racing:
        raise InputError(
            f"effort: expected with start='auto' alone, got {effort!r}; other starts are all solved in full"
        )
    if not isinstance(start, str):
        for name, value in (("n_starts", n_starts), ("side", side)):
            if value is not None:
                raise InputError(f"{name}: expected None with a map as the start, which has no use for it")
        maps = check_map(start, "start", x.shape[1], y.shape[1], x)
        maps = problem.frame_x.inverse @ maps @ problem.frame_y.linear
        if settings.scale:  # the scale is found at the end, on top of a map of unit size
            maps = settings.invariance.fit(maps)
        return solve_all(
            problem, Wave(maps, ["given"] * maps.shape[0]), settings, ordered=ordered, rng=rng, on_step=on_step
        )
    check_choice(start, "start", START_NAMES)
    if n_starts is not None:
        check_count(n_starts, "n_starts")
        if start not in ("random", "auto"):
            raise InputError(
                f"n_starts: expected with start='random', got start={start!r}, which makes its own candidates"
            )
        start = "random"
    if side is not None and start not in ("auto", "signature"):
        raise InputError(
            f"side: expected with start='auto' or 'signature', got start={start!r}, which has no use for it"
        )
    if start == "auto":
        options = {"side": side, "side_weight": side_weight, "pairs": seeds}
        coming = (
            replace(wave, maps=settings.invariance.fit(wave.maps))
            for wave in waves(x, y, a, b, rng=rng, ordered=ordered, options=options)
        )
        return race(problem, coming, settings, effort=EFFORT[effort], ordered=ordered, rng=rng, on_step=on_step)
    if start == "seeds" and seeds is None:
        raise InputError("seeds: expected known pairs (k, 2) of points with weight with start='seeds', got none")
    options = {"rng": rng}
    if start == "random":
        options["n_starts"] = n_starts or 1
    elif start == "seeds":
        options.update(pairs=seeds, ordered=ordered)
    elif start == "signature":
        options.update(ordered=ordered, side=side, side_weight=side_weight)
    elif start == "fused":  # it comes down from a high epsilon itself: the solve goes on from a low one
        options.update(ordered=ordered)
        settings = after_race(settings)
    maps = STARTS[start](x, y, a, b, **options)
    maps = settings.invariance.fit(maps)
    return solve_all(problem, Wave(maps, [start] * maps.shape[0]), settings, ordered=ordered, rng=rng, on_step=on_step)
