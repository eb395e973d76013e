"""Stages: any number of them, of points or of weighted centroids, and the same end."""

import numpy as np
import pytest

import invarot
from invarot.alignment.multiscale import centroids, stage_sizes, subproblem
from invarot.alignment.problem import pose
from invarot.alignment.settings import Settings


def test_sizes():
    default = Settings(sharpest=1e-3)
    assert stage_sizes(3000, default) == []
    assert stage_sizes(5000, default) == [1500]
    assert stage_sizes(50_000, default) == [1500, 10_500]
    assert stage_sizes(50_000, Settings()) == []  # a schedule of the caller's own
    assert stage_sizes(5000, Settings(stages=(100, 1000, 9000))) == [100, 1000]
    assert stage_sizes(50_000, Settings(stages=(), sharpest=1e-3)) == []


def test_centroids_are_weighted_means_and_carry_all_weight(lib):
    rng = np.random.default_rng(0)
    middle = 10 * rng.standard_normal((6, 3))
    label = np.arange(120) % 6
    x = middle[label] + 0.01 * rng.standard_normal((120, 3))
    a = rng.uniform(0.5, 1, 120)
    a /= a.sum()
    found, mass = (lib.numpy(part) for part in centroids(lib.array(x), lib.array(a), 60, np.random.default_rng(1)))
    assert 6 <= len(found) <= 60
    assert mass.sum() == pytest.approx(1)
    assert (mass > 0).all()
    np.testing.assert_allclose(mass @ found, a @ x, atol=1e-10)  # the mean of the cloud is kept
    blob = np.argmin(((found[:, None] - middle) ** 2).sum(2), axis=1)
    assert np.abs(found - middle[blob]).max() < 0.1  # no centroid mixes two blobs
    np.testing.assert_allclose([mass[blob == k].sum() for k in range(6)], [a[label == k].sum() for k in range(6)])


def test_points_of_no_weight_are_no_centres():
    x = np.random.default_rng(0).standard_normal((50, 2))
    a = np.where(np.arange(50) < 10, 0.1, 0.0)
    found, mass = centroids(x, a, 20, np.random.default_rng(0))
    assert len(found) <= 10
    np.testing.assert_allclose(mass @ found, a @ x, atol=1e-12)


@pytest.mark.parametrize("coarse", ["points", "clusters"])
def test_stages_end_where_all_points_at_once_do(coarse):
    """And most of the steps are made on few points."""
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(900, 4))
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    y = x[rng.permutation(900)] @ turn + 0.05 * rng.standard_normal((900, 4))
    start = np.linalg.qr(turn + 0.3 * rng.standard_normal((4, 4)))[0]
    start *= np.sign(np.sum(start * turn, axis=0))
    options = {"start": start, "schedule": invarot.Schedule(0.3, 0.8, 0.01), "tol": 1e-5}
    seen = []
    whole = invarot.align(x, y, **options)
    staged = invarot.align(x, y, stages=(100, 300), coarse=coarse, on_step=seen.append, **options)
    assert [step.stage.split()[0] for step in seen if step.step == 0] == ["100", "300", "solve"]
    assert staged.objective == pytest.approx(whole.objective, rel=1e-3)
    np.testing.assert_allclose(staged.map, whole.map, atol=1e-2)
    assert sum(step.stage == "solve" for step in seen) < len(whole.history)
    assert (coarse == "clusters") == any("clusters" in step.stage for step in seen)


def test_clusters_change_the_subproblem():
    x = np.random.default_rng(0).standard_normal((80, 2))
    a = np.full(80, 1 / 80)
    problem = pose(x, x, a, a, Settings())
    drawn = subproblem(problem, 20, np.random.default_rng(0), False)
    means = subproblem(problem, 20, np.random.default_rng(0), False, coarse="clusters")
    assert np.ptp(drawn.a) < 1e-12
    assert np.ptp(means.a) > 0.01
    assert means.x.shape[0] <= 20


@pytest.mark.parametrize("stages", [0, (5, 5), (9, 3), "many", 2.5, (1, None)])
def test_stages_are_checked(stages):
    x = np.zeros((4, 2)) + np.arange(4)[:, None]
    with pytest.raises(invarot.InputError, match="stages"):
        invarot.align(x, x, stages=stages)
    with pytest.raises(invarot.InputError, match="coarse"):
        invarot.align(x, x, coarse="lumps")
