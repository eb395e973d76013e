"""Preparation: noisy lengths are found, parts of a whole are told from vectors, views have one size."""

from __future__ import annotations

import numpy as np
import pytest

from invarot.cells.graph import graph_coordinates, nearest_cells
from invarot.cells.preparation import choose_rows, length_noise, make_views, scale_rows


def cloud(rng, n=300, d=6):
    return 5 * rng.normal(size=(4, d))[rng.choice(4, n)] + 0.5 * rng.normal(size=(n, d))


def test_noise_alike_in_all_directions_is_about_one():
    assert 0.3 < length_noise(cloud(np.random.default_rng(0))) < 5


def test_depth_makes_lengths_noisy():
    rng = np.random.default_rng(0)
    x = cloud(rng)
    deep = x * np.exp(rng.normal(scale=0.7, size=(len(x), 1)))
    assert length_noise(deep) > 10
    assert choose_rows(x, length_noise(x)) == "as is"
    assert choose_rows(deep, length_noise(deep)) == "unit"
    assert choose_rows(np.abs(deep), 20.0) == "roots"


def test_few_cells_or_one_column_say_nothing_of_lengths():
    assert length_noise(np.ones((5, 3))) == 1
    assert length_noise(np.ones((50, 1))) == 1
    assert length_noise(np.zeros((50, 3))) == 1


def test_rows_without_their_length():
    x = np.array([[1.0, 3.0], [4.0, 0.0], [0.0, 0.0]])
    assert np.allclose(scale_rows(x, "roots"), [[0.5, 0.75**0.5], [1, 0], [0, 0]])
    assert np.allclose(np.linalg.norm(scale_rows(x, "unit"), axis=1), [1, 1, 0])
    assert scale_rows(x, "as is") is x


@pytest.mark.parametrize("name", ["linear", "cosine", "graph", "whitened"])
def test_views_are_centred_and_of_one_size(name):
    x = cloud(np.random.default_rng(1))
    view = make_views(x, (name,), rng=np.random.default_rng(0))[name]
    assert (view**2).sum(1).mean() == pytest.approx(1)
    if name != "cosine":
        assert np.abs(view.mean(0)).max() < 1e-9


def test_the_graph_unrolls_a_spiral():
    t = np.sort(np.random.default_rng(0).uniform(1, 3, size=400))
    x = np.column_stack([t * np.cos(6 * t), t * np.sin(6 * t)])
    first = graph_coordinates(x, rng=np.random.default_rng(0))[:, 0]
    assert abs(np.corrcoef(np.argsort(np.argsort(first)), np.arange(400))[0, 1]) > 0.99


def test_landmarks_place_the_rest(monkeypatch):
    x = np.random.default_rng(0).normal(size=(300, 3)) * [4, 2, 1]
    whole = graph_coordinates(x, rng=np.random.default_rng(0))
    monkeypatch.setattr("invarot.cells.graph.LANDMARKS", 100)
    some = graph_coordinates(x, rng=np.random.default_rng(0))
    assert abs(np.corrcoef(whole[:, 0], some[:, 0])[0, 1]) > 0.99


def test_clusters_without_a_path_are_apart():
    rng = np.random.default_rng(0)
    x = np.vstack([rng.normal(size=(60, 2)), 100 + rng.normal(size=(60, 2))])
    first = graph_coordinates(x, rng=rng)[:, 0]
    assert max(first[:60].max(), first[60:].max()) > 0 > min(first[:60].min(), first[60:].min())
    assert (first[:60].mean() > 0) != (first[60:].mean() > 0)


def test_nearest_cells_are_those_of_a_full_table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 3))
    far = np.linalg.norm(x[:, None] - x[None], axis=2)
    np.fill_diagonal(far, np.inf)
    found, distances = nearest_cells(x, x, 4, itself=True)
    assert np.array_equal(found, np.argsort(far, axis=1)[:, :4])
    assert np.allclose(distances, np.sort(far, axis=1)[:, :4])
