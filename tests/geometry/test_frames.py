"""Frames go in and out without loss, and do what they say to the cloud."""

import numpy as np
import pytest

from invarot.geometry.frames import best_scale, make_frame, mean_square, weighted_mean, weighted_second_moment


@pytest.fixture
def cloud():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((50, 3)) * [3, 1, 0.2] + [5, 0, -2]
    weights = rng.uniform(size=50)
    return points, weights / weights.sum()


def test_whitening_makes_the_weighted_second_moment_the_identity(lib, cloud):
    points, weights = (lib.array(part) for part in cloud)
    for center in (False, True):
        frame = make_frame(points, weights, center=center, whiten=True, unit=False)
        inside = frame.enter(points)
        np.testing.assert_allclose(lib.numpy(weighted_second_moment(inside, weights)), np.eye(3), atol=1e-10)
        np.testing.assert_allclose(lib.numpy(frame.leave(inside)), lib.numpy(points), atol=1e-10)


def test_center_and_unit(lib, cloud):
    points, weights = (lib.array(part) for part in cloud)
    frame = make_frame(points, weights, center=True, whiten=False, unit=True)
    inside = frame.enter(points)
    np.testing.assert_allclose(lib.numpy(weighted_mean(inside, weights)), 0, atol=1e-12)
    assert mean_square(inside, weights) == pytest.approx(1)
    np.testing.assert_allclose(lib.numpy(frame.leave(inside)), lib.numpy(points), atol=1e-10)


def test_plain_frame_changes_nothing(cloud):
    points, weights = cloud
    frame = make_frame(points, weights, center=False, whiten=False, unit=False)
    np.testing.assert_array_equal(frame.enter(points), points)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_whitening_a_flat_cloud_keeps_to_its_plane(cloud, dtype):
    points = (cloud[0] - cloud[0].mean(0)).astype(dtype) * np.asarray([1, 1, 0], dtype=dtype)
    weights = np.full(50, 1 / 50, dtype=dtype)
    inside = make_frame(points, weights, center=True, whiten=True, unit=False).enter(points)
    np.testing.assert_allclose(weighted_second_moment(inside, weights), np.diag([1, 1, 0]), atol=1e-4)
    assert inside.dtype == dtype


def test_a_cloud_without_extent():
    points, weights = np.ones((4, 2)), np.full(4, 0.25)
    for whiten in (False, True):
        frame = make_frame(points, weights, center=True, whiten=whiten, unit=not whiten)
        np.testing.assert_array_equal(frame.enter(points), 0)
        np.testing.assert_array_equal(frame.leave(frame.enter(points)), 1)


def test_best_scale_is_the_least_squares_one(cloud):
    points, weights = cloud
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    target = 2.5 * points @ turn
    moment = (points * weights[:, None]).T @ target
    assert best_scale(moment, weighted_second_moment(points, weights), turn) == pytest.approx(2.5)
    assert best_scale(np.zeros((3, 3)), np.zeros((3, 3)), turn) == 1.0


@pytest.mark.parametrize("center", [False, True])
def test_few_points_are_as_far_apart_in_their_span(lib, center):
    points = np.random.default_rng(0).normal(size=(6, 40)) + 3
    weights = lib.array(np.full(6, 1 / 6))
    whole = make_frame(lib.array(points), weights, center=center, whiten=False, unit=True)
    frame = whole.restrict(lib.array(points))
    inside = frame.enter(lib.array(points))
    assert inside.shape == (6, 6)
    gram = [lib.numpy(one @ one.T) for one in (inside, whole.enter(lib.array(points)))]
    np.testing.assert_allclose(*gram, atol=1e-12)
    np.testing.assert_allclose(lib.numpy(frame.leave(inside)), points, atol=1e-12)
    turned = whole.restrict(lib.array(points[::-1].copy()))
    np.testing.assert_allclose(
        lib.numpy(turned.linear), lib.numpy(frame.linear), atol=1e-9
    )  # whatever the order of rows
    assert whole.restrict(lib.array(np.eye(40))) is whole
    narrow = make_frame(
        lib.array(points.astype(np.float32)),
        lib.array(np.full(6, 1 / 6, np.float32)),
        center=center,
        whiten=False,
        unit=True,
    )
    assert "float32" in str(narrow.restrict(lib.array(points.astype(np.float32))).linear.dtype)
