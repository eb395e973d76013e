"""A map against its reflections: what surrounds points and their targets decides."""

from __future__ import annotations

import numpy as np
import pytest

from invarot import Exact, Schatten, align
from invarot.alignment.contest import Lead, _choose_signs, keep_leading_axes, reflect, run_contest
from invarot.alignment.problem import add_seeds

from .clouds import posed, random_turn, turned


def rng():
    return np.random.default_rng(0)


def test_reflections_are_other_isometries_of_the_cloud(lib):
    x, y, turn, _ = turned(60, 4)
    maps = lib.numpy(reflect(posed(lib.array(x), lib.array(y)), lib.array(turn), rng()))
    assert len(maps) >= 3
    for one in maps:
        np.testing.assert_allclose(one @ one.T, np.eye(4), atol=1e-5)
        np.testing.assert_allclose(one.T @ (x.T @ x) @ one, turn.T @ (x.T @ x) @ turn, rtol=1e-3)
        assert np.linalg.norm(one - turn) > 1


@pytest.mark.parametrize(("d", "count"), [(1, 1), (2, 3), (3, 7), (4, 12), (30, 12)])
def test_few_dimensions_have_all_their_reflections_and_many_a_few(d, count):
    signs = _choose_signs(d, rng())
    assert signs.shape == (count, d)
    assert set(np.unique(signs)) <= {-1.0, 1.0}
    assert np.any(signs < 0, axis=1).all()


def test_a_right_map_wins_and_a_reflection_loses(lib):
    x, y, turn, _ = turned(150, 6, noise=0.5)
    centre = x.mean(0)
    problem = posed(lib.array(x - centre), lib.array(y - centre @ turn))
    right = run_contest(problem, lib.array(turn), rng())
    wrong = run_contest(problem, reflect(problem, lib.array(turn), rng())[0], rng())
    assert right.nearer > 3 > -2 > wrong.nearer
    assert right.shape > 5 > 2 > wrong.shape
    assert right.crowding > 5 > 2 > wrong.crowding
    assert right.drift > 0.15 > 0.1 > wrong.drift


def test_loose_clouds_still_show_the_right_map():
    """Two samples of one mixture: no point has a counterpart, and nearest targets lie as far off as neighbours."""
    draw = np.random.default_rng(2)
    centres, sizes = 3 * draw.standard_normal((5, 4)), [5, 10, 20, 40, 80]
    x, y = (np.repeat(centres, sizes, axis=0) + 0.6 * draw.standard_normal((155, 4)) for _ in range(2))
    turn = random_turn(4, draw)
    found = run_contest(posed(x, y @ turn), turn, draw)
    assert found.shape > 5
    assert found.crowding > 5


def test_many_points_are_compared_as_finely_as_few():
    """Of 6,000 points in 300 groups a sample of 500 has hardly a pair of neighbours: surroundings are those of the whole cloud."""
    draw = np.random.default_rng(3)
    centres = draw.standard_normal((300, 12))
    x = centres[draw.integers(300, size=6000)] + 0.4 * draw.standard_normal((6000, 12))
    turn = random_turn(12, draw)
    found = run_contest(posed(x, (x @ turn)[::-1] + 0.3 * draw.standard_normal((6000, 12))), turn, draw)
    assert found.drift > 0.3
    assert min(found.shape, found.crowding, found.nearer) > 10


def test_unrelated_clouds_have_no_winner():
    draw = np.random.default_rng(1)
    x, y = draw.standard_normal((2, 200, 5))
    found = run_contest(posed(x, y), align(x, y, start="random", rng=0).map, draw)
    assert found.drift < 0.1
    assert found.crowding < 5


def test_many_dimensions_are_compared_in_the_leading_ones():
    x, y, turn, _ = turned(120, 60, noise=0.2)
    problem = add_seeds(posed(x, y), np.asarray([[0, 0]]), 1.0)
    small, w = keep_leading_axes(problem, turn)
    assert small.x.shape == small.y.shape == (120, 30)
    assert small.seed_moment is not None
    assert small.seed_moment.shape == (30, 30)
    assert np.linalg.norm(w, 2) <= 1 + 1e-8
    assert run_contest(posed(x, y), turn, rng()).shape > 5


def test_clouds_of_other_sizes_and_dimensions():
    x, y, turn, _ = turned(90, 5, noise=0.1)
    wide = np.concatenate([turn, np.zeros((5, 2))], axis=1)
    found = run_contest(posed(x, np.concatenate([y, np.zeros((90, 2))], axis=1)[:80]), wide, rng())
    assert found.shape > 5
    assert -1 <= found.drift <= 2


def test_other_families_of_maps_and_plans():
    x, y, turn, _ = turned(40, 3)
    for options in ({"solver": Exact()}, {"maps": Schatten(2.0)}, {"maps": Schatten(1.0)}):
        found = run_contest(posed(x, y, **options), turn, rng())
        assert np.isfinite([found.nearer, found.drift, found.shape, found.crowding]).all()


def test_nothing_to_compare():
    assert run_contest(posed(np.ones((1, 2)), np.ones((3, 2))), np.eye(2), rng()) == Lead()
    assert run_contest(posed(np.zeros((5, 2)), np.ones((5, 2))), np.eye(2), rng()) == Lead()
