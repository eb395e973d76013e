"""What is suggested where clouds are of other size or origin."""

from __future__ import annotations

import numpy as np
import pytest

import invarot

RNG = np.random.default_rng(3)
X = RNG.gamma(2.0, size=(80, 3)) - 2.0
TURN = np.linalg.qr(RNG.normal(size=(3, 3)))[0]


@pytest.mark.parametrize(
    ("target", "option"),
    [(50.0 * X @ TURN, "scale"), (X @ TURN + np.array([9.0, -7.0, 5.0]), "translate")],
)
def test_an_option_is_suggested_and_it_is_the_right_one(target, option):
    failed = invarot.align(X, target)
    assert failed.verdict.word != "aligned"
    assert f"try {option}=True" in failed.verdict.reasons[-1]
    mended = invarot.align(X, target, **{option: True})
    assert mended.verdict.word == "aligned"
    assert not any("try" in reason for reason in mended.verdict.reasons)


def test_nothing_is_suggested_for_clouds_that_merely_differ():
    result = invarot.align(X, RNG.standard_normal((80, 3)) @ np.diag([1.5, 1.0, 1.2]))
    assert result.verdict.word != "aligned"
    assert not any("try" in reason for reason in result.verdict.reasons)
