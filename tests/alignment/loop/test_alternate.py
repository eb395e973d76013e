"""The loop: the entropic objective never worsens, the history tells, a batch is its starts."""

import math
from dataclasses import replace

import numpy as np
import ot
import pytest

import invarot
from invarot import Exact, Schatten, Schedule, Sinkhorn
from invarot.alignment.loop.alternate import alternate
from invarot.alignment.loop.steps import PlanStep, best_maps

from ..clouds import posed, solved, turned

EXPONENTS = [1.0, 1.2, 2.0, 4.0, 50.0, math.inf]


def random_problem(seed):
    """Any sizes, any dimensions, any weights."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(5, 30, 2)
    dx, dy = rng.integers(1, 6, 2)
    a, b = rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, m)
    x, y = rng.standard_normal((n, dx)) + rng.standard_normal(dx), 3 * rng.standard_normal((m, dy))
    return {"x": x, "y": y, "a": a / a.sum(), "b": b / b.sum()}


@pytest.mark.parametrize("objective", ["simplified", "transport"])
@pytest.mark.parametrize("p", EXPONENTS)
def test_entropic_objective_never_worsens(p, objective):
    """At a fixed epsilon, over 100 random problems in all, every p; and the marginals are within tolerance."""
    fell = 0
    for seed in range(13 if objective == "simplified" else 4):
        data = random_problem(100 * EXPONENTS.index(p) + seed)
        solver = Sinkhorn(
            objective=objective, schedule=[0.2, 0.5, 1.0][seed % 3], max_iter=6, tol=1e-12, plan_tol=1e-10,
            plan_max_iter=5000,
        )  # fmt: skip
        problem = posed(**data, maps=Schatten(p), solver=solver)
        start = np.random.default_rng(seed).standard_normal((1, problem.x.shape[1], problem.y.shape[1]))
        run = alternate(problem, problem.maps.fit(start), problem.budgets.solve)
        history, plan = run.history(0), run.plan(0)
        energy = np.asarray(history["energy"])
        scale = np.abs(energy).max() + 1
        slack = 1e-9 if objective == "simplified" else 1e-6
        fell += energy[-1] < energy[0]
        assert (np.diff(energy) <= slack * scale).all(), (p, seed, np.diff(energy).max())
        assert max(history["marginal_error"]) <= 1e-9
        rows, columns = plan.marginals()
        np.testing.assert_allclose(rows, data["a"], atol=1e-9)
        np.testing.assert_allclose(columns, data["b"], atol=1e-9)
        if objective == "transport":
            assert max(history["gap"]) <= 1e-6 * scale
    assert fell  # somewhere there was something to gain


def test_energy_is_the_entropic_objective():
    """Computed from the plan and the map themselves, once nothing moves any more."""
    data = random_problem(1)
    for objective, p in (("simplified", 3.0), ("transport", 2.0)):
        solver = Sinkhorn(
            schedule=Schedule.fixed(3.0, absolute=True), objective=objective, tol=1e-12, max_iter=3000,
            plan_tol=1e-10, plan_max_iter=20000,
        )  # fmt: skip
        result = invarot.align(**data, p=p, start="random", solver=solver)
        plan, w = result.plan.dense(), result.map
        z = data["x"] @ w
        divergence = 3.0 * np.sum(plan * np.log(plan / (data["a"][:, None] * data["b"])))
        score = np.sum(plan * (z @ data["y"].T))
        cost = np.sum(plan * np.sum((z[:, None] - data["y"]) ** 2, axis=2))
        value = -2 * score if objective == "simplified" else cost
        assert result.history[-1].energy == pytest.approx(value + divergence, rel=1e-6)
        assert result.objective == pytest.approx(score if objective == "simplified" else cost, rel=1e-6)
        assert result.plan.cost() == pytest.approx(cost, rel=1e-5)


def test_p2_is_gromov_wasserstein_with_inner_products():
    """A fixed point of ours is one of POT's at the matching epsilon, and the objectives are the same number."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((14, 3)), rng.standard_normal((17, 4))
    a, b = rng.uniform(0.5, 1, 14), rng.uniform(0.5, 1, 17)
    a, b = a / a.sum(), b / b.sum()
    radius, epsilon = 1.7, 0.9
    solver = Sinkhorn(
        schedule=Schedule.fixed(epsilon, absolute=True), tol=1e-13, plan_tol=1e-11, plan_max_iter=20000, max_iter=3000
    )
    result = invarot.align(x, y, a=a, b=b, p=Schatten(2.0, radius=radius), start="random", solver=solver)
    plan = result.plan.dense()
    size = np.linalg.norm(x.T @ plan @ y)
    assert size > 0.1  # not the empty fixed point
    gram_x, gram_y = x @ x.T, y @ y.T
    constant, left, right = ot.gromov.init_matrix(gram_x, gram_y, a, b, loss_fun="square_loss")
    loss = ot.gromov.gwloss(constant, left, right, plan)
    norms = a @ gram_x**2 @ a + b @ gram_y**2 @ b
    assert loss == pytest.approx(norms - 2 * (result.objective / radius) ** 2, rel=1e-8)
    theirs = 2 * epsilon * size / radius  # both kernels are exp(4 (x xᵀ) Γ (y yᵀ) / theirs)
    again = ot.gromov.entropic_gromov_wasserstein(
        gram_x, gram_y, a, b, "square_loss", epsilon=theirs, G0=plan, max_iter=5, tol=1e-12
    )
    np.testing.assert_allclose(again, plan, atol=1e-7)
    gradient = ot.gromov.gwggrad(constant, left, right, plan)
    np.testing.assert_allclose(ot.sinkhorn(a, b, gradient, theirs, stopThr=1e-13), plan, atol=1e-7)


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
def test_history_and_observer(twins):
    case = twins()
    seen = []
    schedule = Schedule(0.5, 0.7, 0.05)
    solver = Sinkhorn(schedule=schedule, max_iter=60)
    result = invarot.align(case.x, case.y, start="random", solver=solver, on_step=seen.append)
    assert result.history[1:] == tuple(seen[1:])
    assert result.history["epsilon"][: len(schedule.values())] == pytest.approx(schedule.values())
    assert result.history["step"] == list(range(len(seen)))
    assert math.isnan(seen[0].plan_change)
    assert all(step.plan_change >= 0 and step.map_change >= 0 for step in seen[1:])
    assert all(1 <= step.inner_iterations <= 50 for step in seen)
    assert seen[-1].marginal_error <= 1e-3
    assert seen[-1].map_change < seen[1].map_change
    assert result.objective == seen[-1].objective
    assert {"epsilon", "objective", "energy", "map_change", "mode"} <= set(result.history.rows()[0])
    assert "steps" in repr(result.history)
    assert result.history[:2][1] == seen[1]


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
def test_a_batch_of_starts_is_each_start_alone(twins):
    """Step for step; a batch only goes on until the last of its starts has settled."""
    case = twins(30)
    maps = np.linalg.qr(np.random.default_rng(5).standard_normal((5, 3, 3)))[0]
    solver = Sinkhorn(schedule=0.4, tol=0, max_iter=6, plan_tol=1e-10, plan_max_iter=2000)
    together = invarot.align(case.x, case.y, start=maps, solver=solver)
    alone = [invarot.align(case.x, case.y, start=one, solver=solver) for one in maps]
    assert [start.objective for start in together.starts] == pytest.approx([one.objective for one in alone], rel=1e-8)
    assert all(start.finished and start.name == "given" for start in together.starts)
    best = max(alone, key=lambda one: one.objective)
    assert together.objective == pytest.approx(best.objective, rel=1e-8)
    np.testing.assert_allclose(together.map, best.map, atol=1e-6)
    assert len({round(start.objective, 3) for start in together.starts}) > 1  # they do not all end at one place


