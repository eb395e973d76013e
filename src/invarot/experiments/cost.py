"""What each system of the translation table costs: every run alone on a quiet machine, on one core or on one GPU."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Array, on_cuda, place, to_numpy
from ..errors import InputError, MissingExtra
from .findings import CONFIRMED, OPEN, Finding, Interval, Verdict, both, estimate, is_above, pair_up
from .run import Cell, Context, Experiment, Row
from .style import dot_rows, footnote, typeset
from .systems import SYSTEMS, Job, Sizes
from .tasks import Task, find_tasks
from .words import RIVALS

OURS = "l_∞-InvarOT"
FRACTION = 2.0  # times: "a fraction of the cost" is less than half of it
DEVICES = {"cpu": "one core", "cuda": "one GPU"}
GAMES = "adversarial"  # at the original's size only on a GPU
LIMIT = 100  # seconds: a run is stopped then, and its time is a lower bound; ours is done in a tenth of it on one core


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
    load = _read_load()
    shared: Row = {"pair": task.name, "words": len(pair.x), "device": device, "load": round(load, 1),
                   "cores": os.cpu_count() or 1, "own_cores": _count_own_cores(), "probe": round(time_probe(), 4)}  # fmt: skip
    rows: list[Row] = []
    begun, worked = time.perf_counter(), time.process_time()

    def note(name: str, stopped: bool) -> None:
        spent = {"seconds": time.perf_counter() - begun, "cpu_seconds": time.process_time() - worked}
        shared["load"] = round(max(load, _read_load()), 1)  # of the machine, before and after: the higher one
        rows.append(
            {**shared, "system": name, **{key: round(value, 3) for key, value in spent.items()}, "stopped": stopped}
        )

    try:
        with time_limit(LIMIT):
            for name, maps in SYSTEMS[system](Job(x, y, np.asarray(pair.train, dtype=np.int64), 0, sizes)):
                _wait(maps[0])
                note(name, False)
    except MissingExtra:
        return []
    except TimeLimit:
        if not rows:  # of a second stage nothing is said
            note(system, True)
    return rows


class TimeLimit(Exception):
    """The time of a run is over."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimit in the block after ``seconds``; in the main thread of systems that have alarms, elsewhere never."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TimeLimit

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def time_probe(size: int = 1500, rounds: int = 3) -> float:
    """Return the least seconds of a fixed piece of work (a product, exponentials, a sum): what neighbours leave of the core."""
    a = np.random.default_rng(0).normal(size=(size, 100)).astype(np.float32)
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        np.exp(a @ (a.T / 100)).sum(axis=0)
        times.append(time.perf_counter() - begun)
    return min(times)


def _read_load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan


def _count_own_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _wait(result: Array) -> None:
    """Wait until a GPU has computed ``result``."""
    to_numpy(result[:1])


def is_quiet(row: Row) -> bool:
    """Return whether the run had the device to itself: a core was free, and all of its seconds were spent on one."""
    if not row["load"] < row["cores"]:
        return False
    return row["device"] != "cpu" or 0.95 <= row["cpu_seconds"] / max(row["seconds"], 1e-9) <= 1.05


def is_stopped(rows: list[Row], system: str, device: str) -> bool:
    """Return whether a run of the system was stopped: its mean time is a lower bound then."""
    return any(row.get("stopped") for row in rows if (row["system"], row["device"]) == (system, device))


def compare(rows: list[Row], rival: str, device: str) -> Interval:
    """Return how many times as long a rival takes as ours, as a logarithm to base 2, over directions in which ours was not stopped."""
    some = [row | {"log": math.log2(max(row["seconds"], 1e-3))} for row in rows if row["device"] == device
            and not (row["system"] == OURS and row.get("stopped"))]  # fmt: skip
    return estimate(pair_up(some, lambda row: row["pair"], "log", of={"system": rival}, less={"system": OURS}))


def judge(rows: list[Row]) -> list[Finding]:
    found = []
    quiet = [row for row in rows if is_quiet(row)]
    for device, name in DEVICES.items():
        if not any(row["device"] == device for row in rows):
            continue
        rivals = [rival for rival in RIVALS if device != "cpu" or not rival.startswith(GAMES)]
        ratios = {rival: compare(quiet, rival, device) for rival in rivals}
        bounds = {rival for rival in rivals if is_stopped(quiet, rival, device)}
        text = "; ".join(
            f"{rival} {'more than ' if rival in bounds else ''}{_show(one)}" for rival, one in ratios.items()
        )
        others = "" if device != "cpu" else " but adversarial training, which needs a GPU"
        runs = [row for row in rows if row["device"] == device]
        kept = sum(row["device"] == device for row in quiet)
        found.append(Finding(
            f"a fraction of the cost (less than half) of every rival{others} [{name}]",
            f"times of ours: {text}; {kept} of {len(runs)} runs on a quiet machine",
            both(*(_judge_ratio(one, rival in bounds) for rival, one in ratios.items())),
        ))  # fmt: skip
    return found


def _judge_ratio(ratio: Interval, bound: bool) -> Verdict:
    found = is_above(ratio, math.log2(FRACTION))
    return OPEN if bound and found != CONFIRMED else found  # a lower bound refutes nothing


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
        kept = [row for row in rows if (row["system"], row["device"]) == (system, device) and is_quiet(row)]
        some, probes = [row["seconds"] for row in kept], [row["probe"] for row in kept if "probe" in row]
        line: Row = {"system": system, "device": device, "runs": len(some)}
        if some:
            line |= {"seconds": round(float(np.mean(some)), 2), "least": min(some), "most": max(some),
                     "probe": round(float(np.mean(probes)), 4) if probes else None,
                     "stopped": sum(bool(row.get("stopped")) for row in kept)}  # fmt: skip
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
    stopped = {row["system"] for row in rows if row.get("stopped")}
    dot_rows(axis, [typeset(name) + (" (stopped)" if name in stopped else "") for name in names], series)
    low, high = axis.get_xlim()
    ticks = [
        value for power in range(-3, 6) for value in (10**power, 3 * 10**power) if low <= math.log10(value) <= high
    ]
    axis.set_xticks([math.log10(value) for value in ticks], [f"{value:g}" for value in ticks])
    axis.set_xlabel("seconds (logarithmic)")
    axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
    footnote(
        figure,
        "Mean over directions and its 95 % interval, of all runs that are stored; the verdict counts the quiet ones.\n"
        "The time of a run that was stopped is a lower bound.",
    )
    figure.tight_layout()
    return figure


EXPERIMENT = Experiment(
    "cost", "Accuracy on a par with the state of the art at a fraction of the computational cost.", cells, draw, judge,
    summarise=summary,
)  # fmt: skip
