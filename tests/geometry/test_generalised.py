"""Generalised Procrustes: known turns, two spaces as one polar factor, any order, missing pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from invarot.geometry.generalised import generalised_procrustes
from invarot.geometry.orthogonal import polar


def turned(count, d, rng, noise=0.0):
    """Spaces that are turns of one cloud, the moments of all pairs, and the turns."""
    base = rng.gamma(2.0, size=(200, d)) * np.linspace(2.0, 0.5, d)
    turns = [np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(count)]
    clouds = [base @ turn + noise * rng.standard_normal(base.shape) for turn in turns]
    moments = {(i, j): clouds[i].T @ clouds[j] / 200 for i, j in combinations(range(count), 2)}
    return clouds, moments, turns


def test_known_turns_are_found(lib):
    _, moments, turns = turned(4, 5, np.random.default_rng(0))
    maps = generalised_procrustes({k: lib.array(m) for k, m in moments.items()}, [5] * 4)
    maps = [lib.numpy(one) for one in maps]
    for i, j in combinations(range(4), 2):
        np.testing.assert_allclose(maps[i] @ maps[j].T, turns[i].T @ turns[j], atol=1e-8)


def test_two_spaces_are_one_polar_factor():
    _, moments, _ = turned(2, 4, np.random.default_rng(1), noise=0.5)
    left, right = generalised_procrustes(moments, (4, 4))
    np.testing.assert_allclose(left @ right.T, polar(moments[0, 1]), atol=1e-6)


def test_the_order_of_spaces_does_not_matter():
    clouds, moments, _ = turned(3, 4, np.random.default_rng(2), noise=1.0)
    order = [2, 0, 1]
    shuffled = {(i, j): clouds[order[i]].T @ clouds[order[j]] / 200 for i, j in combinations(range(3), 2)}
    maps = generalised_procrustes(moments, [4] * 3)
    other = generalised_procrustes(shuffled, [4] * 3)
    np.testing.assert_allclose(other[0] @ other[1].T, maps[2] @ maps[0].T, atol=1e-4)


def test_no_pair_of_maps_scores_higher_together():
    """The joint objective is at least that of maps composed through any one space."""
    _, moments, _ = turned(4, 5, np.random.default_rng(3), noise=2.0)
    maps = generalised_procrustes(moments, [5] * 4)

    def score(found):
        return sum(float(np.sum(m * (found[i] @ found[j].T))) for (i, j), m in moments.items())

    for pivot in range(4):
        through = [
            np.eye(5) if k == pivot else polar(moments[k, pivot] if k < pivot else moments[pivot, k].T)
            for k in range(4)
        ]
        assert score(maps) >= score(through) - 1e-9


def test_a_missing_pair_follows_from_the_others():
    _, moments, turns = turned(3, 4, np.random.default_rng(4))
    del moments[0, 2]
    maps = generalised_procrustes(moments, [4] * 3)
    np.testing.assert_allclose(maps[0] @ maps[2].T, turns[0].T @ turns[2], atol=1e-6)


@pytest.mark.parametrize("sizes", [(3, 5), (5, 3, 4)])
def test_spaces_of_different_dimension_are_embedded(sizes):
    rng = np.random.default_rng(5)
    base = rng.gamma(2.0, size=(100, max(sizes)))
    clouds = [base[:, :d] for d in sizes]
    moments = {(i, j): clouds[i].T @ clouds[j] / 100 for i, j in combinations(range(len(sizes)), 2)}
    for d, one in zip(sizes, generalised_procrustes(moments, sizes), strict=True):
        assert one.shape == (d, max(sizes))
        np.testing.assert_allclose(one @ one.T, np.eye(d), atol=1e-8)
