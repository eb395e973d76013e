"""Verdicts on the paper's claims, computed from the rows of an experiment: confirmed, refuted or cannot tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

Verdict = Literal["confirmed", "refuted", "cannot tell"]
CONFIRMED: Verdict = "confirmed"
REFUTED: Verdict = "refuted"
OPEN: Verdict = "cannot tell"
FEWEST = 5  # independent units (clouds, seeds, parts of a test list) below which nothing is concluded


@dataclass(frozen=True)
class Finding:
    """A claim, the numbers that speak for or against it, and the verdict."""

    claim: str
    evidence: str
    verdict: Verdict

    def __str__(self) -> str:
        return f"{self.verdict.upper()}: {self.claim} ({self.evidence})"

    def row(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval over ``count`` independent units."""

    mean: float
    low: float
    high: float
    count: int

    def show(self, digits: int = 3, sign: bool = True) -> str:
        form = f"{'+' if sign else ''}.{digits}f"
        if not math.isfinite(self.mean):
            return "none"
        if not math.isfinite(self.low):
            return f"{self.mean:{form}}"
        return f"{self.mean:{form}} [{self.low:{form}}, {self.high:{form}}]"


def estimate(values: Iterable[float]) -> Interval:
    """Return the mean of independent values and its t-interval; values that are not finite are left out."""
    some = np.asarray([value for value in values if math.isfinite(value)], dtype=float)
    count = len(some)
    if count < 2:
        return Interval(float(some.mean()) if count else math.nan, -math.inf, math.inf, count)
    mean, error = float(some.mean()), float(some.std(ddof=1) / math.sqrt(count))
    reach = float(stats.t.ppf(0.975, count - 1)) * error
    return Interval(mean, mean - reach, mean + reach, count)


def estimate_share(hits: int, runs: int) -> Interval:
    """Return a share and its exact (Clopper–Pearson) 95 % interval."""
    if runs == 0:
        return Interval(math.nan, 0.0, 1.0, 0)
    found = stats.binomtest(hits, runs).proportion_ci(0.95)
    return Interval(hits / runs, float(found.low), float(found.high), runs)


def subtract(left: Interval, right: Interval) -> Interval:
    """Return the difference of two independent estimates."""
    mean = left.mean - right.mean
    below = math.hypot(left.mean - left.low, right.high - right.mean)
    above = math.hypot(left.high - left.mean, right.mean - right.low)
    return Interval(mean, mean - below, mean + above, min(left.count, right.count))


def is_above(found: Interval, margin: float = 0.0) -> Verdict:
    """Return whether the mean is above ``margin``: the whole interval above it, the whole below, or neither."""
    if found.count < FEWEST:
        return OPEN
    return CONFIRMED if found.low > margin else REFUTED if found.high < margin else OPEN


def is_below(found: Interval, margin: float = 0.0) -> Verdict:
    """Return whether the mean is below ``margin``."""
    return opposite(is_above(found, margin))


def is_within(found: Interval, margin: float) -> Verdict:
    """Return whether the mean lies between −margin and margin."""
    return both(is_above(found, -margin), is_below(found, margin))


def opposite(verdict: Verdict) -> Verdict:
    return {CONFIRMED: REFUTED, REFUTED: CONFIRMED}.get(verdict, OPEN)


def both(*verdicts: Verdict) -> Verdict:
    """Return the verdict on "all of these": refuted by one that is, confirmed by all."""
    if REFUTED in verdicts:
        return REFUTED
    return CONFIRMED if verdicts and set(verdicts) == {CONFIRMED} else OPEN


def decide(holds: bool) -> Verdict:
    """Return the verdict on a claim that needs no statistics, such as an identity."""
    return CONFIRMED if holds else REFUTED


def pair_up(
    rows: Sequence[dict[str, Any]], unit: Callable[[dict[str, Any]], Any], value: str, *, of: dict[str, Any],
    less: dict[str, Any],
) -> list[float]:  # fmt: skip
    """Return ``value`` of the rows that match ``of`` minus that of the rows that match ``less``, unit by unit.

    Units with several rows count with their mean; those that one side does not have are left out.
    """
    sides = []
    for wanted in (of, less):
        found: dict[Any, list[float]] = {}
        for row in rows:
            if all(row.get(key) == want for key, want in wanted.items()) and row.get(value) is not None:
                found.setdefault(unit(row), []).append(float(row[value]))
        sides.append({key: float(np.mean(some)) for key, some in found.items()})
    return [sides[0][key] - sides[1][key] for key in sides[0] if key in sides[1]]
