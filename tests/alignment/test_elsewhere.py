"""Maps that send points to clearly other targets, and those that hardly differ."""

from __future__ import annotations

import numpy as np

from invarot.alignment.elsewhere import find_elsewhere, share_nearer

from .clouds import posed, turned


def test_the_share_of_nearer_targets_is_counted(lib):
    rng = np.random.default_rng(0)
    z, y = rng.standard_normal((30, 3)), rng.standard_normal((50, 3))
    there = rng.integers(50, size=(2, 30))
    far = np.linalg.norm(z[:, None] - y, axis=2)
    expected = [np.mean(far < far[np.arange(30), one][:, None]) for one in there]
    np.testing.assert_allclose(share_nearer(lib.array(z), lib.array(y), lib.array(there)), expected, atol=1e-6)


def test_maps_that_hardly_differ_are_the_same_answer():
    x, y, turn, _ = turned(200, 3, noise=0.3)
    problem = posed(x - x.mean(0), y - y.mean(0))
    near = turn @ np.linalg.qr(np.eye(3) + 0.02 * np.random.default_rng(0).standard_normal((3, 3)))[0]
    near = near * np.sign(np.sum(near * turn, axis=0))
    far = turn * [1, -1, 1]
    assert [one is far for one in find_elsewhere(problem, turn, [near, far])] == [True]
    assert find_elsewhere(problem, turn, []) == []
