"""What the verdict weighs, on clouds whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot.alignment.challenge import FEW, better_answers
from invarot.alignment.evidence import Evidence, cycle_share, held_out
from invarot.alignment.problem import Problem, pose
from invarot.alignment.settings import Settings
from invarot.alignment.solve import adapt
from invarot.alignment.verdict import decide, features
from invarot.retrieval.nearest import nearest

PLAIN = {"split": 0.6, "mutual": 0.5, "cycle": 0.9, "agreement": 1.0, "rivals": 0, "marginal_error": 0.0}


def posed(x: np.ndarray, y: np.ndarray) -> Problem:
    return pose(x, y, np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y)), Settings())


def sheet(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    flat = rng.uniform(size=(n, 2))
    return np.asarray(flat @ rng.standard_normal((2, d)) + np.sin(flat @ rng.uniform(1, 5, (2, d))))


def test_many_loose_points_weigh_as_much_as_few_near_ones():
    """Words of two corpora: no twins, little gain, but maps fitted without them agree far beyond chance."""
    loose = {**PLAIN, "gain": 0.18, "twins": -0.35, "smooth": 0.2}
    assert decide(Evidence(**loose, surplus=0.3, points=2000)).word == "aligned"
    assert decide(Evidence(**loose, surplus=0.3, points=60)).word != "aligned"
    assert decide(Evidence(**{**loose, "gain": 0.05, "twins": -0.7}, surplus=0.1, points=2000)).word == "failed"


def test_features_are_bounded():
    wild = Evidence(**PLAIN, gain=-40.0, surplus=0.9, twins=-900.0, smooth=7.0, points=10**6)
    assert features(wild) == {"gain": 0.0, "twins": -1.0, "smooth": 1.0, "sure": 1.5, "few": 0.01}


def test_a_handful_of_points_must_fit_plainly():
    fitting = {**PLAIN, "surplus": 0.9, "twins": 0.9}
    assert decide(Evidence(**fitting, gain=0.8, points=40)).word == "aligned"
    few = decide(Evidence(**fitting, gain=0.8, points=10))
    assert (few.word, few.reasons[0]) == ("doubtful", "only 10 points: many maps would fit as well")
    assert decide(Evidence(**fitting, gain=0.99, points=10)).word == "aligned"


def test_an_answer_that_another_start_beats_is_not_called_aligned():
    good = Evidence(**PLAIN, gain=0.9, surplus=0.2, twins=0.8, points=300)
    assert decide(good).word == "aligned"
    beaten = decide(Evidence(**{**good.__dict__, "better": 1}))
    assert beaten.word == "doubtful"
    assert beaten.probability <= 0.5
    assert "another start" in str(beaten)


def test_plain_starts_beat_a_wrong_map_of_few_points_and_no_right_one():
    rng = np.random.default_rng(5)
    x = rng.gamma(2.0, size=(80, 4))
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    problem = posed(x, (x @ turn)[rng.permutation(80)])
    settings = adapt(Settings(), problem)
    assert better_answers(problem, settings, turn, np.random.default_rng(0)) == 0
    mirrored = invarot.align(x, problem.y, start=-turn).map
    assert better_answers(problem, settings, mirrored, np.random.default_rng(0)) > 0
    many = posed(rng.standard_normal((FEW + 1, 4)), problem.y)
    assert better_answers(many, settings, mirrored, np.random.default_rng(0)) == 0


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_what_a_wrong_turn_leaves_over_is_smooth_and_noise_is_not(noise):
    rng = np.random.default_rng(11)
    x = sheet(200, 30, rng)
    turn = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    y = x @ turn + noise * rng.standard_normal((200, 30))
    settings, some = Settings(), np.arange(200)
    right = held_out(x, y, turn, some, settings).smooth
    u, _, vt = np.linalg.svd(turn + 0.1 * rng.standard_normal((30, 30)))
    wrong = held_out(x, y, u @ vt, some, settings).smooth
    assert right < 0.1
    assert wrong > 0.3


def test_exact_plans_can_be_raced():
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(40, 3))
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    result = invarot.align(x, x @ turn, plan="exact")
    assert np.allclose(result.map, turn, atol=1e-6)


def test_the_nearest_of_any_number_of_points_is_the_nearest():
    """Sizes on both sides of a block and of a thread's share; with a penalty the nearest in another sense."""
    rng = np.random.default_rng(2)
    y = rng.standard_normal((900, 3))
    for count in (1, 7, 290, 2600):
        z = rng.standard_normal((count, 3))
        far = ((z[:, None] - y) ** 2).sum(2)
        np.testing.assert_array_equal(nearest(z, y), far.argmin(1))
        there = far.argsort(1)
        np.testing.assert_array_equal(nearest(z, y, there[:, 0]), there[:, 1])
        lowered = rng.standard_normal(900)
        np.testing.assert_array_equal(nearest(z, y, lowered=lowered), (z @ y.T - lowered).argmax(1))


def test_the_cycle_of_some_points_is_that_of_the_plan_written_out():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((120, 3))
    y = x[rng.permutation(120)] + 0.7 * rng.standard_normal((120, 3))
    weights = rng.uniform(0.5, 1.5, 120)
    plan = invarot.align(x, y, a=weights / weights.sum(), start="identity", schedule=0.05).plan
    dense = plan.dense()
    there, back = dense.argmax(1), dense.argmax(0)
    for some in (np.arange(120), np.array([5, 3, 80])):
        came = back[there[some]] == some
        assert cycle_share(plan, some) == pytest.approx(weights[some][came].sum() / weights[some].sum())
    assert 0.2 < cycle_share(plan, np.arange(120)) < 1
