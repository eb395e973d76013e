"""The last fit of samples of surfaces: motions that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from invarot.geometry import motions
from invarot.geometry.surfaces import (
    find_slip,
    find_unseen,
    measure_gaps,
    measure_misfit,
    measure_relative_gaps,
    sample_surface,
    show_surfaces,
    slide_on_surfaces,
    weigh_directions,
)

TURN = Rotation.from_rotvec([0.4, -0.9, 0.3]).as_matrix()
OFFSET = np.asarray([1.0, -2.0, 0.5])


def surface(n, seed):
    s, t = np.random.default_rng(seed).uniform(-1, 1, (2, n))
    return np.stack([s, 0.7 * t, 0.4 * np.sin(2.5 * s) + 0.3 * t**2 + 0.2 * s * t], axis=1)


def start(turn=0.03):
    """The right map, turned by about two degrees."""
    linear = TURN @ Rotation.from_rotvec([turn, -turn, turn / 2]).as_matrix()
    return np.concatenate([linear, OFFSET[None]])


def slide(x, y, w, cut, **options):
    return slide_on_surfaces(sample_surface(x), sample_surface(y), w, cut, **options)


def tube(n, seed):
    """A sample of a tube about the third axis with a knob, and a sample of the same without the knob's half."""
    rng = np.random.default_rng(seed)
    turn, height = rng.uniform(0, 2 * np.pi, n), rng.uniform(-1, 1, n)
    radius = 0.5 + 0.1 * np.sin(2 * height)
    return np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=1)


def angle(w):
    return float(np.degrees(Rotation.from_matrix(TURN.T @ w[:-1]).magnitude()))


def test_copies_are_laid_on_each_other():
    x = surface(300, 0)
    found = slide(x, x[::-1] @ TURN + OFFSET, start(), 0.2)
    np.testing.assert_allclose(found, np.concatenate([TURN, OFFSET[None]]), atol=1e-6)


def test_samples_without_common_points_are_fitted_better_than_their_spacing():
    x, y = surface(400, 1), surface(350, 2) @ TURN + OFFSET
    assert show_surfaces(sample_surface(x), sample_surface(y), start(0.0), 0.3)
    found = slide(x, y, start(), 0.3)
    assert angle(found) < 0.5 < angle(start())


def test_points_without_a_counterpart_do_not_count():
    x, y = surface(400, 3), surface(400, 4)
    y = y[y[:, 0] > 0] @ TURN + OFFSET
    assert angle(slide(x, y, start(), 0.3)) < 1.0


def test_noise_shows_no_surfaces():
    rng = np.random.default_rng(5)
    x = surface(400, 6)
    y = (x + 0.05 * rng.normal(size=x.shape)) @ TURN + OFFSET
    assert not show_surfaces(sample_surface(x), sample_surface(y), start(0.0), 0.4)


def test_a_scale_and_a_mirror_stay():
    x = surface(300, 7)
    mirror = np.diag([1.0, 1.0, -2.0]) * [2, 2, 1]
    y = x @ mirror @ TURN
    begun = np.concatenate([mirror @ start()[:-1], np.zeros((1, 3))])
    found = slide(x, y, begun, 0.4)
    np.testing.assert_allclose(found[:-1], mirror @ TURN, atol=1e-5)


def test_it_works_in_the_plane():
    t = np.random.default_rng(8).uniform(0, 5, 300)
    x = np.stack([t, np.sin(2 * t) + 0.2 * t**2], axis=1)
    turn = np.asarray([[np.cos(0.7), np.sin(0.7)], [-np.sin(0.7), np.cos(0.7)]])
    off = np.asarray([[np.cos(0.72), np.sin(0.72)], [-np.sin(0.72), np.cos(0.72)], [0.0, 0.0]])
    found = slide(x[:200], x[50:] @ turn, off, 0.5)
    np.testing.assert_allclose(found[:-1], turn, atol=1e-5)


def test_weights_are_inverse_variances_along_the_local_axes():
    rng = np.random.default_rng(9)
    residuals = rng.normal(size=(4000, 3)) * [0.1, 1.0, 2.0]
    factor = weigh_directions(residuals, np.broadcast_to(np.diag([1.0, 4.0, 9.0]), (4000, 3, 3)))
    assert np.diag(factor[0].T @ factor[0]) == pytest.approx([100.0, 1.0, 0.25], rel=0.15)


def test_scatter_is_the_covariance_of_a_neighbourhood():
    grid = np.stack(np.meshgrid(np.arange(7.0), np.arange(7.0)), axis=-1).reshape(-1, 2)
    flat = np.column_stack([grid, np.zeros(len(grid))])
    found = sample_surface(flat).scatter
    assert np.all(found[:, 2] == 0)
    assert np.all(np.trace(found, axis1=1, axis2=2) > 0.5)


def test_a_part_of_the_points_is_enough():
    x, y = surface(2000, 10), surface(2000, 11) @ TURN + OFFSET
    whole, part = slide(x, y, start(), 0.2), slide(x, y, start(), 0.2, every=4)
    assert not np.array_equal(whole, part)
    assert max(angle(whole), angle(part)) < 0.3


def test_steps_that_creep_are_extrapolated():
    truth, frame = np.concatenate([TURN, OFFSET[None]]), np.column_stack([np.eye(4)[:, :-1], np.ones(4)])
    begun = start(0.002) + np.asarray([[0], [0], [0], [0.01]])
    creep = [(truth + share * (begun - truth), 0.2 * share * (truth - begun)) for share in (1.0, 0.8, 0.64)]
    assert np.abs(creep[-1][0] - truth).max() > 5e-3
    np.testing.assert_allclose(motions.extrapolate(creep, frame), truth, atol=1e-5)


