"""Every system scored through its own map, and after read-outs and refinements that all systems share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import on_cuda, transpose
from ..baselines.gromov_wasserstein import mutual_matches
from ..errors import MissingExtra
from ..geometry.orthogonal import polar
from ..retrieval import refine
from ..retrieval.metrics import gold_ranks
from .findings import Finding, Interval, both, estimate, is_above, is_within, pair_up
from .run import Cell, Context, Experiment, Row
from .style import add_legend, dot_rows, footnote, make_panels, typeset
from .systems import COUPLED, SYSTEMS, Job, Maps, refine_map, turn
from .tasks import Task, find_tasks
from .words import Setting

OWN, ORTHOGONAL, MATCHES, REFINED, WEIGHTED = READOUTS = (
    "as published", "orthogonal", "matches", "refined", "re-weighted",
)  # fmt: skip
RIVALS = ("Wasserstein–Procrustes", "Gromov–Wasserstein", "self-learning", "adversarial")
PARTS = 10  # of the test list: scores of disjoint parts are independent
LEVEL = 2.0  # points: "comparable"
NAMES = (*(name for name in SYSTEMS if name != "l_∞-InvarOT + refine"), "earth mover, annealed")


def cells(context: Context) -> Sequence[Cell]:
    return [
        Cell(f"{task.name}, {name}", partial(measure, task, name, context))
        for task in find_tasks(context)
        for name in NAMES
    ]


def measure(task: Task, name: str, context: Context) -> list[Row]:
    """Solve one system once, rows in order of frequency; one row per read-out and part of the test list."""
    setting = Setting.of(task, name, False, 0, context)
    cuda = on_cuda(setting.x)
    if name == "adversarial" and not cuda:  # the small games of a processor find nothing
        return []
    sizes = setting.sizes
    if not (cuda or context.quick):  # what a processor can do
        sizes = replace(sizes, words=min(sizes.words, 2500), cutoff=min(sizes.cutoff, 4000), patience=10, batches=1000)
    job = Job(setting.x, setting.y, setting.known, 0, sizes)
    plan = None
    try:
        if name in COUPLED:
            found = COUPLED[name](job)
            maps, plan = job.one(found.map), found.plan
        else:
            _, maps = next(SYSTEMS[name](job))
    except MissingExtra:
        return []
    return score_readouts(setting, job, maps, plan, task.name, name)


def score_readouts(setting: Setting, job: Job, maps: Maps, plan: Any, pair: str, system: str) -> list[Row]:
    """Return the precision of every read-out on every part of the test list."""
    rows: list[Row] = []
    for readout, read in read_out(job, maps, plan, rounds=job.sizes.rounds).items():
        hits = gold_ranks(job.x @ read[0], job.y @ read[1], setting.gold) <= 1
        # queries are sorted by rank: every tenth of them, so that parts are alike
        rows += [
            {"pair": pair, "system": system, "readout": readout, "part": part, "queries": len(hits[part::PARTS]),
             "precision": 100 * float(np.mean(hits[part::PARTS]))}
            for part in range(PARTS)
        ]  # fmt: skip
    return rows


def read_out(job: Job, maps: Maps, plan: Any, *, rounds: int = 5) -> dict[str, Maps]:
    """Return the maps of each read-out: of all systems but ``matches``, which needs a plan.

    ``orthogonal``: the polar factor of the map. ``matches``: Procrustes on the mutual matches of the plan. ``refined``: from
    the orthogonal one, ``rounds`` rounds of mutual CSLS pairs and Procrustes, as in MUSE. ``re-weighted``: from the
    orthogonal one, our refinement.
    """
    turned = turn(maps)
    found = {OWN: maps, ORTHOGONAL: job.one(turned)}
    if plan is not None:
        i, j = mutual_matches(plan)
        found[MATCHES] = job.one(polar(transpose(job.x[i]) @ job.y[j]))
    found[REFINED] = job.one(refine_map(job.x, job.y, turned, rounds))
    better = refine(job.x, job.y, turned)
    return {**found, WEIGHTED: (better.x_map, better.y_map)}


def mean_precision(rows: list[Row], system: str, readout: str) -> float:
    """Return the precision over all pairs, each weighted alike."""
    pairs = dict.fromkeys(row["pair"] for row in rows)
    some = [[row for row in rows if (row["pair"], row["system"], row["readout"]) == (pair, system, readout)]
            for pair in pairs]  # fmt: skip
    return float(np.mean([_pool(one) for one in some if one])) if any(some) else float("nan")


def _pool(rows: list[Row]) -> float:
    """Return the precision over all parts: the share of right queries."""
    return float(np.average([row["precision"] for row in rows], weights=[row["queries"] for row in rows]))


def summary(rows: list[Row]) -> list[Row]:
    """Return one line per pair and system, a column per read-out."""
    return [
        {"pair": pair, "system": system}
        | {name: round(_pool(some), 2) for name in READOUTS
           if (some := [r for r in rows if (r["pair"], r["system"], r["readout"]) == (pair, system, name)])}
        for pair, system in dict.fromkeys((row["pair"], row["system"]) for row in rows)
    ]  # fmt: skip


def draw(rows: list[Row], pyplot: Any) -> Any:
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    names = list(dict.fromkeys(row["system"] for row in rows))
    figure, axes = make_panels(pyplot, len(pairs), len(names), margin=3.2, width=3.4, height=0.52)
    for axis, pair in zip(axes.flat, pairs, strict=False):
        series = {
            readout: {
                name: estimate(row["precision"] for row in rows
                               if (row["pair"], row["system"], row["readout"]) == (pair, name, readout))
                for name in names
            }
            for readout in READOUTS
        }  # fmt: skip
        dot_rows(axis, [typeset(name) for name in names], series, near=0.75)
        axis.set(title=pair, xlabel="P@1, per cent (CSLS)")
    add_legend(axes)
    footnote(figure, "Dots: mean over ten disjoint parts of the test list, lines: its 95 % interval (systems share the test "
                     "words, so differences are known better than that).\nas published: each system's own map; orthogonal: its "
                     "polar factor; matches: Procrustes on its plan's mutual matches;\nrefined: five rounds of mutual CSLS pairs "
                     "and Procrustes; re-weighted: our refinement. Procrustes uses a dictionary.")  # fmt: skip
    figure.tight_layout()
    return figure


def compare(rows: list[Row], left: str, right: str, readout: str) -> Interval:
    """Return the difference of two systems, part by part of every pair's test list."""
    return estimate(pair_up(
        rows, lambda row: (row["pair"], row["part"]), "precision",
        of={"system": left, "readout": readout}, less={"system": right, "readout": readout},
    ))  # fmt: skip


