"""Every check of user input. One form of message: ``argument: expected …, got …; what to do``."""

from .points import (
    check_map,
    check_new_points,
    check_points,
    check_range,
    check_same_library,
    check_weights,
    common_dtype,
    in_range,
)
from .values import check_choice, check_count, check_flag, check_known, check_number, check_rng

__all__ = [
    "check_choice",
    "check_count",
    "check_flag",
    "check_known",
    "check_map",
    "check_new_points",
    "check_number",
    "check_points",
    "check_range",
    "check_rng",
    "check_same_library",
    "check_weights",
    "common_dtype",
    "in_range",
]
