"""Reflected maps: what a right map has before them, and a wrong one has not."""

from __future__ import annotations

import numpy as np
import pytest

from invarot import align
from invarot.alignment.reflections import _choose_signs, fit_reflections, reflect, share_nearer

from .clouds import posed, random_turn, turned


def test_reflections_are_other_isometries_of_the_cloud(lib):
    x, y, turn, _ = turned(60, 4)
    problem = posed(lib.array(x), lib.array(y))
    maps = lib.numpy(reflect(problem, lib.array(turn), np.random.default_rng(0)))
    assert len(maps) >= 3
    for one in maps:
        np.testing.assert_allclose(one @ one.T, np.eye(4), atol=1e-5)
        np.testing.assert_allclose(one.T @ (x.T @ x) @ one, turn.T @ (x.T @ x) @ turn, rtol=1e-3)
        assert np.linalg.norm(one - turn) > 1


def test_a_right_map_leads_its_reflections_and_a_wrong_one_does_not(lib):
    x, y, turn, _ = turned(150, 6, noise=0.3)
    centre = x.mean(0)
    problem, some = posed(lib.array(x - centre), lib.array(y - centre @ turn)), lib.array(np.arange(150))
    right = fit_reflections(problem, lib.array(turn), some, np.random.default_rng(0))
    wrong = fit_reflections(
        problem, lib.array(random_turn(6, np.random.default_rng(5))), some, np.random.default_rng(0)
    )
    assert right.smallest(right.errors) > 5 > wrong.smallest(wrong.errors)
    assert right.mean(right.crowding) > 0.3 > wrong.mean(wrong.crowding)
    assert right.mean(right.inner_crowding) > 0.5 > wrong.mean(wrong.inner_crowding)


@pytest.mark.parametrize(("d", "count"), [(1, 1), (2, 3), (3, 7), (4, 12), (50, 8), (200, 4)])
def test_few_dimensions_have_all_their_reflections_and_many_a_few(d, count):
    signs = _choose_signs(d, np.random.default_rng(0))
    assert signs.shape == (count, d)
    assert set(np.unique(signs)) <= {-1.0, 1.0}
    assert np.any(signs < 0, axis=1).all()


def test_a_wrong_map_that_fits_its_points_is_not_sure_for_others():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 60, 40))
    fitted = align(x, y, start="random", rng=0).map
    found = fit_reflections(posed(x, y), fitted, np.arange(60), rng)
    assert found.smallest(found.errors) < 3


def test_one_point_has_no_reflections():
    found = fit_reflections(posed(np.ones((1, 2)), np.ones((3, 2))), np.eye(2), np.arange(1), np.random.default_rng(0))
    assert found.smallest(found.errors) == 0 == found.mean(found.crowding)


def test_the_share_of_nearer_targets_is_counted(lib):
    rng = np.random.default_rng(0)
    z, y = rng.standard_normal((30, 3)), rng.standard_normal((50, 3))
    there = rng.integers(50, size=(2, 30))
    far = np.linalg.norm(z[:, None] - y, axis=2)
    expected = [np.mean(far < far[np.arange(30), one][:, None]) for one in there]
    np.testing.assert_allclose(share_nearer(lib.array(z), lib.array(y), lib.array(there)), expected, atol=1e-6)
