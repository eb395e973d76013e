"""Every verdict follows from the data, comes out both ways, and copes with part of the data."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from invarot.experiments import NAMES, find
from invarot.experiments.findings import Finding
from invarot.experiments.published import find_published
from invarot.experiments.style import load_pyplot
from invarot.experiments.verdicts import as_table, collect, compare_runs
from invarot.experiments.words import RIVALS

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "reproduce"
FOLDERS = sorted(path.parent for path in RESULTS.rglob("cells.jsonl"))
pytestmark = pytest.mark.skipif(not FOLDERS, reason="the results are not part of this checkout")


def read_rows(folder):
    cells = {}
    for line in (folder / "cells.jsonl").read_text(encoding="utf-8").splitlines()[1:]:
        cell = json.loads(line)
        cells[cell["name"]] = cell["rows"]
    return cells


def all_rows(folder):
    return [row for rows in read_rows(folder).values() for row in rows]


def where(name):
    """Return the folder of an experiment's full data: the one of Europarl if there is one."""
    found = [folder for folder in FOLDERS if folder.name == name]
    return next((one for one in found if one.parent.name == "europarl"), found[0] if found else None)


def test_every_experiment_has_results():
    assert {folder.name for folder in FOLDERS} == set(NAMES)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda one: one.relative_to(RESULTS).as_posix())
def test_findings_follow_from_the_data(folder):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    order = list(read_rows(folder))
    assert [one.row() for one in find(folder.name).judge(all_rows(folder))] == manifest["findings"], order[:1]


def test_the_page_has_the_table_of_the_manifests():
    text = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    assert as_table(collect(RESULTS), link="../results/reproduce/") in text


# -- each claim comes out both ways: copies of the data with other values ------------------------------------------------


def noise(row, sign):
    level = {
        ("F_∞", "l_∞"): 0.9, ("F_∞", "l_2"): 0.8, ("F_∞", "oracle"): 0.7,
        ("F_2", "l_2"): 0.6, ("F_2", "l_∞"): 0.5, ("F_2", "oracle"): 0.7,
    }.get((row["family"], row["system"]), 0.1)  # fmt: skip
    error = None if row["map_error"] is None else sign * (0.9 if row["family"] == "F_2" else 0.1)
    return {"accuracy": sign * level, "map_error": error}


def readouts(row, sign):
    level = {"l_∞-InvarOT": 90, "l_2-InvarOT": 80, "earth mover, annealed": 60, "earth mover": 10}.get(
        row["system"], 70
    )
    return {"precision": sign * level}


def spectrum(row, sign):
    if row["task"] == "words":
        return {"score": sign * (90 if math.isinf(row["p"]) else 50)}
    best = math.inf if row["task"] == "true map in F_∞" else 2.0
    return {"map_error": 1 - sign * (0.9 if row["p"] == best else 0.1)}


def track(row, sign, steps):
    """A run along an S (sign > 0), or one that gains at once and loses its accuracy (sign < 0)."""
    t = row["step"] / steps
    if sign > 0:
        value = 3 * t**2 - 2 * t**3 + 0.002 * math.sin(1.7 * row["step"] ** 2)
        return value, 0.3 + 0.001 * value
    value = 1 - math.exp(-10 * t)
    return value, 0.6 - 0.3 * value


def objective(row, sign, steps=44):
    if row.get("system") == "adversarial":
        return {"objective": row["seed"], "precision@1": -sign * row["seed"]}
    value, precision = track(row, sign, steps)
    base = row["seed"] + (0 if math.isinf(row["disturbance"]) else row["disturbance"])
    if row["disturbance"] >= 2:  # found nothing
        return {"objective": value + base - sign * 1000, "precision@1": 0.01}
    return {"objective": value + base, "precision@1": precision + sign * 0.001 * base}


def dynamics(row, sign):
    ours = row["system"].startswith("l_")
    if ours:
        value, precision = track(row, sign, 44)
        return {"objective": value, "precision@1": precision}
    value, precision = track(row, -sign, 5)
    return {"objective": value, "loss": value, "precision@1": precision}


def annealing(row, sign):
    centre = {"epsilon": 1.0, "decay": 0.95, "floor": 0.01}[row["varied"]]
    if sign > 0:
        return {"score": 100.0, "assigned": 100.0}
    assigned = 100.0 if row["value"] == centre else 50.0
    return {"assigned": assigned, "score": assigned - 30}


def appendix(row, sign):
    if row["part"] == "moves":
        return {"accuracy": 1.0 if sign > 0 else 0.2, "residual": 0.01 if sign > 0 else 0.9}
    first, infinite = row["way"].endswith("closed form"), row["way"].startswith("p = ∞")
    return {
        "value": row["bound"] + (0 if sign > 0 else 1), "cost": 2.0 if first and sign < 0 else 1.0,
        "map": [1.0, 2.0] if infinite and sign > 0 else [1.0, 0.0],
        "rank": 3 + sign * (1 if infinite else -1), "map_error": 0.5 + sign * (0.1 if infinite else -0.1),
    }  # fmt: skip


def order(row, sign):
    ours = row["system"] in ("l_∞, auto", "l_∞, auto, told of the order")
    falls = 0 if ours == (sign > 0) else 10
    level = (50 if sign > 0 else 1) if row["system"] == "l_∞, row i with row i as start" else 80
    return {"precision": float(level - falls * row["shuffled"])}


def words(row, sign):
    level = 70.0 + sign * (10 if row["system"].startswith("l_∞") else 0)
    return {"precision_csls": level, "refined_csls": level}


def cost(row, sign):
    seconds = 50.0 - sign * (40 if row["system"].startswith("l_∞") else 0)
    return {"load": 0.5, "cores": 2, "seconds": seconds, "cpu_seconds": seconds}


