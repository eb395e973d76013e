"""The problem inside its frames, and when two answers are one."""

from __future__ import annotations

import numpy as np
import pytest

from invarot import Exact, InputError, Rotations, Schatten, Sinkhorn
from invarot.alignment.problem import (
    add_seeds,
    distinct,
    same_answer,
    same_answers,
    slack,
    transport_cost,
)
from invarot.alignment.tuning import SLACK

from .clouds import posed, random_turn, rotation, turned

# -- posing ----------------------------------------------------------------------------------------------------------


def test_scales_are_those_of_a_perfect_match(lib):
    """The score of matched points is score_scale; that of the matched centred points is variance_scale."""
    x, y, turn, match = turned(50, 3)
    problem = posed(lib.array(x), lib.array(y))
    assert problem.score_scale == pytest.approx(np.mean(np.sum((x @ turn) * y[match], axis=1)))
    inside = x - x.mean(0)
    assert problem.variance_scale == pytest.approx(np.mean(np.sum(inside**2, axis=1)))
    np.testing.assert_allclose(lib.numpy(problem.second_moment), x.T @ x / 50)
    assert problem.mean_square_y == pytest.approx(np.mean(np.sum(y**2, axis=1)))


def test_a_radius_scales_the_costs():
    x, y, _, _ = turned(30, 3)
    plain, half = posed(x, y), posed(x, y, maps=Schatten(radius=0.5))
    assert half.cost_scale == pytest.approx(plain.cost_scale / 2)
    assert half.variance_scale == pytest.approx(plain.variance_scale / 2)


def test_numbers_of_single_precision_do_not_make_the_problem_so():
    x, y, _, _ = turned(30, 3)
    for maps in (Schatten(np.float32(4), radius=np.float32(2)), Rotations(radius=np.float32(2))):
        problem = posed(x, y, maps=maps)
        assert type(problem.cost_scale) is float
        assert type(problem.variance_scale) is float
        assert problem.maps.size(3, 3) == 2.0
        assert type(problem.maps.size(3, 3)) is float


def test_frames_centre_scale_and_whiten():
    x, y, _, _ = turned(40, 3)
    moved = posed(x + 5, y, translate=True)
    np.testing.assert_allclose(moved.x.mean(0), 0, atol=1e-12)
    unit = posed(x, 7 * y, scale=True)
    assert np.mean(np.sum(unit.y**2, axis=1)) == pytest.approx(1)
    white = posed(x, y, maps=Schatten(whiten=True))
    np.testing.assert_allclose(white.second_moment, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(white.frame_x.leave(white.x), x, atol=1e-10)


def test_points_of_no_weight_are_left_out():
    x, y, _, _ = turned(20, 3)
    a = np.where(np.arange(20) < 15, 1 / 15, 0.0)
    problem = posed(x, y, a=a)
    np.testing.assert_array_equal(problem.x, x[:15])
    assert problem.a.shape == (15,)
    assert problem.largest == 20


def test_a_better_objective_is_larger_times_sign():
    x, y, turn, _ = turned(20, 3)
    assert posed(x, y).sign == 1
    assert posed(x, y, solver=Sinkhorn(objective="transport")).sign == -1
    assert posed(x, y).orthogonal
    for other in ({"maps": Schatten(2)}, {"maps": Rotations()}, {"solver": Exact(objective="transport")}):
        assert not posed(x, y, **other).orthogonal
    moment = x.T @ y / 20
    apart = np.mean(np.sum(((x @ turn)[:, None] - y) ** 2, axis=2), axis=1).mean()
    uniform = np.outer(x.mean(0), y.mean(0))
    assert float(transport_cost(posed(x, y), uniform, turn)) == pytest.approx(apart)
    assert float(transport_cost(posed(x, y), moment, turn)) == pytest.approx(
        np.mean(np.sum((x @ turn - y) ** 2, axis=1))
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maps": Rotations(), "wide": True}, r"p: expected as many columns.* got 3 and 4; use p=inf"),
        ({"maps": Rotations(), "solver": Sinkhorn(objective="transport")}, "objective: expected 'simplified'"),
        ({"maps": Schatten(2), "scale": True}, r"scale: expected p=inf.*set radius instead"),
        ({"solver": Exact(objective="transport"), "scale": True}, r"scale: expected .*objective='simplified'"),
        ({"maps": Schatten(radius=2.0), "scale": True}, r"radius: expected None with scale=True.*got 2"),
        ({"maps": Rotations(radius=2.0), "scale": True}, r"radius: expected None with scale=True"),
    ],
)
def test_options_that_exclude_each_other(options, message):
    x, y, _, _ = turned(20, 3)
    if options.pop("wide", False):
        y = np.pad(y, ((0, 0), (0, 1)))
    with pytest.raises(InputError, match=f"^{message}"):
        posed(x, y, **options)


