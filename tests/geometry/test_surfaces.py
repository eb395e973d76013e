"""The last fit of samples of surfaces: motions that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from invarot.geometry.surfaces import measure_scatter, show_surfaces, slide_on_surfaces, weigh_directions

TURN = Rotation.from_rotvec([0.4, -0.9, 0.3]).as_matrix()
OFFSET = np.asarray([1.0, -2.0, 0.5])


def surface(n, seed):
    s, t = np.random.default_rng(seed).uniform(-1, 1, (2, n))
    return np.stack([s, 0.7 * t, 0.4 * np.sin(2.5 * s) + 0.3 * t**2 + 0.2 * s * t], axis=1)


def start(turn=0.03):
    """The right map, turned by about two degrees."""
    linear = TURN @ Rotation.from_rotvec([turn, -turn, turn / 2]).as_matrix()
    return np.concatenate([linear, OFFSET[None]])


def angle(w):
    return float(np.degrees(Rotation.from_matrix(TURN.T @ w[:-1]).magnitude()))


def test_copies_are_laid_on_each_other():
    x = surface(300, 0)
    found = slide_on_surfaces(x, x[::-1] @ TURN + OFFSET, start(), 0.2)
    np.testing.assert_allclose(found, np.concatenate([TURN, OFFSET[None]]), atol=1e-6)


def test_samples_without_common_points_are_fitted_better_than_their_spacing():
    x, y = surface(400, 1), surface(350, 2) @ TURN + OFFSET
    assert show_surfaces(x, y, start(0.0), 0.3)
    found = slide_on_surfaces(x, y, start(), 0.3)
    assert angle(found) < 0.5 < angle(start())


def test_points_without_a_counterpart_do_not_count():
    x, y = surface(400, 3), surface(400, 4)
    y = y[y[:, 0] > 0] @ TURN + OFFSET
    assert angle(slide_on_surfaces(x, y, start(), 0.3)) < 1.0


def test_noise_shows_no_surfaces():
    rng = np.random.default_rng(5)
    x = surface(400, 6)
    assert not show_surfaces(x, (x + 0.05 * rng.normal(size=x.shape)) @ TURN + OFFSET, start(0.0), 0.4)


def test_a_scale_and_a_mirror_stay():
    x = surface(300, 7)
    mirror = np.diag([1.0, 1.0, -2.0]) * [2, 2, 1]
    y = x @ mirror @ TURN
    begun = np.concatenate([mirror @ start()[:-1], np.zeros((1, 3))])
    found = slide_on_surfaces(x, y, begun, 0.4)
    np.testing.assert_allclose(found[:-1], mirror @ TURN, atol=1e-5)


def test_it_works_in_the_plane():
    t = np.random.default_rng(8).uniform(0, 5, 300)
    x = np.stack([t, np.sin(2 * t) + 0.2 * t**2], axis=1)
    turn = np.asarray([[np.cos(0.7), np.sin(0.7)], [-np.sin(0.7), np.cos(0.7)]])
    off = np.asarray([[np.cos(0.72), np.sin(0.72)], [-np.sin(0.72), np.cos(0.72)], [0.0, 0.0]])
    found = slide_on_surfaces(x[:200], x[50:] @ turn, off, 0.5)
    np.testing.assert_allclose(found[:-1], turn, atol=1e-5)


def test_weights_are_inverse_variances_along_the_local_axes():
    rng = np.random.default_rng(9)
    residuals = rng.normal(size=(4000, 3)) * [0.1, 1.0, 2.0]
    precision = weigh_directions(residuals, np.broadcast_to(np.diag([1.0, 4.0, 9.0]), (4000, 3, 3)))
    assert np.diag(precision[0]) == pytest.approx([100.0, 1.0, 0.25], rel=0.15)


def test_scatter_is_the_covariance_of_a_neighbourhood():
    grid = np.stack(np.meshgrid(np.arange(7.0), np.arange(7.0)), axis=-1).reshape(-1, 2)
    flat = np.column_stack([grid, np.zeros(len(grid))])
    found = measure_scatter(flat)
    assert np.all(found[:, 2] == 0)
    assert np.all(np.trace(found, axis1=1, axis2=2) > 0.5)
