"""The loop: the entropic objective never worsens, the history tells, a batch is its starts."""

import math

import numpy as np
import ot
import pytest

import invarot
from invarot import Schedule

EXPONENTS = [1.0, 1.2, 2.0, 4.0, 50.0, math.inf]


def random_problem(seed):
    """Any sizes, any dimensions, any weights."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(5, 30, 2)
    dx, dy = rng.integers(1, 6, 2)
    a, b = rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, m)
    x, y = rng.standard_normal((n, dx)) + rng.standard_normal(dx), 3 * rng.standard_normal((m, dy))
    return {"x": x, "y": y, "a": a / a.sum(), "b": b / b.sum()}


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
@pytest.mark.parametrize("objective", ["simplified", "transport"])
@pytest.mark.parametrize("p", EXPONENTS)
def test_entropic_objective_never_worsens(p, objective):
    """At a fixed epsilon, over 100 random problems in all, every p; and the marginals are within tolerance."""
    for seed in range(13 if objective == "simplified" else 4):
        data = random_problem(100 * EXPONENTS.index(p) + seed)
        epsilon = [0.2, 0.5, 1.0][seed % 3]
        result = invarot.align(
            data["x"], data["y"], a=data["a"], b=data["b"], p=p, objective=objective, schedule=epsilon, start="random",
            max_iter=6, tol=1e-12, plan_tol=1e-10, plan_max_iter=5000, rng=seed,
        )  # fmt: skip
        energy = np.asarray(result.history["energy"])
        scale = np.abs(energy).max() + 1
        slack = 1e-9 if objective == "simplified" else 1e-6
        assert (np.diff(energy) <= slack * scale).all(), (p, seed, np.diff(energy).max())
        assert max(result.history["marginal_error"]) <= 1e-9
        rows, columns = result.plan.marginals()
        np.testing.assert_allclose(rows, data["a"], atol=1e-9)
        np.testing.assert_allclose(columns, data["b"], atol=1e-9)
        if objective == "transport":
            assert max(result.history["gap"]) <= 1e-6 * scale


def test_energy_is_the_entropic_objective():
    """Computed from the plan and the map themselves, once nothing moves any more."""
    data = random_problem(1)
    for objective, p in (("simplified", 3.0), ("transport", 2.0)):
        result = invarot.align(
            data["x"], data["y"], a=data["a"], b=data["b"], p=p, objective=objective, start="random",
            schedule=Schedule.fixed(3.0, absolute=True), tol=1e-12, plan_tol=1e-10, plan_max_iter=20000, max_iter=3000,
        )  # fmt: skip
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
    result = invarot.align(
        x, y, a=a, b=b, p=2.0, radius=radius, schedule=Schedule.fixed(epsilon, absolute=True), start="random",
        tol=1e-13, plan_tol=1e-11, plan_max_iter=20000, max_iter=3000,
    )  # fmt: skip
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
    result = invarot.align(case.x, case.y, start="random", schedule=schedule, on_step=seen.append, max_iter=60)
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
    options = {"schedule": 0.4, "tol": 0, "max_iter": 6, "plan_tol": 1e-10, "plan_max_iter": 2000}
    together = invarot.align(case.x, case.y, start=maps, **options)
    alone = [invarot.align(case.x, case.y, start=one, **options) for one in maps]
    assert [start.objective for start in together.starts] == pytest.approx([one.objective for one in alone], rel=1e-8)
    assert all(start.finished and start.name == "given" for start in together.starts)
    best = max(alone, key=lambda one: one.objective)
    assert together.objective == pytest.approx(best.objective, rel=1e-8)
    np.testing.assert_allclose(together.map, best.map, atol=1e-6)
    assert len({round(start.objective, 3) for start in together.starts}) > 1  # they do not all end at one place


def test_exact_plans_need_no_epsilon(twins):
    case = twins(40)
    near = case.map + 0.1 * np.random.default_rng(0).standard_normal((3, 3))
    result = invarot.align(case.x, case.y, plan="exact", start=near)
    np.testing.assert_array_equal(result.matches(), case.match)
    np.testing.assert_allclose(result.map, case.map, atol=1e-10)
    assert result.history["epsilon"] == [0.0] * len(result.history)
    assert result.plan.cost() == pytest.approx(0, abs=1e-10)
    assert result.status is invarot.Status.SETTLED


def test_transport_at_p1_differs_from_pinf(twins):
    """Both by Frank–Wolfe on the same clouds: one map is of low rank, the other is not."""
    case = twins(50, noise=0.2)
    options = {"objective": "transport", "start": case.map, "schedule": 0.1, "tol": 1e-4}
    spectra = {p: invarot.align(case.x, case.y, p=p, radius=1.0, **options).spectrum() for p in (1.0, math.inf)}
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
