from __future__ import annotations

import numpy as np
import pytest

from invarot import MissingExtra, baselines
from invarot.baselines.adversarial import Training, criterion, refine_run


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


@pytest.mark.parametrize("turns", [1, 2, 5])
def test_rounds_are_the_same_played_by_the_book(turns):
    """The slopes written out, in two games at once, are those of torch's own modules and optimiser, for any steps a round.

    The middle weights change once per round, which has to be the same as after every step.
    """
    torch = pytest.importorskip("torch")
    from invarot.baselines.game import Games

    torch.manual_seed(0)
    clouds = [(torch.randn(1, 3), torch.randn(1, 3)) for _ in range(2)]  # one word a side: no draw changes what is seen
    rates = [0.1, 0.3]
    games = Games(
        clouds, [1, 2], batch=4, hidden=8, judge_rounds=turns, dropout=0.0, smoothing=0.1, beta=0.01, rate=0.2
    )
    first = [value.clone() for value in games.judge]
    losses = games.play(3, rates)
    # the discriminators' rate stays 0.2 whatever the maps' is
    for k, ((x, y), rate) in enumerate(zip(clouds, rates, strict=True)):
        w, loss, judge = by_the_book(torch, x, y, [value[k] for value in first], rate, turns)
        assert torch.allclose(games.maps[k], w.T, atol=1e-6)
        for value, theirs in zip(games.judge, judge, strict=True):
            assert torch.allclose(value[k], theirs.T if theirs.ndim == 2 else theirs[None], atol=1e-6)
        assert losses[k] == pytest.approx(loss, abs=1e-6)
    assert not torch.allclose(games.maps[0], games.maps[1], atol=1e-3)


def by_the_book(torch, x, y, judge_values, rate, turns):
    nn = torch.nn
    judge = nn.Sequential(
        nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid()
    )
    for theirs, ours in zip(judge.parameters(), judge_values, strict=True):
        theirs.data.copy_(ours.T if theirs.ndim == 2 else ours[0])
    w = torch.eye(3, requires_grad=True)
    labels = torch.tensor([0.9] * 4 + [0.1] * 4)
    total, told = 0.0, []
    for _ in range(3):
        for target, values in (*[(labels, list(judge.parameters()))] * turns, (1 - labels, [w])):
            step = torch.optim.SGD(values, lr=rate if values[0] is w else 0.2)
            step.zero_grad()
            words = torch.cat([(x @ w.T).expand(4, 3), y.expand(4, 3)])
            loss = nn.functional.binary_cross_entropy(judge(words)[:, 0], target)
            loss.backward()
            step.step()
            told = [*told[-1:], loss.item()]
        total += told[0]  # the discriminator's, before its last step
        w.data.copy_(1.01 * w.data - 0.01 * w.data @ w.data.T @ w.data)
    return w.detach(), total / 3, [value.detach() for value in judge.parameters()]


def test_games_draw_from_their_own_clouds():
    torch = pytest.importorskip("torch")
    from invarot.baselines.game import Games

    a, b = torch.full((5, 2), 1.0), torch.full((3, 2), 2.0)
    options = {"batch": 50, "hidden": 4, "judge_rounds": 1, "dropout": 0.0, "smoothing": 0.1, "beta": 0.0, "rate": 0.1}
    games = Games([(a, b), (b, a), (a, a)], [0, 0, 0], **options)
    assert [set(side.flatten().tolist()) for side in games._draw(games.sides[0], 50)] == [{1.0}, {2.0}, {1.0}]
    assert [set(side.flatten().tolist()) for side in games._draw(games.sides[1], 50)] == [{2.0}, {1.0}, {1.0}]
    assert len(games.sides[0][0]) == 8  # a cloud of two games is kept once


def test_runs_side_by_side(clouds):
    pytest.importorskip("torch")
    x, y, turn = clouds
    seen = []
    options = {"epochs": 3, "epoch_size": 3000, "hidden": 32, "beta": 0.05, "dropout": 0.0}
    runs = baselines.adversarial_runs([(x, y), (y, x)], rngs=[1, 2], refinements=2, on_epoch=seen.append, **options)
    assert [(epoch.number, epoch.run) for epoch in seen] == [(k // 2, k % 2) for k in range(6)]
    for found, answer in zip(runs, (turn, turn.T), strict=True):
        assert np.linalg.norm(found.map - answer) < 0.5 * np.linalg.norm(np.eye(2) - turn)
    again = baselines.adversarial_runs([(x, y), (y, x)], rngs=[1, 2], refinements=2, **options)
    assert all(np.array_equal(one.map, other.map) for one, other in zip(runs, again, strict=True))


def test_refinement_keeps_what_the_criterion_likes():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 6))
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    near = np.linalg.qr(turn + 0.1 * rng.normal(size=(6, 6)))[0]
    near *= np.sign(np.sum(near * turn, axis=0))
    run = Training(0.1, near, value=criterion(x, x @ turn, near))
    before = run.value
    refine_run(run, x, x @ turn, 5)
    assert run.value > before + 1e-3
    assert np.allclose(run.best, turn)
    assert len(run.history) == 5  # all rounds, as in MUSE
    tired = Training(0.1, near, value=1.1)
    refine_run(tired, x, x @ turn, 5)
    assert np.array_equal(tired.best, near)
    assert len(tired.history) == 5


def test_refinement_drops_rare_words_on_either_side():
    """Neighbours are searched among all rows; pairs beyond the rank are not fitted."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 6))
    turn, other = (np.linalg.qr(rng.normal(size=(6, 6)))[0] for _ in range(2))
    y = np.concatenate([x[:100] @ turn, x[100:] @ other])  # rare words follow another rotation
    whole, cut = (Training(0.1, turn, value=-1.0) for _ in range(2))
    refine_run(whole, x, y, 1)
    refine_run(cut, x, y, 1, words=100)
    assert np.allclose(cut.best, turn)
    assert not np.allclose(whole.best, turn, atol=1e-3)
