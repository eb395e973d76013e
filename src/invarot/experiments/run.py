"""Shared code of all experiments: cells that are run once, a table, a figure, a manifest, verdicts."""

from __future__ import annotations

import csv
import io
import json
import platform
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from ..errors import InputError, NotConverged
from ..files import write_file
from .findings import Finding
from .finished import append_finished, merge_finished
from .provenance import describe_commit, describe_machine, versions

Row = dict[str, Any]
Teller = Callable[[str], object]
UNKNOWN = "not recorded"  # for cells of an earlier version


@dataclass(frozen=True)
class Cell:
    """A named piece of work; its rows are stored as soon as it is done."""

    name: str
    work: Callable[[], Sequence[Row]]


@dataclass(frozen=True)
class Context:
    """The options of a call; cells are reused only with the same ``seed``, ``quick`` and data."""

    out: Path
    quick: bool = False
    seed: int = 0
    data: Path | None = None
    muse: Path | None = None
    command: str = ""
    only: tuple[str, ...] = ()  # run only cells whose name contains one of these
    redraw: bool = False  # run none: draw and judge what is stored

    def asks(self, cell: Cell) -> bool:
        return not self.redraw and (not self.only or any(part in cell.name for part in self.only))

    def identity(self) -> dict[str, Any]:
        where = {"data": self.data, "muse": self.muse}
        return {"quick": self.quick, "seed": self.seed, **{key: str(value or "") for key, value in where.items()}}


@dataclass(frozen=True)
class Experiment:
    """One figure or table: its cells, how to draw it, and how to judge its claims."""

    name: str
    claim: str  # the claim of the paper
    cells: Callable[[Context], Sequence[Cell]]
    draw: Callable[[list[Row], Any], Any]  # rows and pyplot to a figure
    judge: Callable[[list[Row]], list[Finding]]  # the claims, each with its evidence and verdict
    notes: dict[str, str] = field(default_factory=dict)
    summarise: Callable[[list[Row]], list[Row]] | None = None  # means over seeds, for summary.csv


def reproduce(experiment: Experiment, context: Context, *, tell: Teller | None = None) -> list[Finding]:
    """Run the cells that are not done yet, write everything to ``context.out``, and return the findings.

    Writes ``data.csv`` (and ``summary.csv`` if the experiment has one), ``figure.png``, ``figure.svg`` and
    ``manifest.json``; a stopped run resumes from ``cells.jsonl`` (unless the seed, the size or the data differ).
    """
    from .style import load_pyplot

    pyplot = load_pyplot()  # before any work, so that a missing extra fails early
    tell = tell or _tell
    begun = time.perf_counter()
    todo, finished = run_cells(experiment, context, tell=tell)
    machines, commits, commands = (
        dict(Counter(cell.get(key, UNKNOWN) for cell in finished)) for key in ("machine", "commit", "command")
    )
    rows = [row for cell in finished for row in cell["rows"]]
    if not rows:
        raise InputError(
            f"--redraw: expected stored cells in {context.out}, got none; leave it out to run them" if context.redraw else
            f"--only: expected part of the name of a cell of {experiment.name}, such as {todo[0].name!r}, got no match"
        )  # fmt: skip
    if len(machines) > 1:  # record the machine in each row if there are several
        written = [{**row, "machine": cell.get("machine", UNKNOWN)} for cell in finished for row in cell["rows"]]
    write_csv(context.out / "data.csv", written if len(machines) > 1 else rows)
    if experiment.summarise is not None:
        write_csv(context.out / "summary.csv", experiment.summarise(rows))
    figure = experiment.draw(rows, pyplot)
    for kind in ("png", "svg"):
        # no date and no random ids: same data, same bytes
        figure.savefig(context.out / f"figure.{kind}", metadata={"Date": None} if kind == "svg" else None)
    pyplot.close(figure)
    findings = experiment.judge(rows)
    left = len(todo) - len(finished)
    if left:
        tell(f"{experiment.name}: {left} of {len(todo)} cells were not run")
    found = {
        "findings": [one.row() for one in findings],
        "cells_not_run": left,
        "seconds_of_work": round(sum(cell["seconds"] for cell in finished), 1),
        "seconds_of_this_run": round(time.perf_counter() - begun, 1),
        "cells_by_machine": machines,  # commit, versions and machine are those of the last call, which drew the figure
        "cells_by_commit": commits,
        "cells_by_command": commands,
    }
    _write_manifest(context, experiment, describe_commit(), found)
    return findings


def run_cells(
    experiment: Experiment, context: Context, *, tell: Teller | None = None
) -> tuple[list[Cell], list[dict[str, Any]]]:
    """Run the cells that are not done yet and store each in ``cells.jsonl``; return all cells, and those that are done.

    Needs no extra of its own, for machines that compute and do not draw (``benchmarks/reproduce_cells.py``).
    """
    tell = tell or _tell
    context.out.mkdir(parents=True, exist_ok=True)
    store = context.out / "cells.jsonl"
    done = merge_finished(store, context.identity())
    todo = list(experiment.cells(context))
    for number, cell in enumerate(todo, 1):
        if cell.name in done or not context.asks(cell):
            continue
        tell(f"{experiment.name} {number}/{len(todo)} · {cell.name}")
        made = run_cell(cell, context)
        if made is not None:
            done[cell.name] = made
            append_finished(store, made)
    # in order, so that data and findings do not depend on it
    finished = merge_finished(store, context.identity(), order=[cell.name for cell in todo])
    return todo, list(finished.values())


def run_cell(cell: Cell, context: Context) -> dict[str, Any] | None:
    """Run one cell; return its rows and where they come from, or None if a dependency is missing (left to a later run)."""
    start = time.perf_counter()
    # quick problems are too small for threads to help
    with threadpool_limits(limits=1 if context.quick else None), warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # a run that did not converge is a result too
        rows = [dict(row) for row in cell.work()]
    if not rows:
        return None
    seconds = round(time.perf_counter() - start, 3)
    origin = {"machine": describe_machine(), "commit": describe_commit(), "command": context.command}
    return {"name": cell.name, "seconds": seconds, **origin, "rows": rows}


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write all rows, with every column that occurs."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with write_file(path) as stream:
        stream.write(table.getvalue().encode())


def _write_manifest(context: Context, experiment: Experiment, commit: str, found: dict[str, Any]) -> None:
    manifest = {
        "experiment": experiment.name,
        "command": context.command,
        "commit": commit,
        **context.identity(),
        "claim": experiment.claim,
        **found,
        "versions": {"python": platform.python_version(), **versions()},
        "machine": f"{platform.system()} {platform.machine()}",
        "date": time.strftime("%Y-%m-%d"),
        **experiment.notes,
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    with write_file(context.out / "manifest.json") as stream:
        stream.write(text.encode())
