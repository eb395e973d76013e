"""SCOT's method on two assays whose graphs agree."""

from __future__ import annotations

import numpy as np
import pytest

from invarot import baselines
from invarot.baselines.graph_gromov_wasserstein import graph_paths


def test_paths_are_those_of_the_graph():
    t = np.linspace(0.1, 1.4, 40)
    circle = np.column_stack([np.cos(t), np.sin(t), np.cos(3 * t)])
    paths = graph_paths(circle, 3)
    assert paths.max() == 1
    assert np.array_equal(paths, paths.T)
    assert paths[0, 39] == 1 > paths[0, 20] > paths[0, 5] > 0


def test_clusters_go_to_clusters():
    pytest.importorskip("ot")
    rng = np.random.default_rng(0)
    types = np.repeat([0, 1, 2], [60, 30, 15])
    x = (4 * rng.normal(size=(3, 5)))[types] + rng.normal(size=(105, 5)) * 0.4
    y = x @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    found = baselines.graph_gromov_wasserstein(x, y, k=10, epsilon=5e-3, max_iter=50)
    assert found.map.shape == (5, 5)
    assert found.settings["k"] == 10
    assert found.plan.marginals()[0] == pytest.approx(1 / 105, rel=0.05)
    assert (types[np.asarray(found.plan.matches())] == types).mean() > 0.9
