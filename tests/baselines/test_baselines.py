"""Each baseline on a cloud whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot import Alignment, InputError, baselines
from invarot.baselines.wasserstein_procrustes import convex_start
from invarot.geometry.schatten import schatten_norm
from invarot.starts import random

DIMENSION = 3


@pytest.fixture(scope="module")
def cloud():
    """A skew cloud, turned and shuffled: x, y, the rotation, and for each row of x its row of y."""
    rng = np.random.default_rng(4)
    x = rng.gamma(1.5, size=(80, DIMENSION))
    x -= x.mean(axis=0)
    turn = np.linalg.qr(rng.normal(size=(DIMENSION, DIMENSION)))[0]
    turn *= np.sign(np.linalg.det(turn))
    order = rng.permutation(len(x))
    return x, (x @ turn)[order], turn, np.argsort(order)


def accuracy(result: Alignment, answer: np.ndarray) -> float:
    return float(np.mean(np.asarray(result.matches()) == answer))


@pytest.mark.parametrize("system", [baselines.emd, baselines.entropic])
def test_classic_transport_knows_points_that_moved_a_little(system):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 4))
    order = rng.permutation(60)
    found = system(x, x[order] + 0.01 * rng.normal(size=(60, 4)))
    assert accuracy(found, np.argsort(order)) > 0.98
    assert np.array_equal(found.map, np.eye(4))
    assert found.verdict.word == "aligned"


@pytest.mark.parametrize("system", [baselines.emd, baselines.entropic])
def test_classic_transport_does_not_know_rotations(system, cloud):
    x, y, _, answer = cloud
    assert accuracy(system(x, y), answer) < 0.3


def test_emd_is_the_cheapest_plan(cloud):
    ot = pytest.importorskip("ot")
    x, y, _, _ = cloud
    cost = ((x[:, None] - y[None]) ** 2).sum(-1)
    uniform = np.full(len(x), 1 / len(x))
    assert baselines.emd(x, y).plan.cost() == pytest.approx(ot.emd2(uniform, uniform, cost))


def test_entropic_is_pots_sinkhorn(cloud):
    ot = pytest.importorskip("ot")
    x, y, _, _ = cloud
    cost = ((x[:, None] - y[None]) ** 2).sum(-1)
    uniform = np.full(len(x), 1 / len(x))
    found = baselines.entropic(x, y, epsilon=0.1, tol=1e-9, max_iter=20_000)
    theirs = ot.sinkhorn(uniform, uniform, cost, found.plan.epsilon, stopThr=1e-11, numItermax=20_000)
    assert np.abs(found.plan.dense() - theirs).max() < 1e-8


def test_other_dimensions_have_no_distance():
    with pytest.raises(InputError, match="as many columns"):
        baselines.emd(np.ones((4, 2)), np.ones((4, 3)))


def test_oracle_is_told_the_map(cloud):
    x, y, turn, answer = cloud
    found = baselines.oracle(x, y, true_map=turn, epsilon=0.003, tol=1e-9)
    assert accuracy(found, answer) > 0.95
    assert np.array_equal(found.map, turn)
    untransformed = baselines.oracle(x, y @ turn.T, epsilon=0.003, tol=1e-9)
    assert np.allclose(untransformed.plan.dense(), found.plan.dense(), atol=1e-6)


def test_procrustes_needs_as_many_pairs_as_dimensions(cloud):
    x, y, turn, answer = cloud
    pairs = np.stack([np.arange(DIMENSION), answer[:DIMENSION]], axis=1)
    found = baselines.procrustes(x, y, pairs)
    assert np.allclose(found.map, turn)
    assert accuracy(found, answer) == 1
    assert found.verdict.word == "aligned"
    wrong = np.stack([np.arange(DIMENSION), np.roll(answer[:DIMENSION], 1)], axis=1)
    assert not np.allclose(baselines.procrustes(x, y, wrong).map, turn, atol=0.1)


def test_procrustes_between_dimensions():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 5))
    w = np.linalg.qr(rng.normal(size=(5, 3)))[0]
    found = baselines.procrustes(x, x @ w, [(i, i) for i in range(50)])
    assert found.map.shape == (5, 3)
    assert np.allclose(np.linalg.svd(found.map)[1], 1)


def test_earth_mover_finds_the_rotation_and_depends_on_its_start(cloud):
    x, y, turn, answer = cloud
    found = baselines.earth_mover(x, y)
    assert accuracy(found, answer) == 1
    assert np.allclose(found.map, turn)
    assert found.plan.epsilon == 0
    assert accuracy(baselines.earth_mover(x, y, start=-turn), answer) < 0.5


def test_an_annealed_start_helps_exact_plans(cloud):
    x, y, _, answer = cloud
    start = random(x, y, None, None, rng=np.random.default_rng(0), n_starts=14)[-1]
    plain, annealed = (baselines.earth_mover(x, y, start=start, annealed=flag) for flag in (False, True))
    assert accuracy(plain, answer) < 0.5
    assert accuracy(annealed, answer) == 1


def test_algorithm_1_has_two_stages(cloud):
    x, y, turn, _ = cloud
    y = x @ turn
    found = baselines.algorithm_1(x, y, size=40, n_starts=20)
    assert found.plan.matches().shape == (len(x),)
    assert found.history["epsilon"][0] == 1.0  # the second stage anneals again
    assert baselines.algorithm_1(x, y, n_starts=20).starts[0].name == "gaussian"  # all rows fit the first stage
    assert found.starts[0].name == "given"


@pytest.mark.parametrize("p", [2.0, 4.0, np.inf])
def test_invarot_lands_on_its_ball(p, cloud):
    x, y, _, answer = cloud
    found = baselines.lp_invarot(x, y, p=p)
    assert accuracy(found, answer) == 1
    assert float(schatten_norm(found.map, p)) == pytest.approx(1.0 if np.isinf(p) else DIMENSION ** (1 / p))


def test_names_of_the_paper(cloud):
    x, y, turn, _ = cloud
    assert np.allclose(baselines.linf_invarot(x, y).map, turn, atol=1e-3)
    assert baselines.l2_invarot(x, y).settings["p"] == 2


@pytest.fixture(scope="module")
def turned():
    rng = np.random.default_rng(1)
    x = rng.gamma(1.0, size=(300, 6))
    x -= x.mean(axis=0)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    order = rng.permutation(300)
    return x, (x @ turn)[order], turn, np.argsort(order)


def test_wasserstein_procrustes(turned):
    x, y, turn, answer = turned
    small = {"batch": 150, "epochs": 2, "iterations": 60, "start_iterations": 30}
    found = baselines.wasserstein_procrustes(x, y, **small)
    assert accuracy(found, answer) > 0.95
    assert np.linalg.norm(found.map - turn) < 0.1
    assert len(found.history) == 2
    assert np.array_equal(baselines.wasserstein_procrustes(x, y, **small).map, found.map)
    given = baselines.wasserstein_procrustes(x, y, start=turn, epochs=0)
    assert np.array_equal(given.map, turn)
    # a rate so small that nothing moves stays at the convex start
    still = baselines.wasserstein_procrustes(x, y, **{**small, "rate": 1e-9, "iterations": 1})
    assert np.allclose(still.map, convex_start(x, y, max_iter=30), atol=1e-6)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_wasserstein_procrustes_side_by_side(library, turned):
    """Each run ends where it ends alone, but for sweeps that wait for the others."""
    x, y, turn, _ = turned
    if library == "torch":
        x, y = (pytest.importorskip("torch").as_tensor(side) for side in (x, y))
    near = np.linalg.qr(turn + 0.05)[0] * np.sign(np.diag(np.linalg.qr(turn + 0.05)[1]))
    small = {"batch": 100, "epochs": 2, "iterations": 8}
    runs = baselines.wasserstein_procrustes_runs([(x, y), (y, x)], rngs=[3, 4], starts=[near, near.T], **small)
    alone = [
        baselines.wasserstein_procrustes(x, y, rng=3, start=near, **small),
        baselines.wasserstein_procrustes(y, x, rng=4, start=near.T, **small),
    ]
    for found, single, answer in zip(runs, alone, (turn, turn.T), strict=True):
        assert type(found.map) is type(x)
        assert np.linalg.norm(np.asarray(found.map) - answer) < 0.1
        assert np.allclose(np.asarray(found.map), np.asarray(single.map), atol=1e-3)
        assert found.history["objective"] == pytest.approx(single.history["objective"], rel=1e-3)
    assert runs[0].history["objective"] != runs[1].history["objective"]


def test_the_convex_start_is_frank_wolfe_with_whole_matrices(turned):
    """The plan is never formed there; here it is, and the linear problems are POT's."""
    x, y, _, _ = turned
    n = len(x)
    roots = [u * s @ u.T for u, s, _ in (np.linalg.svd(side, full_matrices=False) for side in (x, y))]
    plan = np.full((n, n), 1 / n)
    for number in range(1, 6):
        cost = roots[0] @ roots[0] @ plan + plan @ roots[1] @ roots[1] - 2 * roots[0] @ plan @ roots[1]
        corner = pytest.importorskip("ot").sinkhorn(np.ones(n), np.ones(n), cost, 0.05, stopThr=1e-9)
        plan += 2 / (2 + number) * (corner - plan)
    u, _, vt = np.linalg.svd(x.T @ plan @ y)
    assert np.allclose(convex_start(x, y, max_iter=5), u @ vt, atol=0.02)


def test_results_can_be_kept(cloud, tmp_path):
    x, y, _, _ = cloud
    found = baselines.entropic(x, y, epsilon=0.05)
    found.save(tmp_path / "kept")
    again = invarot.load(tmp_path / "kept")
    assert np.array_equal(again.map, found.map)
    assert again.settings["baseline"] == "sinkhorn"


def test_results_are_results(cloud):
    """Every field that a report or a table reads is there."""
    x, y, _, answer = cloud
    for found in (baselines.emd(x, y), baselines.procrustes(x, y, [(i, int(answer[i])) for i in range(9)])):
        assert isinstance(found, Alignment)
        assert "verdict" in str(found)
        assert len(found.history) == 1
        assert found.transform(x).shape == y.shape
        assert found.settings["baseline"] in ("emd", "procrustes")
