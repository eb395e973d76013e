"""Stages: any number of them, of points or of weighted centroids, and the same end."""

import numpy as np
import pytest

import invarot
from invarot import Exact, Schedule, Sinkhorn, Stages
from invarot.alignment import problem as problem_module
from invarot.alignment.loop import stages
from invarot.alignment.loop.stages import solve_in_stages, stage_sizes, subproblem
from invarot.alignment.tuning import LOOSER, STAGE_POINTS

from ..clouds import posed, turned


def sizes(count, **options):
    points = np.arange(2.0 * count).reshape(count, 2)
    problem = posed(points, points[:10], solver=Sinkhorn(**options))
    return stage_sizes(problem, problem.budgets.solve)


def test_sizes():
    """A few points stand for many, ten times as many for very many; by the larger of the clouds."""
    assert sizes(2 * STAGE_POINTS) == []
    assert sizes(5000) == [STAGE_POINTS]
    assert sizes(50_000) == [STAGE_POINTS, LOOSER * STAGE_POINTS]
    assert sizes(5000, schedule=0.1) == []  # a schedule of the caller's own
    assert sizes(5000, stages=Stages((100, 1000, 9000))) == [100, 1000]
    assert sizes(5000, stages=Stages((100, 1000)), schedule=0.1) == [100, 1000]
    assert sizes(50_000, stages=Stages(())) == []


def test_after_a_race_the_first_stage_is_left_out():
    """The race had about as many points."""
    for count, later in ((5000, []), (50_000, [LOOSER * STAGE_POINTS])):
        points = np.arange(2.0 * count).reshape(count, 2)
        problem = posed(points, points[:10])
        assert stage_sizes(problem, problem.budgets.solve) == [STAGE_POINTS, *later]
        assert stage_sizes(problem, problem.budgets.after_race) == later


@pytest.mark.parametrize("of", ["points", "clusters"])
def test_stages_end_where_all_points_at_once_do(of):
    """And most of the steps are made on few points."""
    x, y, turn, _ = turned(900, 4, noise=0.05)
    rng = np.random.default_rng(0)
    start = np.linalg.qr(turn + 0.3 * rng.standard_normal((4, 4)))[0]
    start *= np.sign(np.sum(start * turn, axis=0))
    schedule, seen = Schedule(0.3, 0.8, 0.01), []
    whole = invarot.align(x, y, start=start, solver=Sinkhorn(schedule=schedule))
    solver = Sinkhorn(schedule=schedule, stages=Stages((100, 300), of=of))
    staged = invarot.align(x, y, start=start, solver=solver, on_step=seen.append)
    assert [step.stage for step in seen if step.step == 0] == [f"100 {of}", f"300 {of}", "solve"]
    assert staged.objective == pytest.approx(whole.objective, rel=1e-3)
    np.testing.assert_allclose(staged.map, whole.map, atol=1e-2)
    assert sum(step.stage == "solve" for step in seen) < len(whole.history)


def test_stages_of_exact_plans():
    x, y, turn, _ = turned(300, 3)
    start = np.linalg.qr(turn + 0.1 * np.random.default_rng(0).standard_normal((3, 3)))[0]
    start *= np.sign(np.sum(start * turn, axis=0))
    seen = []
    result = invarot.align(x, y, start=start, solver=Exact(stages=Stages(60)), on_step=seen.append)
    assert {step.stage for step in seen} == {"60 points", "solve"}
    np.testing.assert_allclose(result.map, turn, atol=1e-8)


def test_many_points_are_solved_in_stages_with_the_same_end(monkeypatch):
    """Without a word about it; the objective is that of all points at once."""
    for module in (stages, problem_module):
        monkeypatch.setattr(module, "STAGE_POINTS", 300)
    x, y, turn, _ = turned(620, 3, noise=0.2)
    seen = set()
    staged = invarot.align(x, y, start=turn, solver=Sinkhorn(tol=1e-4), on_step=lambda step: seen.add(step.stage))
    assert "300 points" in seen
    ends = [next(step for step in reversed(staged.history) if step.stage == "solve")]
    schedule = Schedule(0.1, 0.7, ends[0].epsilon)
    ends.append(invarot.align(x, y, start=turn, solver=Sinkhorn(schedule=schedule, tol=1e-4)).history[-1])
    assert ends[0].objective == pytest.approx(ends[1].objective, rel=1e-3)


def test_subproblems_take_the_first_rows_only_where_rows_are_ordered(lib):
    x = np.arange(40.0).reshape(20, 2)
    points, seen = lib.array(x), {}
    for ordered in (True, False):
        problem = posed(points, points, ordered=ordered)
        few = subproblem(problem, 5, np.random.default_rng(0))
        seen[ordered] = lib.numpy(few.x)
        assert float(few.a.sum()) == pytest.approx(1) == float(few.b.sum())
        assert few.cost_scale == problem.cost_scale
        assert subproblem(problem, 20, np.random.default_rng(0)).x is problem.x  # all of them
    np.testing.assert_array_equal(seen[True], x[:5])
    assert not np.array_equal(seen[False], x[:5])
    assert all((row == x).all(1).any() for row in seen[False])


def test_ordered_stages_say_so():
    x, y, turn, _ = turned(80, 2)
    for ordered, name in ((True, "first 20"), (False, "20 points")):
        seen = []
        problem = posed(x, y, solver=Sinkhorn(stages=Stages(20)), ordered=ordered, on_step=seen.append)
        solve_in_stages(problem, turn[None], problem.budgets.solve, rng=np.random.default_rng(0))
        assert seen[0].stage == name


def test_clusters_change_the_subproblem():
    x = np.random.default_rng(0).standard_normal((80, 2))
    drawn, means = (
        subproblem(posed(x, x, solver=Sinkhorn(stages=Stages(20, of=of))), 20, np.random.default_rng(0))
        for of in ("points", "clusters")
    )
    assert np.ptp(drawn.a) < 1e-12
    assert np.ptp(means.a) > 0.01
    assert means.x.shape[0] <= 20
    np.testing.assert_allclose(means.a @ means.x, x.mean(0), atol=1e-12)