def judge(rows: list[Row]) -> list[Finding]:
    ours, other = "l_∞-InvarOT", "l_2-InvarOT"
    systems = {row["system"] for row in rows}
    found = []

    def where(gap: Interval) -> str:
        return f"{gap.count} tenths of test lists"

    if {ours, other} <= systems:
        for readout in (OWN, ORTHOGONAL, MATCHES, REFINED):
            gain = compare(rows, ours, other, readout)
            scores = ", ".join(f"{name[:3]} {mean_precision(rows, name, readout):.1f}" for name in (ours, other))
            found.append(
                Finding(f"p = ∞ translates better than p = 2, read-out: {readout}",
                        f"{scores}; {gain.show(1)} points; {where(gain)}", is_above(gain))
            )  # fmt: skip
        even = compare(rows, other, ours, ORTHOGONAL)
        found.append(Finding(f"p = 2 translates as well as p = ∞ (within {LEVEL:g} points), read-out: {ORTHOGONAL}",
                             f"{even.show(1)} points; {where(even)}", is_within(even, LEVEL)))  # fmt: skip
    rivals = [name for name in RIVALS if name in systems]
    for readout in (OWN, REFINED):
        gaps = {name: compare(rows, ours, name, readout) for name in rivals}
        text = "; ".join(f"l_∞ − {name} {one.show(1)}" for name, one in gaps.items())
        verdict = both(*(is_above(one, -LEVEL) for one in gaps.values()))
        if gaps:
            found.append(Finding(f"l_∞ is within {LEVEL:g} points of every rival, read-out: {readout}", f"{text}; {where(next(iter(gaps.values())))}",
                                 verdict))  # fmt: skip
    if {ours, "Wasserstein–Procrustes"} <= systems:
        gain = compare(rows, ours, "Wasserstein–Procrustes", REFINED)
        found.append(Finding("l_∞ is better than Wasserstein–Procrustes where both are refined",
                             f"{gain.show(1)} points; {where(gain)}", is_above(gain)))  # fmt: skip
    if "earth mover, annealed" in systems:
        gain = compare(rows, "earth mover, annealed", "earth mover", OWN)
        found.append(Finding("annealing helps exact plans too (earth mover)", f"{gain.show(1)} points; {where(gain)}",
                             is_above(gain)))  # fmt: skip
    return found


EXPERIMENT = Experiment(
    "readouts",
    "l_∞ is the right invariance for words, and comparable with methods that are refined.",
    cells, draw, judge, summarise=summary,
)  # fmt: skip
