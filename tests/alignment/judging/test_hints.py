"""What is suggested where clouds are of other size or origin."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot import Evidence, Rotations, Schatten, Verdict
from invarot.alignment.judging.hints import add_next_step, add_origin_hint, add_size_hint

from ..clouds import posed

RNG = np.random.default_rng(3)
X = RNG.gamma(2.0, size=(80, 3)) - 2.0
TURN = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
EVEN = np.full(80, 1 / 80)
EVIDENCE = Evidence(split=1.0, twins=0.5, points=80)
SURE, FAILED = Verdict("aligned", 0.99, EVIDENCE, ("fits",)), Verdict("failed", 0.1, EVIDENCE, ("does not fit",))


@pytest.mark.parametrize(
    ("target", "option"),
    [(50.0 * X @ TURN, "scale"), (X @ TURN + np.array([9.0, -7.0, 5.0]), "translate")],
)
@pytest.mark.parametrize("p", [np.inf, Rotations()])
def test_an_option_is_suggested_and_it_is_the_right_one(target, option, p):
    if isinstance(p, Rotations):
        target = target * [np.sign(np.linalg.det(TURN)), 1, 1]
    failed = invarot.align(X, target, p=p)
    assert failed.verdict.word != "aligned"
    assert f"try {option}=True" in " ".join(failed.verdict.reasons)
    mended = invarot.align(X, target, p=p, **{option: True})
    assert mended.verdict.word == "aligned"
    assert not any("try" in reason for reason in mended.verdict.reasons)


def test_nothing_is_suggested_for_clouds_that_merely_differ():
    result = invarot.align(X, RNG.standard_normal((80, 3)) @ np.diag([1.5, 1.0, 1.2]))
    assert result.verdict.word != "aligned"
    assert not any("=True" in reason for reason in result.verdict.reasons)


@pytest.mark.parametrize("p", [2.0, Schatten(whiten=True)])
def test_maps_that_change_norms_need_no_hint(p):
    result = invarot.align(X, 50 * X @ TURN, p=p)
    assert not any("=True" in reason for reason in result.verdict.reasons)


def test_a_cloud_of_other_size_is_never_sure(lib):
    x, y, even = lib.array(X), lib.array(5 * X), lib.array(EVEN)
    hinted = add_size_hint(SURE, x, y, even, even, radius=None)
    assert (hinted.word, hinted.probability) == ("doubtful", 0.5)
    assert hinted.reasons == ("fits", "x spreads 0.2 times as far as y: try scale=True")
    bound = add_size_hint(FAILED, x, y, even, even, radius=1.0)
    assert (bound.word, bound.reasons[-1]) == (
        "failed",
        "x spreads 0.2 times as far as y: try scale=True without a radius",
    )
    assert add_size_hint(SURE, x, y, even, even, radius=5.0) is SURE  # maps that reach it
    assert add_size_hint(SURE, x, lib.array(1.5 * X), even, even, radius=1.0) is SURE
    assert add_size_hint(SURE, x, 0 * x, even, even, radius=1.0) is SURE


def test_an_origin_is_only_doubted_where_the_answer_is(lib):
    x, y, even = lib.array(X), lib.array(X + 9), lib.array(EVEN)
    hinted = add_origin_hint(FAILED, x, y, even, even)
    assert hinted.reasons[-1].endswith("try translate=True")
    assert (hinted.word, hinted.probability) == ("failed", 0.1)
    assert add_origin_hint(SURE, x, y, even, even) is SURE
    assert add_origin_hint(FAILED, x, x, even, even) is FAILED
    assert add_origin_hint(FAILED, 0 * x, y, even, even) is FAILED


def test_weights_say_where_a_cloud_lies():
    far = np.concatenate([X, X[:1] + 1000])
    a = np.append(EVEN, 0.0)
    assert add_origin_hint(FAILED, far, X, a, EVEN) is FAILED
    assert add_size_hint(SURE, far, X, a, EVEN, radius=1.0) is SURE


def said(result) -> str:
    return " ".join(result.verdict.reasons)


def test_a_better_answer_of_the_default_starts_is_named():
    rng = np.random.default_rng(2)
    x = rng.gamma(2.0, size=(100, 5)) - 2
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    failed = invarot.align(x, x @ turn, start=-turn)
    assert 'try start="auto"' in said(failed)
    assert invarot.align(x, x @ turn, start="auto").verdict.word == "aligned"


def test_transposed_clouds_are_asked_about():
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(60, 4))
    y = (x @ np.linalg.qr(rng.normal(size=(4, 4)))[0])[rng.permutation(60)]
    assert "pass x.T and y.T" in said(invarot.align(x.T, y.T))
    assert "pass y.T" in said(invarot.align(x, y.T))
    assert "pass x.T" in said(invarot.align(x.T, y))
    assert invarot.align(x, y).verdict.word == "aligned"


def test_lengths_that_say_nothing_are_divided_out():
    rng = np.random.default_rng(4)
    x = rng.normal([1, 0, 0.5, 0], size=(150, 4))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = (x @ np.linalg.qr(rng.normal(size=(4, 4)))[0])[rng.permutation(150)]
    failed = invarot.align(x * rng.gamma(1.0, size=(150, 1)), y)
    assert "try unit rows" in said(failed)
    assert invarot.align(x, y).verdict.word == "aligned"


def test_points_far_from_the_other_cloud_may_have_no_counterpart():
    rng = np.random.default_rng(1)
    x = rng.gamma(2.0, size=(120, 3)) - 2
    problem = posed(np.concatenate([x, x[:20] + 30]), x)
    hinted = add_next_step(FAILED, problem, np.eye(3), searched=True, effort=None)
    assert 'try overlap="auto"' in hinted.reasons[-1]
    assert add_next_step(SURE, problem, np.eye(3), searched=True, effort=None) is SURE


def test_unmatched_points_are_the_cure_where_a_part_has_no_counterpart():
    rng = np.random.default_rng(1)
    x = rng.gamma(2.0, size=(150, 3)) - 2
    more = np.concatenate([x, rng.normal([12, 0, 0], size=(60, 3))])
    failed = invarot.align(more, x @ TURN, translate=True)
    assert failed.verdict.word != "aligned"
    assert 'try overlap="auto"' in said(failed)
    assert invarot.align(more, x @ TURN, translate=True, overlap="auto").verdict.word == "aligned"


def test_more_effort_is_the_cure_where_a_quick_search_ends_at_a_wrong_map():
    rng = np.random.default_rng(7)
    x = rng.standard_normal((60, 30))
    turn = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    y = (x @ turn)[rng.permutation(60)] + 0.5 * rng.standard_normal((60, 30))
    failed = invarot.align(x, y, effort="quick")
    assert failed.verdict.word != "aligned"
    assert 'try effort="high"' in said(failed)
    assert invarot.align(x, y, effort="high").verdict.word == "aligned"


@pytest.mark.parametrize(
    ("effort", "agreed", "said"),
    [
        (None, False, 'try effort="high"'), (None, True, 'try effort="max"'), ("high", False, 'try effort="max"'),
        ("max", False, "a few known pairs (seeds=) would help"),
    ],
)  # fmt: skip
def test_more_effort_or_a_few_pairs_are_left(effort, agreed, said):
    hinted = add_next_step(FAILED, posed(X, X @ TURN), TURN, searched=True, effort=effort, agreed=agreed)
    assert said in hinted.reasons[-1]


def test_a_few_pairs_choose_between_symmetric_maps():
    half = np.random.default_rng(1).gamma(2.0, size=(40, 3)) * [3, 2, 1]
    x = np.concatenate([half, -half])
    doubtful = invarot.align(x, x @ TURN)
    assert "known pairs (seeds=) choose" in said(doubtful)
    assert invarot.align(x, x @ TURN, seeds=[(0, 0), (1, 1), (2, 2), (50, 50)]).verdict.word == "aligned"


def test_other_units_are_named_where_points_may_stay_unmatched():
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=(300, 3))
    found = invarot.align(x, 1000 * x[::-1], translate=True, overlap="auto", rng=0)
    assert found.verdict.word == "failed"
    assert "try scale=True" in said(found)
