"""The portfolio, the stages and the verdict, on clouds whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot.alignment import heats
from invarot.alignment.alternate import alternate
from invarot.alignment.evidence import Evidence, held_out
from invarot.alignment.heats import run_race
from invarot.alignment.multiscale import MANY, subproblem
from invarot.alignment.problem import pose
from invarot.alignment.regroup import applies, regroup
from invarot.alignment.settings import Settings
from invarot.alignment.verdict import decide
from invarot.errors import InputError, NotAligned
from invarot.experiments.clouds import make_cloud, random_map
from invarot.starts.portfolio import Wave
from invarot.threads import own_threads, workers
from invarot.transport.schedule import Schedule

RNG = np.random.default_rng(3)


def twins(n: int, d: int, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """x, y, the turn, and for each row of x its row in y."""
    rng = np.random.default_rng([n, d])
    x = rng.gamma(2.0, size=(n, d))
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    order = rng.permutation(n)
    y = (x @ turn)[order] + noise * rng.standard_normal((n, d))
    return x, y, turn, np.argsort(order)


@pytest.mark.parametrize(("n", "d"), [(50, 2), (60, 3), (80, 10), (100, 30)])
def test_auto_finds_the_isometry_and_knows_it(n, d):
    x, y, turn, truth = twins(n, d)
    result = invarot.align(x, y)
    assert np.mean(result.matches() == truth) >= 0.99
    assert np.allclose(result.map, turn, atol=1e-2)
    assert result.verdict.word == "aligned"


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
def test_auto_never_ends_below_its_members():
    x, y, _, _ = twins(120, 8, noise=0.3)
    best = invarot.align(x, y, effort="high").objective
    for member in ("signature", "axes", "clusters"):
        assert best >= invarot.align(x, y, start=member).objective - 1e-3 * abs(best)


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
def test_unrelated_clouds_are_not_called_aligned_and_can_raise():
    x, y = RNG.standard_normal((150, 10)), RNG.standard_normal((150, 10))
    result = invarot.align(x, y, effort="quick")
    assert result.verdict.word != "aligned"
    with pytest.raises(NotAligned, match='require="aligned"') as caught:
        invarot.align(x, y, effort="quick", require="aligned")
    assert caught.value.result.verdict.word == result.verdict.word


def test_a_symmetric_cloud_is_named_as_such():
    """Four clusters of one shape at the corners of a square: every quarter turn fits as well."""
    corner = RNG.standard_normal((15, 2)) * 0.05 + [2.0, 2.0]
    quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])
    cloud = np.concatenate([corner @ np.linalg.matrix_power(quarter, k) for k in range(4)])
    result = invarot.align(cloud, cloud[RNG.permutation(60)])
    assert result.verdict.symmetric
    assert result.verdict.word == "doubtful"
    assert "symmetric" in str(result.verdict)


def test_the_rule_weighs_evidence_and_rivals():
    shares = {"mutual": 0.5, "cycle": 0.5, "agreement": 1.0, "rivals": 0, "marginal_error": 0.0}
    good = Evidence(gain=0.9, split=1.0, surplus=0.5, twins=0.5, **shares)
    bad = Evidence(gain=0.0, split=0.2, surplus=0.0, twins=-0.3, **shares)
    assert decide(good).word == "aligned"
    assert decide(bad).word == "failed"
    assert decide(Evidence(**{**good.__dict__, "rivals": 1})).word == "doubtful"
    assert not decide(Evidence(**{**bad.__dict__, "rivals": 1})).symmetric


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
@pytest.mark.parametrize("seed", range(3))
def test_unrelated_points_fewer_than_dimensions_are_no_evidence(seed):
    """A map in 60 dimensions carries any 30 points onto any 30 others: all are mutual neighbours, none is held out well."""
    rng = np.random.default_rng(seed)
    result = invarot.align(rng.standard_normal((30, 60)), rng.standard_normal((30, 60)), effort="quick")
    assert result.verdict.evidence.mutual > 0.9
    assert result.verdict.word != "aligned"


def test_held_out_points_know_a_right_map_from_one_that_fits():
    x, y, turn, _ = twins(60, 40)
    a = np.full(60, 1 / 60)
    problem, settings, some = pose(x, y, a, a, Settings()), Settings(), np.arange(60)
    right = held_out(problem.x, problem.y, turn, some, settings)
    assert right.split == 1.0
    assert right.gap < 1e-9 * right.spacing
    order = np.random.default_rng(0).permutation(60)
    u, _, vt = np.linalg.svd(x.T @ y[order])
    fitted = held_out(problem.x, problem.y, u @ vt, some, settings)
    assert fitted.mutual > 0.5
    assert fitted.split < 0.3


def test_swapped_matches_of_few_points_in_many_dimensions_are_found_out():
    """Three pairs swapped hold each other in place under the plain alternation; groups judged by the others do not."""
    x, y, _, truth = twins(40, 60, noise=0.2)
    swapped = truth.copy()
    swapped[[0, 1, 2, 3, 4, 5]] = swapped[[1, 0, 3, 2, 5, 4]]
    u, _, vt = np.linalg.svd(x.T @ y[swapped])
    a = np.full(40, 1 / 40)
    problem = pose(x, y, a, a, Settings())
    assert applies(problem, Settings())
    assert not applies(problem, Settings(p=2))
    better = regroup(problem, u @ vt, np.random.default_rng(0))
    assert better is not None
    assert np.array_equal(np.argmax(x @ better @ y.T - np.sum(y**2, axis=1) / 2, axis=1), truth)
    assert regroup(problem, better, np.random.default_rng(0)) is None


def test_many_points_are_solved_in_stages_with_the_same_end():
    """Above MANY points the high epsilons are run on a subsample; the objective is that of all points at once."""
    x, y, turn, _ = twins(MANY + 20, 5, noise=0.2)
    x, y = x.astype(np.float32), y.astype(np.float32)
    seen = set()
    staged = invarot.align(x, y, start=turn, tol=1e-4, on_step=lambda step: seen.add(step.stage))
    assert any("points" in stage for stage in seen)
    floor = staged.settings["schedule"]["floor"]
    plain = invarot.align(x, y, start=turn, tol=1e-4, schedule=invarot.Schedule(0.1, 0.7, floor))
    ends = [next(s for s in reversed(r.history) if s.stage == "solve") for r in (staged, plain)]
    assert ends[0].objective == pytest.approx(ends[1].objective, rel=1e-3)


def test_subproblems_take_the_first_rows_only_where_rows_are_ordered():
    x = np.arange(40.0).reshape(20, 2)
    a = np.full(20, 1 / 20)
    problem = pose(x, x, a, a, Settings())
    first = subproblem(problem, 5, np.random.default_rng(0), ordered=True)
    drawn = subproblem(problem, 5, np.random.default_rng(0), ordered=False)
    assert np.array_equal(first.x, x[:5])
    assert not np.array_equal(drawn.x, x[:5])
    assert first.a.sum() == pytest.approx(1) == drawn.b.sum()


def test_ordered_rows_change_what_a_large_race_is_run_on():
    x, y, turn, _ = twins(2300, 3)
    problem = pose(x, y, *(2 * [np.full(2300, 1 / 2300)]), Settings())
    wave = Wave(np.stack([turn, -turn]), ["right", "wrong"])
    found = {}
    for ordered in (False, True):
        found[ordered] = run_race(problem, wave, Settings(max_iter=2), np.random.default_rng(0), ordered, None)[1]
    assert found[False][0] > found[False][1]
    assert found[False][0] != found[True][0]  # all 2300 points, or the first 2000


def test_a_race_is_decided_by_plans_that_have_their_marginals(plane_twins):
    """A plane cloud whose mirror image got ahead of the exact map while the plans were a hundredth off their marginals."""
    x, y, turn = plane_twins(72)
    assert np.allclose(invarot.align(x, y, rng=72).map, turn, atol=1e-3)


def test_a_first_heat_drops_no_map_whose_plan_only_lacks_its_marginals(plane_twins):
    """A noisy plane cloud whose three mirror images led, five steps on, by less than the right plan was off."""
    x, y, turn = plane_twins(14, noise=0.05)
    result = invarot.align(x, y, rng=14)
    assert np.allclose(result.map, turn, atol=1e-2)
    assert result.verdict.word == "aligned"


def test_a_race_does_not_wait_for_marginals_that_no_map_brings_nearer():
    """Two far clusters with other shares in the two samples: mass that must cross the gap takes thousands of sweeps."""
    rng = np.random.default_rng(0)
    far = np.array([20.0, 0.0, 0.0])
    x, y = (rng.gamma(2.0, size=(60, 3)) + far * (np.arange(60) < share)[:, None] for share in (30, 32))
    a = np.full(60, 1 / 60)
    settings = Settings(schedule=Schedule(0.02, 0.5, 0.01), plan_max_iter=10, max_iter=15)
    problem = pose(x - x.mean(axis=0), y - y.mean(axis=0), a, a, settings)
    maps = np.stack([np.eye(3), np.diag([1.0, 1.0, -1.0])])
    strict, lenient = (alternate(problem, maps, settings, lenient=how) for how in (False, True))
    assert len(strict.records) == 15
    assert not strict.settled.any()
    assert len(lenient.records) < 10
    assert lenient.settled.all()


def test_a_race_in_single_precision_ends_where_one_in_double_does(monkeypatch):
    x, y, turn, _ = twins(80, 4)
    problem = pose(x, y, *(2 * [np.full(80, 1 / 80)]), Settings())
    wave = Wave(np.stack([turn, -turn]), ["right", "wrong"])
    found = [run_race(problem, wave, Settings(), np.random.default_rng(0), False, None)]
    monkeypatch.setattr(heats, "SINGLE", (1.0, 0.0))  # no scale lies there: all in double
    found.append(run_race(problem, wave, Settings(), np.random.default_rng(0), False, None))
    assert found[0][0].dtype == np.float64 == found[0][1].dtype
    assert np.allclose(found[0][0], found[1][0], atol=1e-3)
    assert not np.array_equal(found[0][0], found[1][0])
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-3)


@pytest.mark.parametrize("unit", [1e-25, 1e25])
def test_points_beyond_the_range_of_single_precision_are_raced_in_double(unit):
    x, y, turn, _ = twins(60, 3)
    result = invarot.align(unit * x, unit * y)
    assert np.allclose(result.map, turn, atol=1e-2)


def test_own_threads_keep_blas_to_one_and_give_it_back():
    before = workers()
    with own_threads():
        assert workers() == before
        from threadpoolctl import threadpool_info

        assert all(pool["num_threads"] == 1 for pool in threadpool_info() if pool["user_api"] == "blas")
    assert workers() == before


def test_matches_tell_apart_what_the_plan_blurs():
    """Two points far closer than epsilon: the plan's rows cannot choose between them, the assignment can."""
    x = np.concatenate([RNG.gamma(2.0, size=(30, 2)), [[3.0, 3.0], [3.0, 3.0 + 1e-6]]])
    result = invarot.align(x, x[::-1], schedule=0.02)
    truth = np.arange(32)[::-1]
    assert np.array_equal(result.matches(), truth)
    assert np.array_equal(result.matches("assignment"), truth)
    assert not np.array_equal(result.matches("plan"), truth)
    with pytest.raises(InputError, match='"assignment" needs as many points'):
        invarot.align(x, x[1:], schedule=0.02).matches("assignment")


def test_two_maps_that_are_wrong_alike_do_not_end_the_race():
    """White points under a map of the Frobenius ball: two wrong answers score alike, and look like a symmetry."""
    rng = np.random.default_rng((0, 1))
    x = make_cloud(60, 4, rng, whiten=True)
    true, order = random_map(4, 2.0, rng), rng.permutation(60)
    y = (x @ true + 0.1 * rng.normal(size=x.shape))[order]
    result = invarot.align(x, y, p=2, rng=1)
    assert np.mean(result.matches() == np.argsort(order)) > 0.9