def ranked(row, sign):
    published = find_published(row["system"], row["pair"])
    return {"precision_csls": 50 + sign * published / 2 if published is not None else 0.0}


LARGEST = 2000
COST = [  # every system, so that the test does not depend on which of them a machine has run
    {"pair": f"pair {k}", "system": system, "device": device}
    for k in range(6)
    for system in ("l_∞-InvarOT", *RIVALS)
    for device in ("cpu", "cuda")
    if device == "cuda" or not system.startswith("adversarial")
]
SCENARIOS = {
    "schatten": [
        lambda row, sign: {"s2": row["s2"] if sign > 0 else 0.5, "value": row["bound"] + (0 if sign > 0 else 1)}
    ],
    "matchings": [lambda row, sign: {"right": float((row["system"] == "l_∞-invariant OT") == (sign > 0))}],
    "noise": [noise],
    "readouts": [readouts, lambda row, sign: {"precision": 80.0}],
    "spectrum": [spectrum, lambda row, sign: {"score": 80.0}],
    "objective": [objective],
    "dynamics": [dynamics],
    "starts": [lambda row, sign: {"success": sign > 0}],
    "annealing": [annealing],
    "subsample": [
        lambda row, sign: {
            "first": 80.0 if sign > 0 or row["k"] == LARGEST else 20.0,
            "second": 80.0 if sign > 0 or row["k"] == LARGEST else 20.0,
            "steps": 10 + sign * (row["k"] != LARGEST),
        }
    ],
    "appendix": [appendix],
    "order": [order],
    "words": [words, ranked],
    "cost": [cost],
}


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_comes_out_both_ways(name):
    rows = all_rows(where(name)) if name != "cost" else COST
    verdicts = {}
    for rule in SCENARIOS[name]:
        for sign in (1, -1):
            for one in find(name).judge([row | rule(row, sign) for row in rows]):
                verdicts.setdefault(one.claim, set()).add(one.verdict)
    assert verdicts
    for claim, seen in verdicts.items():
        assert {"confirmed", "refuted"} <= seen, claim
    for folder in FOLDERS:  # and no claim of any folder is left out
        if folder.name == name:
            manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
            assert {one["claim"] for one in manifest["findings"]} <= set(verdicts), folder


@pytest.mark.parametrize("name", NAMES)
def test_part_of_the_data_is_judged_and_drawn(name):
    """--only leaves any part of the cells: no claim is confirmed by statistics of one unit, and nothing breaks."""
    pytest.importorskip("matplotlib")
    cells = list(read_rows(where(name)).values())
    experiment = find(name)
    for rows in (cells[0], cells[-1]):
        assert all(one.verdict for one in experiment.judge(rows))
    pyplot = load_pyplot()
    for rows in (cells[0], cells[-1]):
        pyplot.close(experiment.draw(rows, pyplot))


def test_few_units_conclude_nothing():
    rows = [row for row in all_rows(where("noise")) if row["cloud"] < 4]
    assert {one.verdict for one in find("noise").judge(rows)} == {"cannot tell"}


def test_a_stopped_rival_confirms_but_does_not_refute():
    """The time of a stopped run is a lower bound."""
    stopped = [row | {"stopped": row["system"] == "self-learning"} for row in COST if row["device"] == "cpu"]
    found = find("cost").judge([row | cost(row, 1) for row in stopped])
    assert found[0].verdict == "confirmed"
    assert "self-learning more than 5" in found[0].evidence
    level = [row | {"load": 0.5, "cores": 2, "seconds": 10.0, "cpu_seconds": 10.0} for row in stopped]
    only = [row for row in level if row["system"] in ("l_∞-InvarOT", "self-learning")]
    assert find("cost").judge(only)[0].verdict == "cannot tell"
    assert find("cost").judge(level)[0].verdict == "refuted"  # by those that were not stopped


def test_a_quick_run_beside_a_full_one():
    def run(**verdicts):
        return {"noise": [Finding(claim, "", verdict) for claim, verdict in verdicts.items()]}

    small = run(a="confirmed", b="cannot tell", c="refuted", d="confirmed", e="confirmed")
    full = run(a="confirmed", b="refuted", c="confirmed", d="cannot tell")
    found = {row["claim"]: row["agrees"] for row in compare_runs(small, full)}
    assert found == {"a": "yes", "b": "too small", "c": "no", "d": "no", "e": "not run"}
    elsewhere = {"europarl/noise": full["noise"]}
    assert {row["claim"]: row["agrees"] for row in compare_runs(small, elsewhere)} == found


def test_the_stored_quick_run_contradicts_no_full_one():
    """results/reproduce_quick.md was compared with the full run of its day; the verdicts may have changed since."""
    full = collect(RESULTS)
    anywhere = {one.claim: one.verdict for findings in reversed(full.values()) for one in findings}
    lines = (ROOT / "results" / "reproduce_quick.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][1:]
    assert len(rows) > 50
    for name, claim, quick, _, agrees in rows:
        verdicts = {one.claim: one.verdict for one in full.get(name, [])}
        there = verdicts.get(claim, anywhere.get(claim))
        assert quick in ("cannot tell", there), (name, claim)
        assert agrees in ("yes", "too small"), (name, claim)


def test_a_busy_machine_says_nothing_of_cost():
    for busy in ({"load": 2.0}, {"cpu_seconds": 4.0}):
        found = find("cost").judge([row | cost(row, 1) | busy for row in COST if row["device"] == "cpu"])
        assert [one.verdict for one in found] == ["cannot tell"]
        assert "0 of 24 runs on a quiet machine" in found[0].evidence
