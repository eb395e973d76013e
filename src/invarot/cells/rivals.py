"""How clearly the chosen plan beats the best one that sends cells elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from .coarse import Groups
from .search import Choice

Floats = np.ndarray[Any, Any]

OTHER_TARGETS = 0.25  # of the variance: targets that differ by this much are other ones


def measure_lead(choices: list[Choice], right: Groups) -> float:
    """Return by how much the best plan agrees better than the best other one that sends cells elsewhere; inf without one."""
    best = choices[0]
    others = [one.agreement for one in choices[1:] if compare_targets(best.plan, one.plan, right) > OTHER_TARGETS]
    return best.agreement - max(others) if others else float("inf")


def compare_targets(one: Floats, other: Floats, right: Groups) -> float:
    """Return the mean squared distance between the targets of two plans (n, m), over twice their variance: 0 to 1 or so.

    The target of a group is the mean of its matches, in the first view; the mean is over groups with weight in both plans.
    """
    view = next(iter(right.views.values()))
    first, second = (plan @ view / np.maximum(plan.sum(1, keepdims=True), 1e-12) for plan in (one, other))
    weights = np.minimum(one.sum(1), other.sum(1))
    weights = weights / weights.sum()
    spread = sum(float(weights @ ((points - weights @ points) ** 2).sum(1)) for points in (first, second))
    return float(weights @ ((first - second) ** 2).sum(1)) / (spread or 1.0)