def test_exact_plans_need_no_epsilon(twins):
    case = twins(40)
    near = case.map + 0.1 * np.random.default_rng(0).standard_normal((3, 3))
    result = invarot.align(case.x, case.y, solver=Exact(), start=near)
    np.testing.assert_array_equal(result.matches(), case.match)
    np.testing.assert_allclose(result.map, case.map, atol=1e-10)
    assert result.history["epsilon"] == [0.0] * len(result.history)
    assert result.plan.cost() == pytest.approx(0, abs=1e-10)
    assert result.status is invarot.Status.SETTLED


def test_transport_at_p1_differs_from_pinf(twins):
    """Both by Frank–Wolfe on the same clouds: one map is of low rank, the other is not."""
    case = twins(50, noise=0.2)
    options = {"start": case.map, "solver": Sinkhorn(objective="transport", schedule=0.1, tol=1e-4)}
    spectra = {
        p: invarot.align(case.x, case.y, p=Schatten(p, radius=1.0), **options).spectrum() for p in (1.0, math.inf)
    }
    assert spectra[1.0].sum() == pytest.approx(1, abs=1e-5)
    assert spectra[1.0][-1] < 1e-6
    assert spectra[math.inf][-1] > 0.5
    assert spectra[math.inf][0] <= 1 + 1e-9


