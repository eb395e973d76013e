"""Classic optimal transport (earth mover's distance), without a map."""

from __future__ import annotations

from typing import Any

from ..alignment.result import Alignment
from ..transport.exact import exact_plan
from .outcome import as_alignment, check_registered, rectangular_identity


def emd(x: Any, y: Any, *, a: Any = None, b: Any = None) -> Alignment:
    """Compute the exact plan for ‖xᵢ − yⱼ‖²; the map is the identity.

    Departures: none. Needs as many columns in x as in y, for the cost to be defined.
    """
    x, y, a, b = check_registered(x, y, a, b)
    return as_alignment(x, y, a, b, rectangular_identity(x, y), name="emd", plan=exact_plan(x, y, a, b))