def test_extrapolation_has_a_limit():
    frame = np.column_stack([np.eye(4)[:, :-1], np.ones(4)])
    here, step = start(), np.asarray([[0.0] * 3] * 3 + [[0.01, 0, 0]])
    back = [(here - step, 1.001 * step), (here, step)]  # would lead a thousand steps away
    assert np.abs(motions.extrapolate(back, frame) - here).max() < (motions.FARTHER + 2) * 0.01


def test_the_weakest_motion_of_a_tube_is_about_its_axis():
    x, y = sample_surface(tube(800, 14)), sample_surface(tube(800, 15))
    turn, shift = find_slip(x, y, np.concatenate([np.eye(3), np.zeros((1, 3))]), 0.2)
    across = [abs(turn[0, 2]), abs(turn[1, 2])]
    assert abs(turn[0, 1]) > 20 * max(across)
    assert np.abs(shift).max() < 0.1
    moved = x.points @ turn + shift
    assert np.mean(np.sum(moved**2, axis=1)) == pytest.approx(1, rel=0.1)


def test_a_held_motion_is_not_fitted():
    x, y = tube(800, 16), tube(800, 17)
    identity = np.concatenate([np.eye(3), np.zeros((1, 3))])
    slip = find_slip(sample_surface(x), sample_surface(y), identity, 0.2)
    off = np.concatenate([Rotation.from_rotvec([0, 0.05, 0.3]).as_matrix(), [[0.03, 0, 0]]])
    found = slide(x, y, off, 0.3, held=slip)
    turned = Rotation.from_matrix(found[:-1]).as_rotvec()
    assert abs(abs(turned[2]) - 0.3) < 0.02
    assert np.abs(turned[:2]).max() < 0.02


def test_nothing_slips_without_pairs():
    x = sample_surface(surface(50, 18))
    assert find_slip(x, x, np.concatenate([np.eye(3), [[50.0, 0, 0]]]), 0.1) is None


def test_misfit_is_small_on_a_surface_and_bounded():
    x, y = sample_surface(surface(500, 19)), sample_surface(surface(450, 20) @ TURN + OFFSET)
    right = np.concatenate([TURN, OFFSET[None]])
    on, away = measure_misfit(x, y, right), measure_misfit(x, y, right + np.asarray([[0], [0], [0], [9.0]]))
    assert on.shape == (950,)
    assert on.mean() < 0.35
    assert np.all((away > 0.9) & (away <= 1))
    some = np.arange(0, 500, 50), np.arange(0, 450, 50)
    np.testing.assert_allclose(measure_misfit(x, y, right, some), np.r_[on[:500:50], on[500::50]])


def test_gaps_are_those_of_the_mapped_points():
    x, scale = surface(80, 21), 3.0
    y = scale * surface(70, 22) @ TURN
    w = np.concatenate([scale * TURN, np.zeros((1, 3))])
    left, right = sample_surface(x), sample_surface(y)
    there, back = measure_gaps(left, right, w)
    apart = np.linalg.norm((x @ w[:-1])[:, None] - y, axis=2)
    np.testing.assert_allclose(there, apart.min(axis=1))
    np.testing.assert_allclose(back, apart.min(axis=0), atol=1e-12)
    twice = measure_relative_gaps(sample_surface(2 * x), right, np.concatenate([w[:-1] / 2, w[-1:]]))
    np.testing.assert_allclose(measure_relative_gaps(left, right, w)[0], twice[0])


def test_points_far_from_a_surface_without_extent_do_not_overflow():
    flat = sample_surface(np.zeros((12, 3)))
    far = sample_surface(np.random.default_rng(0).normal(size=(12, 3)) * 1e150)
    w = np.concatenate([np.eye(3), np.zeros((1, 3))])
    misfit = measure_misfit(flat, far, w)
    assert np.all((misfit >= 0) & (misfit <= 1))
    assert all(np.isfinite(gap).all() for gap in measure_relative_gaps(flat, far, w))


def test_what_lies_beyond_a_border_is_unseen_and_what_stands_on_a_surface_is_not():
    rng = np.random.default_rng(12)
    floor = np.column_stack([rng.uniform(-1, 1, (400, 2)), np.zeros(400)])
    wider = np.column_stack([rng.uniform(-1, 2, 600), rng.uniform(-1, 1, 600), np.zeros(600)])
    pole = np.column_stack([0.01 * rng.normal(size=(40, 2)), rng.uniform(0.4, 1, 40)])
    x, y = sample_surface(np.concatenate([wider, pole])), sample_surface(floor)
    still = np.eye(4)[:, :-1]
    misfit = measure_misfit(x, y, still)
    unseen = find_unseen(x, y, still, misfit)
    assert np.mean(unseen[:600][wider[:, 0] > 1.3]) > 0.8
    assert np.mean(unseen[:600][wider[:, 0] < 0.8]) < 0.05
    assert np.mean(unseen[600:640]) < 0.3


def test_copies_that_lie_on_each_other_stay_there():
    points = np.random.default_rng(13).normal(size=(60, 3))
    sample = sample_surface(points)
    still = np.eye(4)[:, :-1]
    np.testing.assert_allclose(slide_on_surfaces(sample, sample, still, 1.0), still, atol=1e-12)


def test_a_scale_is_fitted_on_request():
    x = surface(300, 7)
    y = 1.1 * (x[::-1] @ TURN) + OFFSET
    found = slide(x, y, start(), 0.3, scale=True)
    np.testing.assert_allclose(found, np.concatenate([1.1 * TURN, OFFSET[None]]), atol=1e-5)
