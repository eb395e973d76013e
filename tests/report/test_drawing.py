from __future__ import annotations

import math

import numpy as np
import pytest

from invarot.report.dynamics import find_runs
from invarot.report.figures import StageLine, line_chart, log_ticks, nice_ticks, probability_scale
from invarot.report.markup import element, number, percent, shorten, text
from invarot.report.scatter import Room, fit_to_panel, pairs_picture, text_width
from invarot.report.spaces import principal_plane, project, sample_rows, variance_share


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.12345, "0.123"), (-2.0, "−2"), (3128.0, "3,128"), (12345, "12,345"), (math.nan, "–"), (math.inf, "∞"),
     ("auto", "auto"), (True, "True"), (1e-7, "1e−07")],
)  # fmt: skip
def test_numbers(value, shown):
    assert number(value) == shown


def test_text():
    assert text('<a href="x">&\'') == "&lt;a href=&quot;x&quot;&gt;&amp;&#x27;"
    assert text("a\u2029b\tc\x07d\udfffe\u200d") == "a b c\ufffdd\ufffde\u200d"
    assert element("p", "x", class_='a"b', aria_label=None, data_key=1) == '<p class="a&quot;b" data-key="1">x</p>'
    assert (shorten("abcdef", 4), shorten("abcd", 4)) == ("abc…", "abcd")
    assert (percent(0.416), percent(-0.05, 1), percent(math.nan)) == ("42 %", "−5.0 %", "not known")


def test_ticks():
    assert nice_ticks(0.14, 0.66) == pytest.approx([0.2, 0.4, 0.6])
    assert nice_ticks(3.0, 3.0) == [3.0]
    assert log_ticks(0.001, 1.0) == pytest.approx([0.001, 0.01, 0.1, 1.0])
    assert log_ticks(0.018, 0.11) == pytest.approx([0.02, 0.05, 0.1])
    assert len(log_ticks(1e-30, 1.0)) <= 6


def corners(chart):
    return [
        [tuple(map(float, corner.split(","))) for corner in part.partition('"')[0].split()]
        for part in chart.split('points="')[1:]
    ]


def test_a_line_follows_its_values():
    chart = line_chart(
        "c",
        [1.0, math.nan, 3.0, 2.0, 10.0],
        title="t",
        description="d",
        runs=[StageLine("a", 0, 3, True), StageLine("b", 3, 5)],
    )
    first, second = corners(chart)
    assert len(first) == len(second) == 2  # the missing value is no corner
    heights = [y for _, y in first + second]
    assert heights[0] > heights[2] > heights[1] > heights[3]
    across = [x for x, _ in first + second]
    assert np.allclose(np.diff(across), np.array([2, 1, 1]) * (across[1] - across[0]) / 2, atol=0.15)


def test_a_log_axis_is_even_in_ratios_and_leaves_out_zero():
    chart = line_chart("c", [1.0, 0.1, 0.01, 0.0], title="t", description="d", log=True)
    ((_, a), (_, b), (_, c)) = corners(chart)[0]
    assert b - a == pytest.approx(c - b, abs=0.2)


@pytest.mark.parametrize("values", [[], [0.5], [math.nan], [2.0, 2.0]])
def test_charts_of_next_to_nothing(values):
    assert "nan" not in line_chart("c", values, title="t", description="d", log=bool(values))


def test_the_mark_lies_in_its_zone():
    def mark(value):
        drawn = probability_scale("p", value, (0.3, 0.9), title="t", description="d")
        return float(drawn.partition('class="mark" d="M')[2].split()[0])

    assert mark(0) < mark(0.5) < mark(0.95) < mark(1) == mark(1.2)


def test_runs_begin_where_stage_or_count_does():
    stages = (
        ("solve 9, race", 0),
        ("solve 9, race", 1),
        ("solve 9, race", 0),
        ("solve 9", 0),
        ("solve 9", 1),
        ("x, y", 0),
    )
    steps = [{"stage": stage, "step": number} for stage, number in stages]
    found = [(run.label, run.start, run.stop, run.search) for run in find_runs(steps)]
    assert found == [("search", 0, 2, True), ("search", 2, 3, True), ("solve 9", 3, 5, False), ("y", 5, 6, False)]
    assert find_runs([]) == []


def test_labels_keep_out_of_each_other_and_inside():
    room, rng = Room(300, 200), np.random.default_rng(0)
    placed = 0
    for x, y in rng.uniform(0, 1, (80, 2)) * (300, 200):
        if found := room.find("parliament", x, y, "source"):
            assert room.free(found[1])
            room.taken.append(found[1])
            placed += 1
    assert 8 < placed < 80
    for i, a in enumerate(room.taken):
        assert a[0] >= 0 and a[1] >= 0 and a[2] <= 300 and a[3] <= 200  # noqa: PT018
        assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in room.taken[:i])
    assert text_width("語") > text_width("a")


def test_pairs_are_labelled_by_frequency_and_joined():
    points = np.array([[0.0, 0.0], [1.0, 1.0], [0.001, 0.001]]), np.array([[0.1, 0.0], [0.9, 1.0], [0.101, 0.001]])
    drawn, labelled = pairs_picture("p", points, [("one", "uno"), ("two", "dos"), ("three", "tres")], size=(400, 300),
                                    labels=9, title="t", description="d")  # fmt: skip
    assert labelled == [0, 1]  # the third has no room beside the first
    assert drawn.count('<g class="pair') == 3
    assert "three → tres" in drawn


def test_fit_fills_the_panel_and_points_up():
    placed = fit_to_panel(np.array([[0.0, 5.0], [2.0, 5.0], [1.0, 5.0]]), (100, 60))
    assert placed[:, 0].tolist() == [14, 86, 50]
    assert placed[:, 1].tolist() == [30, 30, 30]
    assert fit_to_panel(np.array([[0.0, 0.0], [0.0, 1.0]]), (100, 60))[:, 1].tolist() == [46, 14]


def test_the_plane_holds_the_largest_directions():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((500, 5)) * (0.1, 3, 0.1, 0.1, 2) + 7
    plane = principal_plane(x)
    assert np.allclose(np.abs(plane[[1, 4]]), np.eye(2), atol=0.1)
    assert np.allclose(plane.T @ plane, np.eye(2))
    assert variance_share(x, plane) == pytest.approx(13 / 13.03, abs=0.01)


def test_projected_pairs_coincide_when_the_spaces_do():
    x = np.random.default_rng(0).standard_normal((60, 5))
    turned = x @ np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))[0]
    spaces = project([("a", "b")] * 60, (x, turned), (x, 3 * x))
    assert np.allclose(*spaces.after)
    assert spaces.shares[0] == pytest.approx(spaces.shares[1])  # a rotation moves no variance
    assert np.allclose(np.abs(spaces.before[0]), np.abs(spaces.before[1]))  # and only signs are left to chance


def test_the_drawn_words_are_frequent_but_not_the_most_frequent():
    words = [f"w{'abcdefghij'[i % 10]}{'abcdefghij'[i // 10 % 10]}{'abcdefghij'[i // 100]}" for i in range(1000)]
    words[1] = "1997"
    assert sample_rows(words[:50]).tolist() == list(range(5, 50))
    assert sample_rows(words).tolist() == list(range(100, 240))
    assert sample_rows(["1", "2", "3"]).tolist() == [0, 1, 2]  # no words at all: identifiers
