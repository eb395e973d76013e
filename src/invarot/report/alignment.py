"""One self-contained HTML page about any alignment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..alignment.result import Alignment
from ..arrays import to_numpy
from ..errors import InputError
from ..files import check_target, write_file
from .dynamics import STEP_COLUMNS, find_runs, fold_numbers, step_charts, table
from .explorer import EXPLORED_POINTS, Explorer, explorer_section
from .listing import facts, find_versions, to_text
from .markup import count, fold, text
from .outcome import describe_overlap, evidence_section, verdict_card
from .page import render_shell
from .views import choose_targets, find_matched, find_points, nearest_few, principal_axes, spread_rows

TARGETS_SHOWN = 5  # nearest targets shown for a point
MEANING = {
    "aligned": "The two clouds are aligned, point for point.",
    "coarse": "The two clouds are aligned to within neighbourhoods: groups of points are right, single matches need not be.",
    "doubtful": "The evidence is not conclusive.",
    "failed": "The evidence does not support this map.",
}
ADVICE = {
    "aligned": "Use the map; a single match may still be wrong.",
    "coarse": "Use the map for groups of points; check a single match before you use it.",
    "doubtful": "Check matches that you know before you use the others.",
    "failed": "Do not use this map.",
}


def write_alignment_page(
    result: Alignment, path: str | os.PathLike[str], *, names: Any = None, overwrite: bool = True
) -> None:
    """Write the report of ``result``; see :meth:`invarot.Alignment.report`."""
    check_target(path, overwrite=overwrite)
    page = render_alignment_page(result, _check_names(result, names)).encode("utf-8", "backslashreplace")
    with write_file(path, overwrite=overwrite) as stream:
        stream.write(page)


def render_alignment_page(result: Alignment, names: Sequence[Sequence[str]] | None = None) -> str:
    """Return the page as HTML."""
    verdict, (dx, dy) = result.verdict, result.map.shape
    meaning = f"{MEANING.get(verdict.word, '')} No known pair was used to judge."
    meaning += describe_overlap(result.overlap, "points of x", "points of y")
    note = "The plane is that of the largest variance of the target." if dy > 2 else ""
    sections = [
        (
            "verdict",
            "Verdict",
            verdict_card(verdict, "point", "its counterpart", meaning, ADVICE.get(verdict.word, "")),
        ),
        ("explorer", "Both spaces", explorer_section(explore(result, names), thing="point", note=note)),
        ("evidence", "Evidence", evidence_section(verdict, "point")),
        ("dynamics", "How it was solved", _dynamics(result)),
        ("settings", "Settings", _settings(result)),
    ]
    sizes = f"{count(len(result.plan.z))} × {count(len(result.plan.y))} points, {dx} and {dy} dimensions"
    if result.overlap is not None:
        sizes += f", overlap {result.overlap[0]:.0%} and {result.overlap[1]:.0%}"
    return render_shell(
        verdict.word, "Alignment of two clouds", eyebrow="invarot · two clouds, one map", sizes=sizes, sections=sections,
        scripts=("fold", "explorer"),
    )  # fmt: skip


def explore(result: Alignment, names: Sequence[Sequence[str]] | None = None) -> Explorer:
    """Return what the explorer shows: at most 20,000 points per cloud, with the match and the nearest targets of each."""
    source, target, moved = find_points(result)
    rows = spread_rows(len(moved), EXPLORED_POINTS)
    match = to_numpy(result.matches(all=True) if result.matched_x is not None else result.matches())[rows]
    near, far = nearest_few(moved[rows], target, min(TARGETS_SHOWN, len(target)))
    gap = np.sqrt(((moved[rows] - target[match]) ** 2).sum(axis=1))
    found, scores = _lead_with(match, gap, near, far)
    targets = choose_targets(np.unique(match), len(target), EXPLORED_POINTS)
    place = np.full(len(target), -1)
    place[targets] = np.arange(len(targets))
    found, scores = _keep_drawn(place[found], scores)
    loose = [np.flatnonzero(~one[which]) for one, which in zip(find_matched(result), (rows, targets), strict=True)]
    plane = principal_axes(target, 2)
    called = [
        [f"{letter} {row}" for row in which] if names is None else [names[side][row] for row in which]
        for side, (letter, which) in enumerate((("x", rows), ("y", targets)))
    ]
    return Explorer(
        names=(called[0], called[1]),
        before=(source[rows] @ principal_axes(source, 2), target[targets] @ plane),
        after=(moved[rows] @ plane, target[targets] @ plane),
        matches=found,
        scores=scores,
        loose=(loose[0], loose[1]),
        score_name="at distance",
        totals=(len(moved), len(target)),
    )


def _lead_with(match: Any, gap: Any, near: Any, far: Any) -> tuple[Any, Any]:
    """Put each point's match first, then its nearest targets without that one; as many as there were."""
    rank = np.where(near == match[:, None], -1, np.arange(near.shape[1]))
    rank[(rank >= 0).all(axis=1), -1] = -1  # the match is not among the nearest: it replaces the last
    order = np.argsort(rank, axis=1, kind="stable")
    near, far = np.take_along_axis(near, order, axis=1), np.take_along_axis(far, order, axis=1)
    near[:, 0], far[:, 0] = match, gap
    return near, far


def _keep_drawn(found: Any, scores: Any) -> tuple[Any, Any]:
    """Replace targets that are not drawn by the point's match, which is."""
    missing = found < 0
    return np.where(missing, found[:, :1], found), np.where(missing, scores[:, :1], scores)


def _dynamics(result: Alignment) -> str:
    steps = result.history.rows()
    charts = "".join(step_charts(steps, find_runs(steps)))
    tried = ", ".join(sorted({start.name for start in result.starts}))
    lead = f"{count(len(steps))} steps of the chosen start; starts tried: {text(tried)}. {text(result.status.value)}"
    numbers = fold_numbers(table("Steps of the solver", "steps-caption", STEP_COLUMNS[:-1], steps))
    return fold("dynamics", "How it was solved", f'<p>{lead}</p><div class="charts two">{charts}</div>{numbers}')


def _settings(result: Alignment) -> str:
    given = [(name.replace("_", " "), to_text(value)) for name, value in result.settings.items()]
    body = f"<div><h3>Settings</h3>{facts(given)}</div><div><h3>Versions that wrote this page</h3>{facts(find_versions())}</div>"
    notes = "".join(f"<li>{text(note)}</li>" for note in result.notes)
    return fold(
        "settings",
        "Settings and versions",
        f'<div class="facts">{body}</div>' + (f"<h3>Notes</h3><ul>{notes}</ul>" if notes else ""),
    )


def _check_names(result: Alignment, names: Any) -> Sequence[Sequence[str]] | None:
    if names is None:
        return None
    sizes = len(result.plan.z), len(result.plan.y)
    try:
        pair = [list(map(str, one)) for one in names]
    except TypeError as error:
        raise InputError(
            f"names: expected two lists of names, got {type(names).__name__}; write names=(names_x, names_y)"
        ) from error
    if tuple(map(len, pair)) != sizes:
        raise InputError(
            f"names: expected {sizes[0]} and {sizes[1]} names, one per row, got {[len(one) for one in pair]}; pass one for each row"
        )
    return pair
