"""How it was learned: charts of the solver's steps and of the refinement, times per stage, all numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .contents import Contents
from .figures import StageLine, line_chart
from .markup import bar, count, fold, number, text

# Key in the history, title, whether on a log axis, note.
STEPS = (
    ("objective", "Objective", False, "Score of the plan; at the same epsilon larger is better."),
    ("epsilon", "Epsilon", True, "Entropy weight of the matching, annealed from soft to sharp. Log scale."),
    ("map_change", "Change of the map", True, "Relative change of the map per step. Log scale."),
    ("plan_change", "Change of the plan", True, "Relative change of the images under the plan. Log scale."),
)
RIGHT = ("Right at 1", "Share of the dictionary’s words right at 1, among the words of the stage.")
ROUNDS = (
    ("pairs", "Mutual pairs", "Refinement: mutual nearest neighbours. Each round fits the maps to them."),
    ("changed", "New pairs", "Refinement: share of pairs that are new in this round."),
)
STEP_COLUMNS = (
    "stage", "step", "epsilon", "objective", "map_change", "plan_change", "marginal_error", "inner_iterations", "right",
)  # fmt: skip
ROUND_COLUMNS = ("round", "pairs", "changed", "score", "correlation")
ACCURACY_COLUMNS = ("after", "stage", "right_at_1")


def dynamics_section(contents: Contents) -> str:
    steps, rounds = contents.steps, contents.rounds
    runs = find_runs(steps)
    charts = step_charts(steps, runs)
    if any("right" in row for row in steps):
        charts.append(chart_card("chart-right", [_value(row, "right") for row in steps], *RIGHT, runs))
    for key, title, note in ROUNDS:
        values = [_value(row, key) for row in rounds]
        if len(values) > 1:
            charts.append(chart_card(f"chart-refine-{key}", values, title, note, unit="round"))
    lead = f"{count(len(steps))} steps of the solver"
    lead += f", then {len(rounds)} round{'s' * (len(rounds) > 1)} of refinement. " if rounds else ". "
    if any(run.search for run in runs):
        lead += "Grey is the search, where many starts compete and the best of each step is shown; colour is the solve "
        lead += "that follows."
    columns = " two" * (len(charts) == 4)  # four charts in two rows of two
    body = f'<p>{text(lead)}</p><div class="charts{columns}">{"".join(charts)}</div>'
    return fold("dynamics", "How it was learned", body + _times(contents) + _numbers(contents))


def step_charts(steps: Sequence[Mapping[str, Any]], runs: Sequence[StageLine]) -> list[str]:
    """Return a chart of each quantity that the solver records."""
    charts = []
    for key, title, log, note in STEPS:
        values = [_value(row, key) for row in steps]
        charts.append(chart_card(f"chart-{key.replace('_', '-')}", values, title, note, runs, log=log))
    return charts


def find_runs(steps: Sequence[Mapping[str, Any]]) -> list[StageLine]:
    """Split the steps into runs: a new run starts where the stage changes or the step count restarts."""
    starts = [i for i, row in enumerate(steps) if not i or row["stage"] != steps[i - 1]["stage"] or not row["step"]]
    found = []
    for start, stop in zip(starts, [*starts, len(steps)][1:], strict=True):
        stage, _, part = str(steps[start]["stage"]).partition(", ")
        search = part == "race"
        found.append(StageLine("search" if search else part or stage, start, stop, search))
    return found


def _value(row: Mapping[str, Any], key: str) -> float:
    value = row.get(key)
    return float(value) if isinstance(value, (int, float)) else math.nan


def chart_card(
    name: str,
    values: list[float],
    title: str,
    note: str,
    runs: Sequence[StageLine] = (),
    *,
    log: bool = False,
    unit: str = "step",
) -> str:
    """Return a chart with its title, its last value and a note."""
    known = [value for value in values if math.isfinite(value)]
    last, said = "", "No values."
    if known:
        last = f'<span class="last">{number(known[-1])}</span>'
        said = f"From {number(known[0])} to {number(known[-1])} in {len(values)} {unit}s; at most {number(max(known))}."
    drawn = line_chart(name, values, title=title, description=said, runs=runs, log=log, unit=unit)
    caption = f"<figcaption><h3>{text(title)} {last}</h3>{text(note)}</figcaption>"
    return f'<figure class="card">{caption}{drawn}</figure>'


def _times(contents: Contents) -> str:
    seconds = contents.model.seconds
    total = sum(seconds.values())
    rows = "".join(
        f"<div><dt>{text(name)}</dt><dd>{value:.1f} s</dd>{bar(value / (total or 1.0))}</div>"
        for name, value in seconds.items()
    )
    return f'<h3>Time: {total:.1f} s</h3><dl class="times card">{rows}</dl>'


def _numbers(contents: Contents) -> str:
    columns = [name for name in STEP_COLUMNS if name != "right" or any(name in row for row in contents.steps)]
    tables = table("Steps of the solver", "steps-caption", columns, contents.steps)
    if contents.rounds:
        numbered = [{"round": i, **row} for i, row in enumerate(contents.rounds, 1)]
        tables += table("Rounds of refinement", "rounds-caption", ROUND_COLUMNS, numbered)
    if contents.accuracies:
        watched = [
            {"after": i, "stage": row["stage"], "right_at_1": row["precision@1"]}
            for i, row in enumerate(contents.accuracies, 1)
        ]
        tables += table("Accuracy against the dictionary", "accuracy-caption", ACCURACY_COLUMNS, watched)
    return fold_numbers(tables)


def fold_numbers(tables: str) -> str:
    return f"<details><summary>All numbers of the charts</summary>{tables}</details>"


def table(caption: str, name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    head = "".join(f'<th scope="col">{text(column.replace("_", " "))}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{text(number(row.get(c), 4))}</td>' for c in columns)}</tr>" for row in rows)
    return (
        f'<div class="box" role="region" tabindex="0" aria-labelledby="{name}"><table><caption id="{name}">'
        f"{text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
