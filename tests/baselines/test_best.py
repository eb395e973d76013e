from __future__ import annotations

import numpy as np
import pytest

from invarot.baselines.best import find_best, grouped_top_k


@pytest.mark.parametrize(("m", "k"), [(400, 1), (400, 5), (403, 7), (1000, 30), (50, 10), (5, 9)])
def test_the_same_as_sorting(lib, m, k, monkeypatch):
    monkeypatch.setattr("invarot.baselines.best.WIDE", 0)
    z = np.random.default_rng(0).normal(size=(20, m))
    z[3] = np.sort(z[3])[::-1]  # the best lie side by side, and after each other
    z[4] = np.sort(z[4])
    values, found = (lib.numpy(part) for part in grouped_top_k(lib.array(z), k))
    order = np.argsort(-z, axis=1)[:, :k]
    assert np.array_equal(found, order)
    assert np.array_equal(values, np.take_along_axis(z, order, axis=1))


def test_scores_are_lowered(lib, monkeypatch):
    monkeypatch.setattr("invarot.baselines.best.WIDE", 0)
    rng = np.random.default_rng(1)
    x, y, hubs = rng.normal(size=(30, 4)), rng.normal(size=(500, 4)), rng.uniform(size=500)
    found, values = find_best(lib.array(x), lib.array(y), 3, lowered=lib.array(hubs))
    scores = x @ y.T - hubs
    assert np.array_equal(lib.numpy(found), np.argsort(-scores, axis=1)[:, :3])
    assert np.allclose(lib.numpy(values), -np.sort(-scores, axis=1)[:, :3])
