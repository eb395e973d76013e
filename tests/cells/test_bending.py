"""Bending: where one assay is bent, the plan after it is nearer to the truth than that of rigid maps."""

from __future__ import annotations

import numpy as np

from invarot.cells import bending
from invarot.cells.bending import bend
from invarot.cells.solve import frame
from invarot.transport.entropic import entropic_plan


def bent_pair(n=300):
    """A sheet and the same sheet sheared here one way and there the other; row i of both is the same cell."""
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(n, 2)) * [1.0, 0.8]
    y = np.column_stack([x[:, 0], x[:, 1] + 0.8 * np.sin(1.5 * x[:, 0])]) + rng.normal(scale=0.03, size=(n, 2))
    even = np.full(n, 1 / n)
    return frame({"linear": x}, even), frame({"linear": y}, even), even


def error(plan, x):
    """How far the mean of the matches lies from the true one."""
    dense = np.asarray(plan.dense())
    return np.linalg.norm(dense.T @ x / dense.sum(0)[:, None] - x, axis=1).mean()


def test_a_bent_assay_is_met_better_than_by_rigid_maps():
    x, y, even = bent_pair()
    n = len(even)
    u, _, vt = np.linalg.svd(x["linear"].T @ y["linear"] / n)
    rigid = entropic_plan(x["linear"] @ u @ vt, y["linear"], even, even, epsilon=0.05, tol=1e-4, max_iter=500)
    found = bend(rigid, x, y)
    assert error(found, x["linear"]) < 0.9 * error(rigid, x["linear"])
    assert np.abs(np.asarray(found.dense()).sum(1) - even).sum() < 1e-2


def test_without_rounds_the_plan_stays(monkeypatch):
    x, y, even = bent_pair(40)
    plan = entropic_plan(x["linear"], y["linear"], even, even, epsilon=0.1, tol=1e-4, max_iter=500)
    monkeypatch.setattr(bending, "ROUNDS", 0)
    assert np.array_equal(bend(plan, x, y).dense(), plan.dense())