def test_an_observer_is_shown_the_map_and_the_history_stays_light():
    x = np.random.default_rng(0).gamma(2.0, size=(60, 3))
    seen = []
    result = invarot.align(x, x[::-1], start="identity", on_step=seen.append)
    last = [step for step in seen if step.stage == "solve"][-1]
    np.testing.assert_allclose(last.map, result.map, atol=0.05)
    assert all(step.map is None for step in result.history)
    assert "map" not in result.history.rows()[0]


def test_the_map_step_is_the_best_map_for_the_plan(lib):
    """⟨M, W⟩ is the nuclear norm of the moment, and known pairs are part of it."""
    x, y, turn, match = turned(40, 3)
    problem = posed(lib.array(x), lib.array(y))
    images = lib.array(y[match][None] / 40)
    plan = PlanStep(images, images[:, 0, 0], images[:, 0, 0], 1, "exact")
    step, moment = best_maps(problem, plan, lib.array(turn[None]))
    np.testing.assert_allclose(lib.numpy(moment)[0], x.T @ y[match] / 40)
    np.testing.assert_allclose(lib.numpy(step.map)[0], turn, atol=1e-9)
    pulled, more = best_maps(replace(problem, seed_moment=lib.array(-1e6 * turn)), plan, lib.array(turn[None]))
    np.testing.assert_allclose(lib.numpy(more)[0], x.T @ y[match] / 40 - 1e6 * turn)
    np.testing.assert_allclose(lib.numpy(pulled.map)[0], -turn, atol=1e-4)


def test_a_map_that_is_held_gets_its_plan():
    x, y, turn, _ = turned(40, 3)
    problem = posed(x, y, solver=Sinkhorn(schedule=0.01))
    w = np.linalg.qr(turn + 0.1)[0]
    held = alternate(problem, w[None], problem.budgets.solve, hold_map=True)
    np.testing.assert_array_equal(held.maps[0], w)
    np.testing.assert_allclose(held.plan(0).z, x @ w)
    assert held.settled.all()
    free = alternate(problem, w[None], problem.budgets.solve)
    assert not np.allclose(free.maps[0], w, atol=1e-3)


def test_a_warm_plan_saves_sweeps():
    x, y, turn, _ = turned(60, 3, noise=0.3)
    problem = posed(x, y, solver=Sinkhorn(schedule=0.01, plan_max_iter=500, plan_tol=1e-6))
    budget = problem.budgets.solve
    done = solved(problem, turn)
    cold, warm = (alternate(problem, done.map[None], budget, warm=plan) for plan in (None, done.plan))
    assert warm.history(0)[0].inner_iterations < cold.history(0)[0].inner_iterations / 2
    np.testing.assert_allclose(warm.maps, cold.maps, atol=1e-3)


def test_after_patience_only_the_best_start_must_settle(monkeypatch):
    """A start that never settles does not keep the others waiting for ever."""
    from invarot.alignment.loop import alternate as loop

    x, y, turn, _ = turned(40, 2)
    problem = posed(x, y, solver=Sinkhorn(schedule=0.002, tol=1e-7, max_iter=200))
    maps = np.stack([turn, -turn, turn @ [[0.0, 1.0], [-1.0, 0.0]]])
    lengths = []
    for patience in (2, 10**6):
        monkeypatch.setattr(loop, "ROUGH_STEPS", patience)
        run = alternate(problem, maps, problem.budgets.solve)
        assert run.settled[run.best]
        lengths.append(len(run.records))
    assert lengths[0] < lengths[1]
