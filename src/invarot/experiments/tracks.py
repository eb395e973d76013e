"""Runs recorded step by step: how objective and precision move together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.stats import rankdata

from .run import Row

FOUND = 0.05  # a run whose precision never reaches this found nothing


def runs_of(rows: list[Row]) -> list[list[Row]]:
    """Return the rows of each run, in order of steps."""
    runs: dict[Any, list[Row]] = {}
    for row in rows:
        runs.setdefault(tuple(row.get(key) for key in ("system", "pair", "disturbance", "seed")), []).append(row)
    return [sorted(run, key=lambda row: row["step"]) for run in runs.values()]


def found_something(run: list[Row]) -> bool:
    return max(row["precision@1"] for row in run) >= FOUND


def correlate(left: Any, right: Any) -> float:
    """Return Spearman's rank correlation; NaN if one side is constant."""
    left, right = rankdata(left), rankdata(right)
    if np.ptp(left) == 0 or np.ptp(right) == 0:
        return math.nan
    return float(np.corrcoef(left, right)[0, 1])


def along(run: list[Row], *, value: str = "objective", detrended: bool = False) -> float:
    """Return the rank correlation of ``value`` and precision over the steps of a run.

    ``detrended``: of their changes from step to step, so that two quantities which merely grow with time do not count.
    """
    left, right = ([row[name] for row in run] for name in (value, "precision@1"))
    return correlate(np.diff(left), np.diff(right)) if detrended else correlate(left, right)
