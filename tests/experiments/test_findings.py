"""The arithmetic of verdicts, on numbers whose answer is known."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from invarot.experiments.findings import (
    CONFIRMED,
    OPEN,
    REFUTED,
    Finding,
    Interval,
    both,
    decide,
    estimate,
    estimate_share,
    is_above,
    is_below,
    is_within,
    opposite,
    pair_up,
)


def test_interval_is_that_of_student():
    values = [1.0, 2.0, 4.0, 4.5, 3.0]
    found = estimate(values)
    low, high = stats.t.interval(0.95, 4, loc=2.9, scale=stats.sem(values))
    assert (found.mean, found.low, found.high, found.count) == pytest.approx((2.9, low, high, 5))
    assert found.show(1) == f"+2.9 [{low:+.1f}, {high:+.1f}]"
    assert estimate([math.nan, 3.0]).show(1, sign=False) == "3.0"
    assert estimate([]).show() == "none"


def test_share_has_an_exact_interval():
    found = estimate_share(30, 30)
    assert found.mean == 1
    assert found.low == pytest.approx(0.025 ** (1 / 30))
    assert estimate_share(0, 0).count == 0


def test_verdicts():
    clear, unclear, few = Interval(1, 0.5, 1.5, 10), Interval(0.2, -0.1, 0.5, 10), Interval(1, 0.5, 1.5, 4)
    assert [is_above(one) for one in (clear, unclear, few)] == [CONFIRMED, OPEN, OPEN]
    assert [is_below(one) for one in (clear, unclear, few)] == [REFUTED, OPEN, OPEN]
    assert is_above(clear, 2.0) == REFUTED
    assert [is_within(one, 1.0) for one in (clear, unclear)] == [OPEN, CONFIRMED]
    assert is_within(clear, 0.4) == REFUTED
    assert both(CONFIRMED, CONFIRMED) == CONFIRMED
    assert both(CONFIRMED, OPEN) == both() == OPEN
    assert both(CONFIRMED, OPEN, REFUTED) == REFUTED
    assert [opposite(one) for one in (CONFIRMED, REFUTED, OPEN)] == [REFUTED, CONFIRMED, OPEN]
    assert (decide(True), decide(False)) == (CONFIRMED, REFUTED)
    assert str(Finding("a claim", "numbers", OPEN)) == "CANNOT TELL: a claim (numbers)"


def test_units_are_paired():
    rows = [{"unit": k, "name": name, "value": k + gain} for k in range(3) for name, gain in (("a", 2), ("b", 1))]
    rows += [
        {"unit": 9, "name": "a", "value": 5},
        {"unit": 0, "name": "a", "value": 4},
        {"unit": 1, "name": "b", "value": None},
    ]
    found = pair_up(rows, lambda row: row["unit"], "value", of={"name": "a"}, less={"name": "b"})
    assert found == [2, 1, 1]  # the first unit of "a" has two rows, 2 and 4; the last has no partner