def test_seeds_are_the_mean_moment_of_the_pairs(lib):
    x, y, _, match = turned(20, 3)
    pairs = np.stack([np.arange(4), match[:4]], axis=1)
    problem = add_seeds(posed(lib.array(x), lib.array(y)), pairs, 3.0)
    np.testing.assert_allclose(lib.numpy(problem.seed_moment), 3 * x[:4].T @ y[match[:4]] / 4)


# -- comparing -------------------------------------------------------------------------------------------------------


def test_two_maps_are_one_answer_where_they_put_the_points_alike(lib):
    """In the plane, by a hundredth of a turn; not by a quarter; and many points tell apart what few do not."""
    rng = np.random.default_rng(0)
    x = lib.array(rng.standard_normal((2000, 2)))
    problem, w = posed(x, x), lib.array(np.eye(2))
    turns = lib.array(np.stack([rotation(angle) for angle in (0.0, 0.02, 0.2, -0.2, 1.5)]))
    assert same_answers(problem, w, turns).tolist() == [True, True, False, False, False]
    assert same_answer(problem, turns[2], turns[2])
    assert not same_answer(problem, w, lib.array(np.diag([1.0, -1.0])))


def test_few_points_in_many_dimensions_are_one_answer_up_to_half_the_way_to_a_neighbour():
    """Neighbours lie about 1.4 spreads apart there: a turn by a third of one moves no point to another."""
    rng = np.random.default_rng(5)
    turn = np.eye(10)
    turn[:2, :2] = turn[2:4, 2:4] = turn[4:6, 4:6] = rotation(0.4)
    few, many = (rng.standard_normal((n, 10)) for n in (40, 40_000))
    assert same_answer(posed(few, few), np.eye(10), turn)
    assert not same_answer(posed(many, many), np.eye(10), turn)
    assert not same_answer(posed(few, few), np.eye(10), -np.eye(10))


def test_directions_without_points_do_not_tell_maps_apart():
    rng = np.random.default_rng(1)
    x = np.pad(rng.standard_normal((300, 2)), ((0, 0), (0, 2)))
    problem = posed(x, x)
    flipped = np.diag([1.0, 1.0, -1.0, -1.0])
    assert same_answer(problem, np.eye(4), flipped)
    assert not same_answer(problem, np.eye(4), np.diag([1.0, -1.0, 1.0, 1.0]))


def test_the_spread_is_about_the_centre_and_units_do_not_matter():
    """A cloud far from the origin: a small turn carries its points past each other."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((1000, 2))
    for unit in (1e-6, 1.0, 1e6):
        assert same_answer(posed(unit * x, unit * x), np.eye(2), rotation(0.05))
        assert not same_answer(posed(unit * (x + 50), unit * x), np.eye(2), rotation(0.05))


def test_distinct_keeps_the_first_of_each_answer():
    x = np.random.default_rng(3).standard_normal((500, 2))
    problem = posed(x, x)
    maps = np.stack([rotation(angle) for angle in (0.0, 0.01, 2.0, 2.01, 4.0)])
    assert distinct(problem, maps, range(5)) == [0, 2, 4]
    assert distinct(problem, maps, [3, 1, 0, 2, 4]) == [3, 1, 4]
    assert distinct(problem, maps, range(5), 2) == [0, 2]
    assert distinct(problem, maps, []) == []


def test_slack_is_a_share_of_what_is_missing():
    x, y, _, _ = turned(40, 3)
    problem = posed(x, y)
    least = slack(problem, problem.score_scale)  # nothing is missing: a thousandth of the spread
    assert least == pytest.approx(1e-3 * problem.variance_scale)
    half = slack(problem, problem.score_scale / 2)
    assert half - least == pytest.approx(SLACK * problem.score_scale / 2)
    cost = posed(x, y, solver=Sinkhorn(objective="transport"))
    assert slack(cost, -2.0) - slack(cost, 0.0) == pytest.approx(2 * SLACK)


def test_slack_grows_with_the_units():
    x, y, _, _ = turned(40, 3)
    small, large = posed(x, y), posed(10 * x, 10 * y)
    assert slack(large, 0.5 * large.score_scale) == pytest.approx(100 * slack(small, 0.5 * small.score_scale))


def test_a_rectangular_map_is_compared_in_the_target():
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((300, 2)), rng.standard_normal((300, 4))
    problem = posed(x, y)
    w = random_turn(4, rng)[:2]
    assert same_answer(problem, w, w + 1e-3)
    assert not same_answer(problem, w, -w)
