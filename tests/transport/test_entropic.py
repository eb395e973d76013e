"""Entropic plans of one pair of clouds, from points to an operator."""

import math
from dataclasses import replace

import numpy as np
import pytest

from invarot.errors import InputError, MemoryBound
from invarot.transport.entropic import correct, entropic_plan
from invarot.transport.sinkhorn import Potentials

HOW = {"tol": 1e-9, "max_iter": 1000}


def test_two_points_beside_themselves(lib):
    """Costs 0 and 4, by symmetry: a share 1/(1 + exp(−4/ε)) stays."""
    points, even = lib.array([[1.0], [-1.0]]), lib.array([0.5, 0.5])
    plan = entropic_plan(points, points, even, even, epsilon=2.0, **HOW)
    stay = 0.5 / (1 + math.exp(-2))
    np.testing.assert_allclose(lib.numpy(plan.dense()), [[stay, 0.5 - stay], [0.5 - stay, stay]], atol=1e-12)
    assert plan.epsilon == 2.0


def test_warm_potentials_are_used_and_memory_is_kept():
    rng = np.random.default_rng(0)
    z, y = rng.standard_normal((60, 2)), rng.standard_normal((50, 2))
    a, b = np.full(60, 1 / 60), np.full(50, 1 / 50)
    first = entropic_plan(z, y, a, b, epsilon=0.5, **HOW)
    warm = Potentials(first.u[None], first.v[None], np.zeros(1), 0)
    again = entropic_plan(z, y, a, b, epsilon=0.5, warm=warm, **HOW)
    assert again.iterations < first.iterations
    np.testing.assert_allclose(again.dense(), first.dense(), atol=1e-9)
    with pytest.raises(MemoryBound, match=r"memory: expected .* for a streamed plan"):
        entropic_plan(z, y, a, b, epsilon=0.5, memory=1000, **HOW)
    with pytest.raises(InputError, match="epsilon: expected"):
        entropic_plan(z, y, a, b, epsilon=0.0, **HOW)


def test_a_plan_of_rounded_points_is_corrected_for_the_points_as_they_are():
    rng = np.random.default_rng(0)
    z, y = rng.standard_normal((60, 2)), rng.standard_normal((50, 2))
    a, b = np.full(60, 1 / 60), np.full(50, 1 / 50)
    right = entropic_plan(z, y, a, b, epsilon=0.5, **HOW)
    rounded = entropic_plan(z.astype(np.float16).astype(float), y, a, b, epsilon=0.5, **HOW)
    off = replace(right, u=rounded.u, v=rounded.v)
    assert correct(off, "dense", **HOW) is off  # it was found just so
    found = correct(off, "of rounded points", tol=1e-9, max_iter=1000)
    assert np.abs(off.dense() - right.dense()).sum() > 1e-5
    np.testing.assert_allclose(found.dense(), right.dense(), atol=1e-8)
    assert off.iterations < found.iterations < 2 * off.iterations
