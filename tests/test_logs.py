"""Progress: what is logged, when, and where it is shown."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import invarot
from invarot import logs
from invarot.alignment.loop.alternate import count_left

X = np.random.default_rng(0).gamma(2.0, size=(60, 2))
Y = X[::-1] @ [[0.0, 1.0], [-1.0, 0.0]]


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(logs, "time", found)
    return found


def step(number, left=None, stage="solve"):
    return invarot.Step(number, 0.1, 0.5, 0, 0, 0, 0, 1, 0, "dense", stage, left=left)


def test_a_solve_is_logged_at_level_info(caplog):
    with caplog.at_level(logging.INFO, "invarot"):
        invarot.align(X, Y)
    assert "align: 60 × 60 points, 2 and 2 dimensions" in caplog.text
    assert "judging" in caplog.text


def test_lines_come_every_few_seconds_with_the_time_to_expect(clock, caplog):
    with caplog.at_level(logging.INFO, "invarot"), logs.run():
        watch = logs.Watch()
        for number in range(8):
            clock.now += 2.0
            watch(step(number, left=10 - number))
    told = [record.getMessage() for record in caplog.records]
    assert [text[:6] for text in told] == ["[6 s] ", "[12 s]"]
    assert told[0].endswith("solve: step 3, epsilon 0.1, objective 0.5; about 16 s more at this stage")
    assert told[1].endswith("about 10 s more at this stage")


def test_the_first_step_of_a_stage_promises_nothing(clock, caplog):
    with caplog.at_level(logging.INFO, "invarot"), logs.run():
        watch = logs.Watch()
        clock.now += 20.0  # starts are made
        watch(step(0, left=10, stage="race"))
        clock.now += 5.0
        watch(step(1, left=9, stage="race"))
    first, second = (record.getMessage() for record in caplog.records)
    assert first == "[20 s] race: step 1, epsilon 0.1, objective 0.5"
    assert second.endswith("; about 45 s more at this stage")


def test_progress_is_shown_on_standard_error_where_there_is_no_terminal(capsys):
    with invarot.show_progress():
        invarot.align(X, Y)
    assert "[0 s] align: 60 × 60 points" in capsys.readouterr().err
    invarot.align(X, Y)
    assert capsys.readouterr().err == ""
    assert logging.getLogger("invarot").handlers == [logging.getLogger("invarot").handlers[0]]


def test_lines_are_not_doubled_where_the_program_prints_them(capsys, caplog):
    with caplog.at_level(logging.INFO, "invarot"), invarot.show_progress():
        invarot.align(X, Y)
    assert capsys.readouterr().err == ""


def test_a_live_line_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with invarot.show_progress():
        invarot.align(X, Y)
    assert "judging" in capsys.readouterr().err


def test_steps_left():
    assert count_left(0.4, 0.2, 0.1) == 3  # 0.2, 0.1, and once more
    assert count_left(0.1, 0.1, 0.1) == 1
    assert count_left(0.0, 0.0, 0.0) == 1


def test_spans():
    assert [logs.format_seconds(one) for one in (0.4, 59.6, 3600 * 2.5)] == ["0 s", "1:00 min", "2:30 h"]


def test_steps_keep_no_map_and_no_count_in_the_history():
    seen = []
    result = invarot.align(X, Y, on_step=seen.append)
    assert seen[-1].left is not None
    assert not {"map", "left"} & result.history.rows()[0].keys()
