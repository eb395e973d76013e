"""Reflected maps: what a right map has before them, and a wrong one has not."""

from __future__ import annotations

import numpy as np

from invarot.alignment.reflections import fit_reflections, reflect, share_nearer

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
    assert right.summarise(right.lead)[0] > 0.5 > wrong.summarise(wrong.lead)[0]
    assert right.summarise(right.errors)[0] > 5 > wrong.summarise(wrong.errors)[0]
    assert right.blur < 0.05 < wrong.blur


def test_the_share_of_nearer_targets_is_counted(lib):
    rng = np.random.default_rng(0)
    z, y = rng.standard_normal((30, 3)), rng.standard_normal((50, 3))
    there = rng.integers(50, size=(2, 30))
    far = np.linalg.norm(z[:, None] - y, axis=2)
    expected = [np.mean(far < far[np.arange(30), one][:, None]) for one in there]
    np.testing.assert_allclose(share_nearer(lib.array(z), lib.array(y), lib.array(there)), expected, atol=1e-6)
