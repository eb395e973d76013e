"""The page of any alignment, and its card in a notebook."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import invarot
from invarot.errors import InputError
from invarot.report.views import nearest_few

from .page_check import read_page

RNG = np.random.default_rng(0)
X = RNG.gamma(2.0, size=(80, 3))
TURN = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
ORDER = RNG.permutation(80)
Y = (X @ TURN)[ORDER]


@pytest.fixture(scope="module")
def result():
    return invarot.align(X, Y)


def points(page):
    tree, problems = read_page(page)
    assert problems == []
    return json.loads(next(node for node in tree.all("script") if node.get("id") == "points").text)


def written(result, folder, **options):
    result.report(folder / "page.html", **options)
    return (folder / "page.html").read_text(encoding="utf-8")


def test_every_point_is_there_with_its_match(result, tmp_path):
    page = written(result, tmp_path)
    tree, _ = read_page(page)
    assert [node.get("id") for node in tree.all("section")] == [
        "verdict",
        "explorer",
        "evidence",
        "dynamics",
        "settings",
    ]
    assert "<title>Aligned: Alignment of two clouds" in page
    assert "80 × 80 points, 3 and 3 dimensions" in page
    data = points(page)
    assert data["names"][0][:2] == ["x 0", "x 1"]
    assert data["names"][1][-1] == "y 79"
    np.testing.assert_array_equal(ORDER[data["matches"][:: data["k"]]], np.arange(80))
    assert max(data["scores"][:: data["k"]]) < 1e-2
    assert data["loose"] == [[], []]


def test_names_are_shown_and_checked(result, tmp_path):
    names = [f"left {i}" for i in range(80)], [f"<right {i}>" for i in range(80)]
    page = written(result, tmp_path, names=names)
    assert points(page)["names"] == [*map(list, names)]
    assert "<right" not in page
    with pytest.raises(InputError, match=r"names: expected 80 and 80 names, one per row, got \[80, 3\]"):
        result.report(tmp_path / "other.html", names=(names[0], names[1][:3]))
    with pytest.raises(InputError, match=r"page\.html"):
        result.report(tmp_path / "page.html", overwrite=False)


def test_points_without_a_counterpart_are_listed(tmp_path):
    cloud = RNG.gamma(2.0, size=(200, 3))
    found = invarot.align(cloud, (cloud @ TURN)[:130] + 1.0, translate=True, overlap="auto")
    data = points(written(found, tmp_path))
    np.testing.assert_array_equal(data["loose"][0], np.flatnonzero(np.asarray(found.matched_x) < 0.5))
    assert set(range(130, 200)) & set(data["loose"][0])


def test_a_loaded_alignment_has_a_page_too(result, tmp_path):
    result.save(tmp_path / "model")
    page = written(invarot.load(tmp_path / "model"), tmp_path)
    np.testing.assert_array_equal(ORDER[points(page)["matches"][::5]], np.arange(80))


def test_the_nearest_few_are_the_nearest_few():
    moved, target = RNG.normal(size=(30, 4)), RNG.normal(size=(50, 4))
    far = np.linalg.norm(moved[:, None] - target, axis=2)
    found, distance = nearest_few(moved, target, 5)
    np.testing.assert_array_equal(found, np.argsort(far, axis=1)[:, :5])
    np.testing.assert_allclose(distance, np.sort(far, axis=1)[:, :5], atol=1e-9)


def test_the_card_of_a_notebook(result):
    card = result._repr_html_()
    assert "Aligned" in card
    assert "80 × 80" in card
    assert len(re.findall("<circle", card)) == 160  # both panels
    assert "<script" not in card
    assert all(reason.split(":")[0][:20] in card for reason in result.verdict.reasons)
