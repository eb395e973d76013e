from __future__ import annotations

import numpy as np
import pytest

from invarot import MissingExtra, baselines
from invarot.baselines.adversarial import criterion


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(3)
    x = rng.gamma(0.7, size=(300, 2)) @ np.diag([1.5, 0.7])
    x -= x.mean(axis=0)
    angle = 0.35
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return x, x[rng.permutation(300)] @ turn, turn


def test_learns_a_small_rotation(clouds):
    pytest.importorskip("torch")
    x, y, turn = clouds
    seen = []
    found = baselines.adversarial(
        x, y, epochs=3, epoch_size=3000, hidden=32, beta=0.05, dropout=0.0, rng=1, on_epoch=seen.append
    )
    assert np.linalg.norm(found.map - turn) < 0.5 * np.linalg.norm(np.eye(2) - turn)
    assert np.allclose(np.linalg.svd(found.map)[1], 1, atol=0.2)
    assert len(seen) == 3
    assert found.history["objective"] == [epoch.criterion for epoch in seen]


def test_the_criterion_knows_the_right_map():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 5))
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    assert criterion(x, x @ turn, turn) == pytest.approx(1)
    assert criterion(x, x @ turn, np.eye(5)) < 0.97


def test_without_torch(monkeypatch, clouds):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtra, match="invarot\\[torch\\]"):
        baselines.adversarial(*clouds[:2])
