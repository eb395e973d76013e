"""Put the verdicts and tables of results/reproduce into docs/reproduce.md: ``python benchmarks/reproduce_page.py``.

Whatever stands between ``<!-- NAME -->`` and ``<!-- end of NAME -->`` is written by the function of that name in TABLES.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from invarot.experiments.published import DIRECTIONS, MINUTES, TABLE, find_published
from invarot.experiments.run import UNKNOWN
from invarot.experiments.verdicts import as_table, collect

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "reproduce"
OLD = "*"  # marks scores of which a cell does not name its commit


def main() -> None:
    page = ROOT / "docs" / "reproduce.md"
    page.write_text(render(page.read_text(encoding="utf-8")), encoding="utf-8")


def render(text: str) -> str:
    """Return the page with every table written anew."""
    for name, make in TABLES.items():
        mark, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, found, rest = text.partition(mark)
        if not found or end not in rest:
            raise SystemExit(f"docs/reproduce.md: expected the marks {mark.strip()} and {end.strip()}")
        text = before + mark + make() + end + rest.partition(end)[2]
    return text


def verdicts() -> str:
    return as_table(collect(RESULTS), link="../results/reproduce/")


def words_table(folder: str) -> Callable[[], str]:
    """One line per system and order: as published, and after the refinement that all systems share."""

    def make() -> str:
        rows = _read_rows(RESULTS / folder / "words")
        pairs = list(dict.fromkeys(row["pair"] for row in rows))
        seeds = len({row["seed"] for row in rows})
        lines = []
        for system in dict.fromkeys(row["system"] for row in rows):
            asked = 1 if system == "Procrustes" else seeds
            for shuffled in (False, True):
                some = [row for row in rows if (row["system"], row["shuffled"]) == (system, shuffled)]
                if some:
                    name = "the same, shuffled" if shuffled else system
                    lines.append(
                        [name, *(_show_scores([row for row in some if row["pair"] == pair], asked) for pair in pairs)]
                    )
        return _table(["", *pairs], lines)

    return make


def _show_scores(rows: Sequence[dict[str, Any]], asked: int) -> str:
    """Return mean and deviation over seeds, their number where it is not ``asked``, a star, and the mean after refinement."""
    if not rows:
        return "not run"
    scores = [row["precision_csls"] for row in rows]
    refined = [row["refined_csls"] for row in rows if row.get("refined_csls") is not None]
    old = OLD if any(row["commit"] == UNKNOWN for row in rows) else ""
    after = f" → {fmean(refined):.1f}" if refined else ""
    count = f" ({len(rows)})" if len(rows) < asked else ""
    return f"{fmean(scores):.1f}{_spread(scores)}{old}{count}{after}"


def _spread(scores: Sequence[float]) -> str:
    return f" ± {pstdev(scores):.1f}" if len(scores) > 1 and pstdev(scores) >= 0.05 else ""


def readouts_table(folder: str) -> Callable[[], str]:
    def make() -> str:
        with (RESULTS / folder / "readouts" / "summary.csv").open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        names = list(rows[0])
        lines = [[row[name] if name in ("pair", "system") else f"{float(row[name]):.1f}" if row[name] else "–"
                  for name in names] for row in rows]  # fmt: skip
        return _table(names, lines)

    return make


def cost_table() -> str:
    """Seconds on one quiet core; lower bounds where runs were stopped, and the paper's minutes."""
    path = RESULTS / "europarl" / "cost" / "summary.csv"
    with path.open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["device"] == "cpu"]
    lines = []
    for row in rows:
        seconds, runs = row.get("seconds"), int(row["runs"])
        shown = (
            "none on a quiet core"
            if not runs
            else f"{float(seconds or 0):.1f} ({float(row['least']):.1f} to {float(row['most']):.1f})"
        )
        if runs and int(row.get("stopped") or 0):
            shown = f"more than {float(row['most']):.0f}: {row['stopped']} of {runs} stopped"
        lines.append([row["system"], shown, str(runs), str(MINUTES.get(row["system"], "–"))])
    return _table(["system", "seconds, one core", "directions", "the paper's minutes"], lines)


def published_table() -> str:
    """Ours on Europarl, then the paper's."""
    rows = [row for row in _read_rows(RESULTS / "europarl" / "words") if not row["shuffled"]]
    lines = []
    for system in TABLE:
        cells = []
        for pair in DIRECTIONS:
            ours = [row["precision_csls"] for row in rows if (row["system"], row["pair"]) == (system, pair)]
            theirs = find_published(system, pair)
            cells.append(f"{f'{fmean(ours):.1f}' if ours else '–'} / {'–' if theirs is None else theirs}")
        lines.append([system, *cells])
    return _table(["ours / the paper's", *DIRECTIONS], lines)


def origins_table() -> str:
    """Commits of the cells of every folder."""
    lines = []
    for path in sorted(RESULTS.rglob("manifest.json")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        commits = ", ".join(f"{name} ({count})" for name, count in manifest["cells_by_commit"].items())
        devices = sorted({_device(name) for name in manifest["cells_by_machine"]})
        name = path.parent.relative_to(RESULTS).as_posix()
        lines.append(
            [f"[{name}](../results/reproduce/{name})", commits, " and ".join(devices), str(manifest["cells_not_run"])]
        )
    return _table(["folder", "commits (cells)", "made on", "cells not run"], lines)


def _device(machine: str) -> str:
    return "H200" if "H200" in machine else "CPU"


def _read_rows(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "cells.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    return [row | {"commit": cell.get("commit", UNKNOWN)} for cell in map(json.loads, lines) for row in cell["rows"]]


def _table(names: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    shown = [names, ["---"] * len(names), *lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in shown)


TABLES: dict[str, Callable[[], str]] = {
    "verdicts": verdicts,
    "origins": origins_table,
    "read-outs of Europarl": readouts_table("europarl"),
    "read-outs of the core pair": readouts_table("."),
    "words of Europarl": words_table("europarl"),
    "words of the core pair": words_table("."),
    "words of MUSE's layout": words_table("muse-layout"),
    "cost": cost_table,
    "published": published_table,
}


if __name__ == "__main__":
    main()
