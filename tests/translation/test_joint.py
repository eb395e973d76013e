"""The common space of several clouds: that of two is `common_space`, and noisy maps of several are mended."""

from __future__ import annotations

import numpy as np

from invarot.retrieval.refine import common_space
from invarot.translation.joint import Matched, common_spaces, refine_many


def test_two_clouds_are_a_common_space(lib):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 4)) * (2.0, 1.0, 1.0, 0.5)
    y = x @ np.linalg.qr(rng.standard_normal((4, 4)))[0] + 0.3 * rng.standard_normal(x.shape)
    weights = rng.uniform(0.5, 1.0, 300)
    rows = lib.array(np.arange(300), "int64")
    x, y, weights = lib.array(x), lib.array(y), lib.array(weights)
    two = common_space(x, y, weights)
    many, correlations = common_spaces([x, y], {(0, 1): Matched(rows, rows, weights)})
    np.testing.assert_allclose(lib.numpy(correlations), lib.numpy(two.correlations), atol=1e-9)
    want = lib.numpy(x @ two.x_map) @ lib.numpy(y @ two.y_map).T
    np.testing.assert_allclose(lib.numpy(x @ many[0]) @ lib.numpy(y @ many[1]).T, want, atol=1e-8)


def test_maps_of_three_clouds_are_mended():
    rng = np.random.default_rng(1)
    base = rng.standard_normal((400, 6)) * np.linspace(2.0, 0.7, 6)
    turns = [np.linalg.qr(rng.standard_normal((6, 6)))[0] for _ in range(3)]
    clouds = [base @ turn + 0.1 * rng.standard_normal(base.shape) for turn in turns]
    start = [turn.T + 0.15 * rng.standard_normal((6, 6)) for turn in turns]

    def right(maps):
        a, b = (cloud @ one for cloud, one in zip(clouds[:2], maps[:2], strict=True))
        a, b = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in (a, b))
        return np.mean(np.argmax(a @ b.T, axis=1) == np.arange(400))

    maps, rounds = refine_many(clouds, start, rounds=5, trust=[np.ones(400)] * 3)
    assert 1 <= rounds <= 5
    assert right(maps) > max(right(start) + 0.1, 0.9)
