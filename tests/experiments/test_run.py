"""The machinery of experiments: resuming, what is written, and that each can say no."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from invarot import InputError, MissingExtra
from invarot.experiments import NAMES, Context, find, reproduce
from invarot.experiments.findings import Finding
from invarot.experiments.finished import append_finished, read_finished
from invarot.experiments.provenance import describe_commit, describe_machine
from invarot.experiments.run import Cell, Experiment, run_cells

pytest.importorskip("matplotlib")


def make(log, fail_at=None):
    def work(name):
        if name == fail_at:
            raise KeyboardInterrupt
        log.append(name)
        return [{"cell": name, "value": len(name)}]

    def cells(context):
        return [Cell(name, lambda name=name: work(name)) for name in ("a", "bb", "ccc")]

    def judge(rows):
        return [Finding("it works", f"{len(rows)} cells", "confirmed")]

    def draw(rows, pyplot):
        figure, axis = pyplot.subplots()
        axis.plot([row["value"] for row in rows])
        return figure

    return Experiment("toy", "that it works", cells, draw, judge)


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    log, told = [], []
    context = Context(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        reproduce(make(log, fail_at="ccc"), context, tell=told.append)
    assert log == ["a", "bb"]
    assert not (tmp_path / "figure.png").exists()
    assert reproduce(make(log), context, tell=told.append) == [Finding("it works", "3 cells", "confirmed")]
    assert log == ["a", "bb", "ccc"]
    assert told[-1] == "toy 3/3 · ccc"


KILLED = """
import os, signal, sys
from pathlib import Path
from invarot.experiments.run import Cell, Context, Experiment, run_cells

def work(name):
    if name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
    return [{"cell": name, "process": os.getpid()}]

cells = [Cell(name, lambda name=name: work(name)) for name in ("a", "bb", "ccc")]
run_cells(Experiment("toy", "", lambda context: cells, None, None), Context(Path(sys.argv[1])))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed in another way here")
def test_a_killed_process_loses_only_the_cell_it_was_in(tmp_path):
    def run(victim):
        return subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), victim], capture_output=True, check=False)

    assert run("ccc").returncode == -signal.SIGKILL
    kept = (tmp_path / "cells.jsonl").read_text().splitlines()
    assert [json.loads(line)["name"] for line in kept[1:]] == ["a", "bb"]
    again = run("none")
    assert (again.returncode, again.stderr.decode().split()) == (0, ["toy", "3/3", "·", "ccc"])
    lines = (tmp_path / "cells.jsonl").read_text().splitlines()
    assert lines[:3] == kept
    assert json.loads(lines[3])["name"] == "ccc"


def test_two_runs_in_one_folder_keep_the_cells_of_both(tmp_path):
    log = []
    first, second = make(log), make(log)
    cells = list(first.cells(None))

    def both(context):
        """While the first cell of one run is at work, another run does the second one, and ends."""

        def work():
            run_cells(second, Context(tmp_path, only=("bb",)), tell=log.append)
            return cells[0].work()

        return [Cell("a", work), *cells[1:]]

    _, found = run_cells(replace(first, cells=both), Context(tmp_path, only=("a",)), tell=log.append)
    assert [one["name"] for one in found] == ["a", "bb"]
    lines = (tmp_path / "cells.jsonl").read_text().splitlines()
    assert [json.loads(line)["name"] for line in lines[1:]] == ["a", "bb"]


def test_a_line_cut_short_spoils_no_other(tmp_path):
    log = []
    store = tmp_path / "cells.jsonl"
    run_cells(make(log), Context(tmp_path, only=("a",)), tell=log.append)
    with store.open("a") as stream:
        stream.write('{"name": "b')  # by a program that is killed here
    append_finished(store, {"name": "ccc", "seconds": 0, "rows": []})
    assert list(read_finished(store, Context(tmp_path).identity())) == ["a", "ccc"]


def test_a_line_cut_short_is_done_again(tmp_path):
    log = []
    reproduce(make(log), Context(tmp_path), tell=log.append)
    store = tmp_path / "cells.jsonl"
    store.write_text(store.read_text()[:-9])
    again = []
    reproduce(make(again), Context(tmp_path), tell=lambda line: None)
    assert again == ["ccc"]


@pytest.mark.parametrize("other", [{"seed": 1}, {"quick": True}])
def test_cells_of_other_options_are_not_replaced(tmp_path, other):
    log = []
    reproduce(make(log), Context(tmp_path), tell=lambda line: None)
    before = (tmp_path / "cells.jsonl").read_bytes()
    with pytest.raises(
        InputError, match=r"--out: expected a new folder, or cells of .*got .*cells\.jsonl with 3 cells of"
    ):
        reproduce(make(log), Context(tmp_path, **other), tell=lambda line: None)
    assert (tmp_path / "cells.jsonl").read_bytes() == before
    reproduce(make(log), Context(tmp_path / "other", **other), tell=lambda line: None)
    assert len(log) == 6


