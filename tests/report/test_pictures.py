"""Pictures of alignments: what is drawn where."""

from __future__ import annotations

import numpy as np
import pytest

import invarot
from invarot.errors import InputError
from invarot.report.views import choose_targets, spread_rows, view_alignment

plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed: pip install 'invarot[report]'")
RNG = np.random.default_rng(0)
X = RNG.gamma(2.0, size=(90, 2))
Y = X[::-1] @ [[0.0, 1.0], [-1.0, 0.0]]


@pytest.fixture(scope="module")
def result():
    return invarot.align(X, Y)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def offsets(panel):
    return [np.asarray(one.get_offsets()) for one in panel.collections]


def test_before_and_after_show_the_points_themselves(result):
    before, after = result.plot().axes
    np.testing.assert_allclose(offsets(before)[0], X)
    np.testing.assert_allclose(offsets(before)[1], Y)
    np.testing.assert_allclose(offsets(after)[0], Y[::-1], atol=1e-2)
    assert len(after.lines) == 90  # matches


def test_points_and_lines_are_bounded(result):
    before, after = result.plot(points=30, lines=7).axes
    assert [len(one) for one in offsets(before)] == [30, 30]
    assert len(after.lines) == 7
    assert not result.plot(lines=0).axes[1].lines


def test_points_without_a_counterpart_are_hollow():
    cloud = RNG.gamma(2.0, size=(200, 2))
    found = invarot.align(cloud, cloud[:130] @ [[0.0, 1.0], [-1.0, 0.0]], translate=True, overlap="auto")
    panel = found.plot().axes[1]
    assert len(panel.collections) >= 3
    hollow = panel.collections[1]
    assert len(hollow.get_facecolors()) == 0
    assert len(hollow.get_offsets()) == int((np.asarray(found.matched_x) < 0.5).sum())


def test_two_or_three_axes():
    cloud = RNG.gamma(2.0, size=(60, 3))
    found = invarot.align(cloud, cloud[:, ::-1])
    assert found.plot().axes[0].name == "3d"
    assert found.plot(axes=2).axes[0].name == "rectilinear"
    with pytest.raises(InputError, match="axes: expected 2, 3 or None, got 4"):
        found.plot(axes=4)


def test_matches_are_joined_to_the_right_target(result):
    view = view_alignment(result, axes=2, points=20)
    np.testing.assert_array_equal(view.rows[1][view.match], result.matches()[view.rows[0]])


def test_rows_are_chosen_evenly():
    np.testing.assert_array_equal(spread_rows(10, 5), [0, 2, 4, 6, 8])
    np.testing.assert_array_equal(choose_targets(np.array([3, 7]), 10, 4), [0, 3, 5, 7])


def test_the_history_has_four_panels(result):
    panels = result.history.plot().axes
    assert [panel.get_title(loc="left") for panel in panels][:2] == ["objective", "epsilon"]
    np.testing.assert_allclose(panels[1].lines[0].get_ydata(), result.history["epsilon"])
