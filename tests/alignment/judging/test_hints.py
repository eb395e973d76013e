"""What is suggested where clouds are of other size or origin."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot import Evidence, Rotations, Schatten, Verdict
from invarot.alignment.judging.hints import add_origin_hint, add_size_hint

RNG = np.random.default_rng(3)
X = RNG.gamma(2.0, size=(80, 3)) - 2.0
TURN = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
EVEN = np.full(80, 1 / 80)
EVIDENCE = Evidence(gain=0.9, split=1.0, surplus=0.5, twins=0.5, smooth=0.0, points=80)
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
    assert f"try {option}=True" in failed.verdict.reasons[-1]
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