def test_redraw_runs_nothing(tmp_path):
    log = []
    reproduce(make(log), Context(tmp_path, only=("bb",), command="the first"), tell=lambda line: None)
    found = reproduce(make(log), Context(tmp_path, redraw=True, command="the second"), tell=lambda line: None)
    assert (log, found[0].evidence) == (["bb"], "1 cells")
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert (manifest["command"], manifest["cells_by_command"]) == ("the second", {"the first": 1})
    with pytest.raises(InputError, match="--redraw: expected stored cells"):
        reproduce(make(log), Context(tmp_path / "new", redraw=True), tell=lambda line: None)


def test_only_some_cells(tmp_path):
    log, told = [], []
    found = reproduce(make(log), Context(tmp_path, only=("bb", "cc")), tell=told.append)
    assert log == ["bb", "ccc"]
    assert found[0].evidence == "2 cells"
    assert told[-1] == "toy: 1 of 3 cells were not run"
    assert json.loads((tmp_path / "manifest.json").read_text())["cells_not_run"] == 1
    assert reproduce(make(log), Context(tmp_path), tell=lambda line: None)[0].evidence == "3 cells"
    with pytest.raises(InputError, match="--only"):
        reproduce(make(log), Context(tmp_path / "new", only=("zzz",)), tell=lambda line: None)


def test_a_cell_without_rows_is_left_to_a_later_run(tmp_path):
    missing = replace(
        make([]), cells=lambda context: [Cell("a", lambda: [{"cell": "a", "value": 1}]), Cell("bb", list)]
    )
    told = []
    reproduce(missing, Context(tmp_path), tell=told.append)
    assert told[-1] == "toy: 1 of 2 cells were not run"
    log = []
    reproduce(make(log), Context(tmp_path), tell=lambda line: None)
    assert log == ["bb", "ccc"]


def test_what_is_written(tmp_path):
    reproduce(make([]), Context(tmp_path, seed=3, command="invarot reproduce toy"), tell=lambda line: None)
    with (tmp_path / "data.csv").open() as stream:
        assert list(csv.DictReader(stream)) == [
            {"cell": "a", "value": "1"},
            {"cell": "bb", "value": "2"},
            {"cell": "ccc", "value": "3"},
        ]
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["command"] == "invarot reproduce toy"
    assert manifest["seed"] == 3
    assert manifest["findings"] == [{"claim": "it works", "evidence": "3 cells", "verdict": "confirmed"}]
    assert manifest["commit"] == describe_commit()
    assert manifest["versions"]["numpy"] == np.__version__
    assert manifest["seconds_of_work"] <= manifest["seconds_of_this_run"] < 60
    assert manifest["cells_by_machine"] == {describe_machine(): 3}
    assert manifest["cells_by_commit"] == {describe_commit(): 3}
    assert (tmp_path / "figure.png").stat().st_size > 1000
    assert "<svg" in (tmp_path / "figure.svg").read_text()


def test_a_summary_where_there_is_one(tmp_path):
    experiment = replace(make([]), summarise=lambda rows: [{"sum": sum(row["value"] for row in rows)}])
    reproduce(experiment, Context(tmp_path), tell=lambda line: None)
    assert (tmp_path / "summary.csv").read_text() == "sum\n6\n"


def test_cells_of_another_machine_say_so(tmp_path):
    reproduce(make([]), Context(tmp_path), tell=lambda line: None)
    store = tmp_path / "cells.jsonl"
    lines = store.read_text().splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), "machine": "elsewhere", "commit": "abc1234"})
    store.write_text("\n".join(lines) + "\n")
    reproduce(make([]), Context(tmp_path), tell=lambda line: None)
    with (tmp_path / "data.csv").open() as stream:
        assert [row["machine"] for row in csv.DictReader(stream)] == [
            describe_machine(),
            "elsewhere",
            describe_machine(),
        ]
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["cells_by_machine"] == {describe_machine(): 2, "elsewhere": 1}
    assert manifest["cells_by_commit"] == {describe_commit(): 2, "abc1234": 1}


def test_without_matplotlib_nothing_is_started(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    log = []
    with pytest.raises(MissingExtra, match="invarot\\[report\\]"):
        reproduce(make(log), Context(tmp_path), tell=lambda line: None)
    assert log == []


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_an_experiment(name, tmp_path):
    found = find(name)
    assert found.name == name
    assert found.claim
    cells = found.cells(Context(tmp_path, quick=True))
    assert len({cell.name for cell in cells}) == len(cells) > 0


def test_unknown_name():
    with pytest.raises(InputError, match="did you mean 'noise'"):
        find("noize")


@pytest.mark.parametrize("name", ["schatten", "matchings"])
def test_quick_runs(name, tmp_path):
    found = reproduce(find(name), Context(tmp_path, quick=True), tell=lambda line: None)
    assert {one.verdict for one in found} == {"confirmed"}
