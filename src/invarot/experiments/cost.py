"""What each system of the translation table costs: every run alone on a quiet machine, on one core or on one GPU."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Array, on_cuda, place, to_numpy
from ..errors import InputError, MissingExtra
from .findings import Finding, Interval, both, estimate, is_above, pair_up
from .run import Cell, Context, Experiment, Row
from .style import dot_rows, footnote, typeset
from .systems import SYSTEMS, Job, Sizes
from .tasks import Task, find_tasks
from .words import RIVALS

OURS = "l_∞-InvarOT"
FRACTION = 2.0  # times: "a fraction of the cost" is less than half of it
DEVICES = {"cpu": "one core", "cuda": "one GPU"}
GAMES = "adversarial"  # at the original's size only on a GPU


def cells(context: Context) -> Sequence[Cell]:
    return [
        Cell(f"{task.name}, {system}, {device}", partial(measure, task, system, device, context))
        for task in find_tasks(context)[: 1 if context.quick else None]
        for system in SYSTEMS
        for device in DEVICES
        if system != "Procrustes" and (system, device) != (GAMES, "cpu")
    ]


def measure(task: Task, system: str, device: str, context: Context) -> list[Row]:
    """Run one system once, rows in order: one row, or one per stage. None without the device, or what the system needs."""
    pair = task.load()
    try:
        x, y = (place(np.ascontiguousarray(side), device) for side in (pair.x, pair.y))
    except (InputError, MissingExtra):
        return []  # another machine has one
    sizes = Sizes.of(context.quick, len(pair.x), cuda=on_cuda(x))
    load, cores = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan, _count_cores()
    shared: Row = {"pair": task.name, "words": len(pair.x), "device": device, "load": round(load, 1), "cores": cores}
    rows: list[Row] = []
    begun, worked, seconds, processor = time.perf_counter(), time.process_time(), 0.0, 0.0
    try:
        for name, maps in SYSTEMS[system](Job(x, y, np.asarray(pair.train, dtype=np.int64), 0, sizes)):
            _wait(maps[0])
            seconds += time.perf_counter() - begun
            processor += time.process_time() - worked
            rows.append({**shared, "system": name, "seconds": round(seconds, 3), "cpu_seconds": round(processor, 3)})
            begun, worked = time.perf_counter(), time.process_time()
    except MissingExtra:
        return []
    return rows


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _wait(result: Array) -> None:
    """Wait until a GPU has computed ``result``."""
    to_numpy(result[:1])


def is_quiet(row: Row) -> bool:
    """Return whether the run had the device to itself: a core of its own, and all of its seconds on it."""
    if not row["load"] < row["cores"]:
        return False
    return row["device"] != "cpu" or 0.95 <= row["cpu_seconds"] / max(row["seconds"], 1e-9) <= 1.05


def compare(rows: list[Row], rival: str, device: str) -> Interval:
    """Return how many times as long a rival takes as ours, as a logarithm to base 2, over directions."""
    some = [row | {"log": math.log2(max(row["seconds"], 1e-3))} for row in rows if row["device"] == device]
    return estimate(pair_up(some, lambda row: row["pair"], "log", of={"system": rival}, less={"system": OURS}))


def judge(rows: list[Row]) -> list[Finding]:
    found = []
    quiet = [row for row in rows if is_quiet(row)]
    for device, name in DEVICES.items():
        if not any(row["device"] == device for row in rows):
            continue
        rivals = [rival for rival in RIVALS if device != "cpu" or not rival.startswith(GAMES)]
        ratios = {rival: compare(quiet, rival, device) for rival in rivals}
        text = "; ".join(f"{rival} {_show(one)}" for rival, one in ratios.items())
        others = "" if device != "cpu" else " but adversarial training, which needs a GPU"
        runs = [row for row in rows if row["device"] == device]
        kept = sum(row["device"] == device for row in quiet)
        found.append(Finding(
            f"a fraction of the cost (less than half) of every rival{others} [{name}]",
            f"times of ours: {text}; {kept} of {len(runs)} runs on a quiet machine",
            both(*(is_above(one, math.log2(FRACTION)) for one in ratios.values())),
        ))  # fmt: skip
    return found


def _show(ratio: Interval) -> str:
    if not ratio.count:
        return "not run"
    if not math.isfinite(ratio.low):
        return f"{2**ratio.mean:.2g}"
    return f"{2**ratio.mean:.2g} [{2**ratio.low:.2g}, {2**ratio.high:.2g}]"


def summary(rows: list[Row]) -> list[Row]:
    """Return one line per system and device: the mean of its quiet runs over directions."""
    found = []
    for system, device in dict.fromkeys((row["system"], row["device"]) for row in rows):
        some = [row["seconds"] for row in rows if (row["system"], row["device"]) == (system, device) and is_quiet(row)]
        line: Row = {"system": system, "device": device, "runs": len(some)}
        if some:
            line |= {"seconds": round(float(np.mean(some)), 2), "least": min(some), "most": max(some)}
        found.append(line)
    return found


def draw(rows: list[Row], pyplot: Any) -> Any:
    names = list(dict.fromkeys(row["system"] for row in rows))
    figure, axis = pyplot.subplots(figsize=(6.4, 0.38 * len(names) + 1.2))
    series = {
        DEVICES[device]: {
            name: estimate(math.log10(max(row["seconds"], 1e-3)) for row in rows
                           if (row["system"], row["device"]) == (name, device))
            for name in names
        }
        for device in DEVICES if any(row["device"] == device for row in rows)
    }  # fmt: skip
    dot_rows(axis, [typeset(name) for name in names], series)
    axis.xaxis.set_major_formatter(lambda value, _: f"{10**value:g}" if abs(value - round(value)) < 1e-6 else "")
    axis.set_xlabel("seconds (logarithmic)")
    axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
    footnote(
        figure,
        "Mean over directions and its 95 % interval, of all runs that are stored; the verdict counts the quiet ones.",
    )
    figure.tight_layout()
    return figure


EXPERIMENT = Experiment(
    "cost", "Accuracy on a par with the state of the art at a fraction of the computational cost.", cells, draw, judge,
    summarise=summary,
)  # fmt: skip
