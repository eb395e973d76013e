"""The page of benchmarks/ablation.py: what was run as it is, then a line for every variant that changes something, a column for every set."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from provenance import header, write_page

MOVED = 0.002  # a change of the mean score that is shown


def summarise(rows: list[dict[str, Any]], out: Path, sets: Iterable[str], variants: Iterable[str]) -> str:
    """Write the page: what was run, then a line for every variant that changes something, a column for every set."""
    commands = (out / "raw" / "ablation.command.txt").read_text(encoding="utf-8").splitlines()
    families = [name for name in sets if any(row["set"] == name for row in rows)]
    by_set = {name: [row for row in rows if row["set"] == name] for name in families}
    base = {
        name: {row["problem"]: row for row in some if row["variant"] == "as it is"} for name, some in by_set.items()
    }
    lines = ["# What each tuned number and each pass is worth", ""]
    lines += header(*(f"OMP_NUM_THREADS=1 python -m benchmarks.ablation {one}" for one in commands))
    lines += ["## As it is", "", "| set | problems | runs | solved | score | aligned, and right | aligned, and wrong |",
              "|---|---|---|---|---|---|---|"]  # fmt: skip
    lines += [f"| {name} | {describe_base(list(base[name].values()))} |" for name in families]
    lines += ["", "## What changes", "", *LEGEND, "", f"| variant | {' | '.join(families)} | time |", "|---" * (len(families) + 2) + "|"]  # fmt: skip
    same = []
    for variant in [name for name in variants if name != "as it is"]:
        cells, spent = [], [0.0, 0.0]
        for name in families:
            these = [row for row in by_set[name] if row["variant"] == variant and row["problem"] in base[name]]
            before = [base[name][row["problem"]] for row in these]
            count = len({row["problem"].rpartition(" ")[0] for row in by_set[name]})
            cells.append(compare(these, before, count))
            spent = [had + sum(float(row["seconds"]) for row in some) for had, some in zip(spent, (these, before), strict=True)]  # fmt: skip
        time_ratio = f"{spent[0] / max(spent[1], 1e-9):.2f}"
        if all(cell == "–" for cell in cells):
            continue
        if all(cell in ("=", "–") for cell in cells):
            same.append(f"{variant} ({time_ratio})")
        else:
            lines.append(f"| {variant} | {' | '.join(cells)} | {time_ratio} |")
    lines += ["", f"All sets as they are, time in brackets: {', '.join(same) or 'none'}."]
    return write_page(out / "tuning.md", lines)


LEGEND = (
    "Problems lost (−) and gained (+), the change of the mean score in points where it is 0.2 or more, of those called aligned right (a) and",
    "wrong (w); *=* none of these. In brackets: how many problems were run, where not all. Time: of that as it is, all sets.",
)


def describe_base(rows: list[dict[str, Any]]) -> str:
    """The cells of a set, solved as it is."""
    different = {row["problem"].rpartition(" ")[0] for row in rows}
    right = sum(int(row["solved"]) for row in rows)
    score = sum(float(row["score"]) for row in rows) / max(len(rows), 1)
    called = [count_aligned(rows, right) for right in (True, False)]
    return f"{len(different)} | {len(rows)} | {right} | {score:.3f} | {called[0]} | {called[1]}"


def count_aligned(rows: list[dict[str, Any]], right: bool) -> int:
    return sum(row["word"] == "aligned" and (int(row["solved"]) == 1) == right for row in rows)


def compare(these: list[dict[str, Any]], base: list[dict[str, Any]], count: int) -> str:
    """The cell of a variant on some of ``count`` problems: what it solves, scores and calls differently from the solver as it is."""
    if not these:
        return "–"
    moved = [int(row["solved"]) - int(was["solved"]) for row, was in zip(these, base, strict=True)]
    said = [f"{sign}{moved.count(change)}" for sign, change in (("−", -1), ("+", 1)) if change in moved]
    score = sum(float(row["score"]) - float(was["score"]) for row, was in zip(these, base, strict=True)) / len(these)
    if abs(score) >= MOVED:
        said.append(f"{100 * score:+.1f} points".replace("-", "−"))
    for letter, right in (("a", True), ("w", False)):
        change = count_aligned(these, right) - count_aligned(base, right)
        if change:
            said.append(f"{letter} {change:+d}".replace("-", "−"))
    run = f" ({len(these)})" if said and len(these) < count else ""
    return (", ".join(said) or "=") + run
