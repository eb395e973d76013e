"""The unsimplified map step against an independent solver of the same convex problem, and its own certificate."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from invarot.geometry.frank_wolfe import best_quadratic_map, least_squares_map, quadratic
from invarot.geometry.schatten import SchattenBall, schatten_norm

EXPONENTS = [1.0, 1.2, 2.0, 4.0, 50.0, math.inf]


def problem(dx, dy, stretch, seed=0):
    """S and M with a least-squares map whose singular values run from ``stretch`` down to 0.2."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((60, dx)) * np.linspace(2, 0.5, dx)
    second = x.T @ x / 60
    u, _, vt = np.linalg.svd(rng.standard_normal((dx, dy)), full_matrices=False)
    return second, second @ (u * np.linspace(stretch, 0.2, min(dx, dy))) @ vt


def projected_gradient(second, moment, p, radius, steps=400):
    """Plain projected gradient with a fixed step, for the p whose projection is a line of arithmetic."""
    w = np.zeros_like(moment)
    rate = 1 / np.linalg.eigvalsh(second)[-1]
    for _ in range(steps):
        u, s, vt = np.linalg.svd(w - rate * (second @ w - moment), full_matrices=False)
        if math.isinf(p):
            s = np.minimum(s, radius)
        elif p == 2:
            s = s * min(1, radius / np.linalg.norm(s))
        elif s.sum() > radius:
            s = np.clip(s - brentq(lambda level, s=s: np.clip(s - level, 0, None).sum() - radius, 0, s.max()), 0, None)
        w = (u * s) @ vt
    return w


def constrained(second, moment, p, radius):
    """SciPy's SLSQP over the entries of W, for a smooth norm."""

    def norm(flat):
        u, s, vt = np.linalg.svd(flat.reshape(moment.shape), full_matrices=False)
        size = s.max() * ((s / s.max()) ** p).sum() ** (1 / p)
        return size, (u * (s / size) ** (p - 1)) @ vt

    found = minimize(
        lambda flat: float(quadratic(flat.reshape(moment.shape), second, moment)),
        0.1 * moment.ravel() / np.linalg.norm(moment),
        jac=lambda flat: 2 * (second @ flat.reshape(moment.shape) - moment).ravel(),
        constraints={
            "type": "ineq", "fun": lambda flat: radius - norm(flat)[0], "jac": lambda flat: -norm(flat)[1].ravel()
        },
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )  # fmt: skip
    return found.x.reshape(moment.shape)


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize(("dx", "dy"), [(4, 4), (5, 3), (3, 5)])
def test_agrees_with_an_independent_solver(p, dx, dy):
    second, moment = problem(dx, dy, 3.0)
    radius = 0.7 * min(dx, dy) ** (0 if math.isinf(p) else 1 / p)
    ball = SchattenBall(p, radius)
    start = ball.best_map(np.random.default_rng(1).standard_normal((dx, dy)))
    found = best_quadratic_map(ball, second, moment, start=start)
    solver = constrained if p in (1.2, 4.0, 50.0) else projected_gradient
    other = solver(second, moment, p, radius)
    value, rival = quadratic(found.map, second, moment), quadratic(other, second, moment)
    assert value == pytest.approx(float(rival), abs=1e-5)
    np.testing.assert_allclose(found.map, other, atol=2e-3)
    scale = np.sum(moment * ball.best_map(moment))
    assert 0 <= found.gap <= 1e-7 * scale
    assert value - rival <= found.gap + 1e-9  # what the certificate promises
    assert float(schatten_norm(found.map, p)) <= radius * (1 + 1e-9)


@pytest.mark.parametrize("p", EXPONENTS)
def test_gap_within_tolerance_where_plain_frank_wolfe_zigzags(lib, p):
    """A least-squares map just outside the ball: the answer has singular values on the bound and inside it."""
    second, moment = problem(12, 12, 1.6)
    ball = SchattenBall(p, None if p > 2 else 0.8 * float(schatten_norm(np.linalg.solve(second, moment), p)))
    start = ball.best_map(np.random.default_rng(1).standard_normal((2, 12, 12)))
    moments = np.stack([moment, 2 * moment])
    found = best_quadratic_map(ball, lib.array(second), lib.array(moments), start=lib.array(start))
    scale = np.sum(moments * ball.best_map(moments), axis=(1, 2))
    assert (lib.numpy(found.gap) <= 1e-7 * scale).all()
    assert found.iterations < 500


def test_least_squares_map_where_the_ball_holds_it():
    second, moment = problem(5, 3, 0.9)
    found = best_quadratic_map(SchattenBall(), second, moment, start=np.zeros((5, 3)))
    np.testing.assert_allclose(found.map, np.linalg.solve(second, moment), atol=1e-10)
    assert found.gap == 0
    assert found.iterations == 1


def test_least_squares_map_of_a_flat_cloud():
    x = np.random.default_rng(0).standard_normal((30, 4)) * [1, 1, 1, 0]
    target = x @ np.random.default_rng(1).standard_normal((4, 2))
    found = least_squares_map(x.T @ x, x.T @ target)
    np.testing.assert_allclose(x @ found, target, atol=1e-10)
    np.testing.assert_allclose(found[3], 0, atol=1e-12)


def test_a_start_outside_the_ball_does_not_lead_outside():
    second, moment = problem(4, 4, 3.0)
    for p in (1.0, 2.0, math.inf):
        ball = SchattenBall(p, 0.5)
        far = best_quadratic_map(ball, second, moment, start=100 * np.eye(4))
        near = best_quadratic_map(ball, second, moment, start=np.zeros((4, 4)))
        assert float(schatten_norm(far.map, p)) <= 0.5 * (1 + 1e-9)
        values = [float(quadratic(one.map, second, moment)) for one in (far, near)]
        assert values[0] == pytest.approx(values[1], abs=1e-5)


def test_a_step_never_worsens_the_objective():
    second, moment = problem(6, 6, 2.0)
    ball = SchattenBall(3.0)
    w = ball.best_map(np.random.default_rng(0).standard_normal((6, 6)))
    values = [
        float(quadratic(best_quadratic_map(ball, second, moment, start=w, max_iter=k).map, second, moment))
        for k in range(1, 15)
    ]
    assert (np.diff(values) <= 1e-12).all()
