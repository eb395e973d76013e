"""Options that cannot be combined: checked where they meet."""

from __future__ import annotations

import math

from ..errors import InputError
from .options import Maps, Rotations, Search, Solver
from .tuning import PER_DIMENSION


def check_together(maps: Maps, solver: Solver, scale: bool, dx: int, dy: int) -> None:
    """Raise for options that cannot be combined."""
    if isinstance(maps, Rotations) and dx != dy:
        raise InputError(
            f"p: expected as many columns in x as in y with Rotations(), got {dx} and {dy}; use p=inf, which allows both"
        )
    if isinstance(maps, Rotations) and solver.objective == "transport":
        raise InputError(
            "objective: expected 'simplified' with p=Rotations(), where both objectives agree, got 'transport'; leave it out"
        )
    if scale and (not math.isinf(maps.p) or solver.objective == "transport"):
        raise InputError(
            "scale: expected p=inf and objective='simplified', where a scale on top is a closed form, "
            f"got p={maps.p:g} and objective={solver.objective!r}; set radius instead: p=Schatten(p, radius=…)"
        )
    least = PER_DIMENSION * min(dx, dy)
    if solver.stages is not None and any(size < least for size in solver.stages.as_tuple()):
        raise InputError(
            f"stages: expected sizes of at least {least}, two points per dimension, got {solver.stages.sizes!r}; "
            "fewer points do not determine a map"
        )
    if scale and maps.radius is not None:
        raise InputError(
            f"radius: expected None with scale=True, which finds the size of the map itself, got {maps.radius:g}; "
            "leave one of them out"
        )


def check_partial(maps: Maps, solver: Solver, search: Search) -> None:
    """Raise for options that ``overlap`` excludes."""
    if search.seed_weight is not None:
        raise InputError(
            f"seed_weight: expected None with overlap, where known pairs only start the solve, got {search.seed_weight:g}; leave "
            "seed_weight out, or overlap"
        )
    for name, wrong, value in (
        ("p", not math.isinf(maps.p), f"{maps.p:g}"),
        ("whiten", maps.whiten, "True"),
        ("radius", maps.radius is not None, f"{maps.radius}"),
        ("objective", solver.objective != "simplified", repr(solver.objective)),
        ("refit", solver.refit, "True"),
    ):
        if wrong:
            raise InputError(
                f"overlap: expected None with {name}={value}, since unmatched points need maps that keep distances and no refit, "
                f"got both; leave {name} out, or overlap"
            )
