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


def test_checkpoints_and_length(clouds):
    pytest.importorskip("torch")
    x, y, _ = clouds
    seen = []
    small = {"epochs": 2, "epoch_size": 640, "hidden": 16, "rng": 1}
    found = baselines.adversarial(x, y, checkpoints=2, on_epoch=seen.append, **small)
    assert [epoch.epochs for epoch in seen] == [0.5, 1, 1.5, 2]
    assert seen[0].rate == seen[1].rate == 0.1
    assert seen[2].rate == pytest.approx(0.098)
    best = max(seen, key=lambda epoch: epoch.criterion)
    assert np.array_equal(found.map, best.map)
    other = baselines.adversarial(x, y, checkpoints=2, length=5.0, **small)
    assert not np.allclose(other.map, found.map)


def test_rounds_are_the_same_played_by_the_book():
    """The hand-written step of the players is that of torch's own modules and optimiser."""
    torch = pytest.importorskip("torch")
    from invarot.baselines.game import Game

    torch.manual_seed(0)
    x, y = torch.randn(1, 3), torch.randn(1, 3)  # one word a side: no draw changes what is seen
    game = Game(x, y, batch=4, hidden=8, judge_rounds=1, dropout=0.0, smoothing=0.1, beta=0.01)
    nn = torch.nn
    judge = nn.Sequential(
        nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid()
    )
    for theirs, ours in zip(judge.parameters(), game.judge, strict=True):
        theirs.data.copy_(ours.detach())
    w = torch.eye(3, requires_grad=True)
    labels = torch.tensor([0.9] * 4 + [0.1] * 4)
    for _ in range(3):
        for target, values in ((labels, list(judge.parameters())), (1 - labels, [w])):
            step = torch.optim.SGD(values, lr=0.1)
            step.zero_grad()
            words = torch.cat([(x @ w.T).expand(4, 3), y.expand(4, 3)])
            nn.functional.binary_cross_entropy(judge(words)[:, 0], target).backward()
            step.step()
        w.data.copy_(1.01 * w.data - 0.01 * w.data @ w.data.T @ w.data)
    assert game.play(3, 0.1) > 0
    assert torch.allclose(game.map(), w.detach().T, atol=1e-6)
