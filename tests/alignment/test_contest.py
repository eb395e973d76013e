"""A map against its reflections, with balanced plans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from invarot import Exact, Schatten
from invarot.alignment.contest import keep_leading_axes, run_contest
from invarot.alignment.problem import add_seeds
from invarot.alignment.reflections import find_elsewhere, reflect

from .clouds import posed, random_turn, turned


def test_a_right_map_wins_and_a_reflection_loses(lib):
    x, y, turn, _ = turned(150, 6, noise=0.5)
    centre = x.mean(0)
    problem, rng = posed(lib.array(x - centre), lib.array(y - centre @ turn)), np.random.default_rng(0)
    assert run_contest(problem, lib.array(turn), rng) > 3
    assert run_contest(problem, reflect(problem, lib.array(turn), rng)[0], rng) < -2


def test_loose_clouds_still_show_the_right_map():
    """Two samples of one mixture: no point has a counterpart, and nearest targets lie as far off as neighbours."""
    rng = np.random.default_rng(2)
    centres, sizes = 3 * rng.standard_normal((5, 4)), [5, 10, 20, 40, 80]
    x, y = (np.repeat(centres, sizes, axis=0) + 0.6 * rng.standard_normal((155, 4)) for _ in range(2))
    turn = random_turn(4, rng)
    assert run_contest(posed(x, y @ turn), turn, rng) > 3


def test_unrelated_clouds_have_no_winner():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 200, 5))
    assert abs(run_contest(posed(x, y), random_turn(5, rng), rng)) < 3


def test_many_dimensions_are_compared_in_the_leading_ones():
    x, y, turn, _ = turned(120, 60, noise=0.2)
    problem = add_seeds(posed(x, y), np.asarray([[0, 0]]), 1.0)
    small, w = keep_leading_axes(problem, turn)
    assert small.x.shape == small.y.shape == (120, 30)
    assert small.seed_moment is not None
    assert small.seed_moment.shape == (30, 30)
    assert np.linalg.norm(w, 2) <= 1 + 1e-8
    assert run_contest(posed(x, y), turn, np.random.default_rng(0)) > 3


def test_other_families_of_maps_and_plans():
    x, y, turn, _ = turned(40, 3)
    for options in ({"solver": Exact()}, {"maps": Schatten(2.0)}, {"maps": Schatten(1.0)}):
        assert np.isfinite(run_contest(posed(x, y, **options), turn, np.random.default_rng(0)))


def test_nothing_to_compare():
    one = posed(np.ones((1, 2)), np.ones((3, 2)))
    assert run_contest(one, np.eye(2), np.random.default_rng(0)) == 0
    flat = posed(np.zeros((5, 2)), np.ones((5, 2)))
    assert run_contest(flat, np.eye(2), np.random.default_rng(0)) == 0


def test_rivals_that_hardly_differ_are_the_same_answer():
    x, y, turn, _ = turned(200, 3, noise=0.3)
    problem = posed(x - x.mean(0), y - y.mean(0))
    near = turn @ np.linalg.qr(np.eye(3) + 0.02 * np.random.default_rng(0).standard_normal((3, 3)))[0]
    near = near * np.sign(np.sum(near * turn, axis=0))
    far = turn * [1, -1, 1]
    assert [one is far for one in find_elsewhere(problem, turn, [near, far])] == [True]
    assert find_elsewhere(replace(problem), turn, []) == []
