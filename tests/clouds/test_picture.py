"""The picture of a registration."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from invarot import InputError, MissingExtra
from invarot.clouds import draw_registration, register
from invarot.clouds.picture import FAINT, SOLID, _scatter, find_view

from .pairs import moved_pair

STARTS = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.fixture(scope="module")
def pair():
    source, target, _ = moved_pair(60)
    return source, target, register(source, target, overlap=None)


@pytest.mark.parametrize("suffix", STARTS)
def test_formats(tmp_path, pair, suffix):
    path = draw_registration(tmp_path / f"p{suffix}", *pair)
    assert path.read_bytes().startswith(STARTS[suffix])
    assert [one.name for one in tmp_path.iterdir()] == [f"p{suffix}"]


def test_axes_are_the_longest_two():
    points = np.random.default_rng(0).standard_normal((500, 3)) * [1, 5, 3] + 7
    centre, axes = find_view(points)
    np.testing.assert_allclose(centre, points.mean(axis=0))
    np.testing.assert_allclose(axes, [[0, 0], [1, 0], [0, 1]], atol=0.2)


def test_points_without_a_counterpart_are_faint():
    drawn = {}

    class Panel:
        def scatter(self, *_, color, **__):
            drawn["opacity"] = color[:, 3]

    place = np.zeros((5, 2))
    _scatter(Panel(), [(place, np.array([1, 1, 0.9, 0.2, 0]), "red"), (place[:1], np.ones(1), "blue")])
    assert sorted(drawn["opacity"]) == [FAINT, FAINT, SOLID, SOLID, SOLID, SOLID]


def test_bad_names(tmp_path, pair):
    with pytest.raises(InputError, match=r"a picture \(.png, .pdf, .svg\), got .bmp"):
        draw_registration(tmp_path / "p.bmp", *pair)
    with pytest.raises(InputError, match="folder that exists"):
        draw_registration(tmp_path / "no" / "p.png", *pair)


def test_the_missing_extra_is_named(tmp_path, pair, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"invarot\[report\]"):
        draw_registration(tmp_path / "p.png", *pair)
