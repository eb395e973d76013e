"""The map step attains the dual norm, stays feasible, and nothing feasible beats it."""

import math

import numpy as np
import pytest

from invarot.geometry.orthogonal import RotationGroup, polar
from invarot.geometry.projection import project_spectrum
from invarot.geometry.schatten import SchattenBall, dual_exponent, identity_radius, schatten_norm, vector_norm

EXPONENTS = [1.0, 1.2, 2.0, 4.0, 50.0, math.inf]


def plain_norm(matrix, p):
    """‖σ‖_p, written the direct way."""
    s = np.linalg.svd(matrix, compute_uv=False)
    return s.max() if math.isinf(p) else (s**p).sum() ** (1 / p)


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("shape", [(5, 5), (7, 4), (4, 7), (1, 3), (1, 1)])
@pytest.mark.parametrize("radius", [None, 0.3])
def test_best_map_attains_the_dual_norm(lib, p, shape, radius):
    rng = np.random.default_rng(1)
    moments = rng.standard_normal((4, *shape))
    ball = SchattenBall(p, radius)
    size = ball.size(*shape)
    assert size == (radius or min(shape) ** (0 if math.isinf(p) else 1 / p))
    maps = lib.numpy(ball.best_map(lib.array(moments)))
    for moment, found in zip(moments, maps, strict=True):
        best = size * plain_norm(moment, dual_exponent(p))
        assert np.sum(moment * found) == pytest.approx(best, abs=1e-10, rel=1e-10)
        assert plain_norm(found, p) <= size * (1 + 1e-10)
        for _ in range(50):
            rival = rng.standard_normal(shape)
            rival *= size / plain_norm(rival, p)
            assert np.sum(moment * rival) <= best + 1e-10


@pytest.mark.parametrize("p", [1 + 1e-9, 1.001, 1e4, 1e9])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_no_overflow_near_the_ends(p, scale):
    moment = scale * np.random.default_rng(2).standard_normal((6, 6))
    found = SchattenBall(p).best_map(moment)
    end = SchattenBall(1.0 if p < 2 else math.inf).best_map(moment)
    assert np.isfinite(found).all()
    assert float(schatten_norm(found, p)) == pytest.approx(identity_radius(p, 6), rel=1e-9)
    if p in (1 + 1e-9, 1e9):
        np.testing.assert_allclose(found, end, atol=1e-5)


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize(
    "moment", [np.zeros((4, 4)), np.eye(4), np.diag([2.0, 2.0, 1.0, 0.0]), np.outer([1.0, 2, 3, 4], [1.0, 0, -1])]
)
def test_zero_and_repeated_singular_values(lib, p, moment):
    """Not unique, but feasible, optimal and the same twice."""
    ball = SchattenBall(p)
    found = lib.numpy(ball.best_map(lib.array(moment)))
    again = lib.numpy(ball.best_map(lib.array(moment)))
    np.testing.assert_array_equal(found, again)
    assert plain_norm(found, p) <= ball.size(*moment.shape) * (1 + 1e-10)
    best = ball.size(*moment.shape) * plain_norm(moment, dual_exponent(p))
    assert np.sum(found * moment) == pytest.approx(best, abs=1e-10)


def test_known_maps():
    moment = np.diag([3.0, 4.0, 0.5])
    np.testing.assert_allclose(SchattenBall(1.0).best_map(moment), np.diag([0, 3.0, 0]), atol=1e-12)
    np.testing.assert_allclose(SchattenBall(2.0, 1.0).best_map(moment), moment / np.linalg.norm(moment), atol=1e-12)
    np.testing.assert_allclose(SchattenBall(math.inf, 2.0).best_map(moment), 2 * np.eye(3), atol=1e-12)
    np.testing.assert_allclose(polar(5 * moment), np.eye(3), atol=1e-12)


def test_semi_orthogonal_maps(lib):
    for shape in [(6, 3), (3, 6)]:
        found = lib.numpy(SchattenBall().best_map(lib.array(np.random.default_rng(0).standard_normal(shape))))
        small = found.T @ found if shape[0] > shape[1] else found @ found.T
        np.testing.assert_allclose(small, np.eye(3), atol=1e-12)


def test_proper_rotations_refuse_a_reflection(lib):
    rng = np.random.default_rng(3)
    moments = rng.standard_normal((20, 3, 3))
    maps = lib.numpy(RotationGroup().best_map(lib.array(moments)))
    np.testing.assert_allclose(np.linalg.det(maps), 1, atol=1e-12)
    np.testing.assert_allclose(maps @ maps.transpose(0, 2, 1), np.broadcast_to(np.eye(3), maps.shape), atol=1e-12)
    free = SchattenBall().best_map(moments)
    proper = np.linalg.det(free) > 0
    assert 0 < proper.sum() < 20
    np.testing.assert_allclose(maps[proper], free[proper], atol=1e-12)
    for moment, found in zip(moments, maps, strict=True):
        for _ in range(100):
            rival = polar(rng.standard_normal((3, 3)))
            rival *= np.linalg.det(rival)
            assert np.sum(moment * rival) <= np.sum(moment * found) + 1e-10


def test_vector_norm_does_not_overflow():
    assert float(vector_norm(np.array([1e200, 1e200]), 2.0)) == pytest.approx(math.sqrt(2) * 1e200)
    assert float(vector_norm(np.array([3.0, 4.0]), 2.0)) == pytest.approx(5)
    assert float(vector_norm(np.array([0.0, 0.0]), 1.2)) == 0


@pytest.mark.parametrize("p", [1.0, 1.01, 1.2, 2.0, 3.0, 50.0, 1000.0, math.inf])
@pytest.mark.parametrize("radius", [0.3, 1.0, 3.0])
def test_projection_is_the_nearest_point(lib, p, radius):
    """t is nearest to s in a convex set exactly when ⟨s − t, c − t⟩ ≤ 0 for all c in it; the largest is a dual norm."""
    s = -np.sort(-np.random.default_rng(4).gamma(1.0, size=(8, 6)), axis=1)
    s[0, -2:] = 0
    found = lib.numpy(project_spectrum(lib.array(s), p, radius))
    for before, after in zip(s, found, strict=True):
        assert float(vector_norm(after, p)) <= radius * (1 + 1e-12)
        away = before - after
        assert (away >= -1e-12).all()
        assert radius * float(vector_norm(np.clip(away, 0, None), dual_exponent(p))) <= away @ after + 1e-10


def test_shrink_leaves_the_inside_alone():
    ball = SchattenBall(1.5, 2.0)
    inside, outside = np.diag([1.0, 0.5]), np.diag([10.0, 5.0])
    found = ball.shrink(np.stack([inside, outside]))
    np.testing.assert_allclose(found[0], inside)
    assert float(schatten_norm(found[1], 1.5)) == pytest.approx(2.0)
