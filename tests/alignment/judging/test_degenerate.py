"""Clouds in which a map shows nothing are never aligned, by what they lack and not by what they are called."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot import Schatten
from invarot.alignment.evidence import gather_evidence
from invarot.alignment.judging.degenerate import count_ties, find_degenerate, find_flat

from ..clouds import posed, turned


def test_a_cloud_without_extent_is_named():
    x, y, _, _ = turned(20, 3)
    assert find_flat(posed(x, y)) == []
    assert find_flat(posed(0 * x, y)) == ["x"]
    for options in (
        {"translate": True},
        {"scale": True, "translate": True},
        {"maps": Schatten(whiten=True), "translate": True},
    ):
        assert find_flat(posed(x, np.full_like(y, 0.1), **options)) == ["y"], options
    assert find_flat(posed(x + 1e6, y)) == []  # far away, and a cloud still
    wide = np.random.default_rng(0).normal(size=(5, 40)) + 1e6  # fewer points than dimensions
    for points, names in ((wide, ["y"]), (np.full_like(wide, 1e6 / 3), ["x", "y"])):
        assert find_flat(posed(points, np.full_like(wide, 0.1), translate=True, restrict=True)) == names


def test_points_at_one_place_are_counted(lib):
    points = np.random.default_rng(0).standard_normal((40, 3))
    np.testing.assert_array_equal(lib.numpy(count_ties(lib.array(points), lib.array(points))), 1)
    twice = lib.array(np.repeat(points, 2, axis=0))
    np.testing.assert_array_equal(lib.numpy(count_ties(twice, twice)), 2)
    flat = lib.array(np.zeros((9, 2)))
    np.testing.assert_array_equal(lib.numpy(count_ties(flat, flat)), 9)


@pytest.mark.parametrize(("n", "m", "d"), [(42, 68, 4), (33, 30, 5), (31, 73, 6)])
def test_the_corners_of_a_cube_need_a_copy(n, m, d):
    """A cube turns onto itself in many ways: only how many points are at each corner can tell them apart."""
    rng = np.random.default_rng(7)
    x, y = (rng.integers(0, 2, size=(count, d)).astype(float) for count in (n, m))
    assert "lattice" in why(x, y, np.eye(d))
    assert why(x, x[::-1], np.eye(d)) is None
    assert invarot.align(x, y, effort="quick").verdict.word == "failed"


def test_duplicates_are_no_lattice():
    """Drawn with replacement from one cloud, the same places hold other numbers of points on the two sides."""
    rng = np.random.default_rng(3)
    x, y, w, _ = turned(60, 4)
    drawn = [side[rng.integers(60, size=80)] for side in (x, y)]
    for dtype in (np.float64, np.float32):
        assert why(*(side.astype(dtype) for side in (*drawn, w))) is None


def why(x, y, w):
    problem = posed(x, y)
    return find_degenerate(problem, w, gather_evidence(problem, w, np.random.default_rng(0)))


def test_a_line_and_a_simplex_need_a_copy():
    rng = np.random.default_rng(1)
    line, other = (np.pad(rng.gamma(2.0, size=(60, 1)), ((0, 0), (0, 2))) for _ in range(2))
    assert "on a line" in why(line, other, np.eye(3))
    assert why(line, line, np.eye(3)) is None
    corners = np.eye(20) - 1 / 20
    assert "simplex" in why(corners, corners + 0.5 * rng.standard_normal((20, 20)), np.eye(20))
    cloud = rng.standard_normal((20, 60))
    assert why(cloud, cloud, np.eye(60)) is None
    assert why(*turned(80, 5)[:3]) is None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "d"), [(17, 15), (31, 28), (62, 60)])
def test_whitened_strangers_with_few_points_per_dimension(n, d, seed):
    x, y = np.random.default_rng([n, seed]).standard_normal((2, n, d))
    assert invarot.align(x, y, p=Schatten(whiten=True), effort="quick").verdict.word == "failed"


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
@pytest.mark.parametrize("kind", ["zeros", "constant", "outlier", "two"])
@pytest.mark.parametrize("translate", [False, True])
def test_clouds_without_extent_or_with_two_places(kind, translate):
    rng = np.random.default_rng(5)
    x, y = np.zeros((38, 5)), rng.standard_normal((20, 5))
    if kind == "constant":
        x = x + rng.standard_normal(5)
    elif kind == "outlier":
        x[3] = 10.0
    elif kind == "two":
        x = rng.standard_normal((2, 5))[rng.integers(2, size=38)]
    for left, right in ((x, y), (y, x), (x, x)):
        assert invarot.align(left, right, translate=translate, effort="quick").verdict.word == "failed"
