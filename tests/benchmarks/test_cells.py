"""The benchmark of cells: its scores on spaces where the answer is known, and the fit of the rule."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import cells_verdict
from benchmarks.cells import print_ceiling, reach_labels, transfer_both

TYPES = np.repeat([0, 1, 2], 20)
POINTS = np.eye(3)[TYPES] + np.random.default_rng(0).normal(scale=0.05, size=(60, 3))


def test_labels_are_scored_on_types_that_both_sides_have():
    assert transfer_both(POINTS, POINTS, TYPES, TYPES) == (1.0, 1.0)
    kept = TYPES != 2
    assert transfer_both(POINTS, POINTS[kept], TYPES, TYPES[kept]) == (1.0, 1.0)
    assert transfer_both(POINTS, np.roll(POINTS, 20, axis=0), TYPES, TYPES) == (0.0, 0.0)


def test_reach_is_what_one_assay_alone_can_tell():
    every = np.arange(60)
    assert reach_labels(POINTS, TYPES, every, every) == 1
    shuffled = np.random.default_rng(0).permutation(TYPES)
    assert reach_labels(POINTS, shuffled, every, every) < 0.6


def test_the_ceiling_tells_an_assay_that_knows_the_types_from_one_that_does_not(capsys):
    pytest.importorskip("sklearn")
    print_ceiling((POINTS, np.random.default_rng(1).normal(size=(60, 3)), TYPES))
    shares = [line.split("5 neighbours ")[1].split(" %")[0] for line in capsys.readouterr().out.splitlines()]
    assert [float(one) for one in shares[:2]] == [100, 100]
    assert max(float(one) for one in shares[2:]) < 60


def make_rows(n=120):
    """Solves whose agreement tells right from wrong, and whose other features say nothing."""
    rng = np.random.default_rng(0)
    right = rng.random(n) < 0.5
    agreement = np.where(right, 0.78, 0.6) + rng.normal(scale=0.05, size=n)
    return [
        {"draw": str(i), "mode": "full", "agreement": str(agreement[i]), "lead": str(rng.random() / 10),
         "apart": str(rng.random()), "foscttm": "0.08", "right": str(int(right[i]))}
        for i in range(n)
    ]  # fmt: skip


def test_the_rule_learns_what_tells_right_from_wrong():
    rows = make_rows()
    made = cells_verdict.fit(rows)
    assert made["right"]["weights"]["agreement"] > 5
    assert made["right"]["weights"]["lead"] >= 0 >= made["right"]["weights"]["apart"]
    assert 0.5 <= made["coarse"] <= 1
    assert np.exp(made["resolution"]["bias"] + made["resolution"]["weights"]["agreement"] * 0.78) == pytest.approx(
        0.08, rel=0.1
    )
