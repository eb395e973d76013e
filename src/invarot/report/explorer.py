"""The explorer: both clouds on a canvas, to search and to click; its data are drawn by explorer.js."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .markup import LONGEST_SHOWN, count, section, shorten, text, visible

EXPLORED_POINTS = 20_000  # points of a cloud
LARGEST_COORDINATE = 9999  # coordinates are whole numbers up to here

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Explorer:
    """What the explorer shows: names and places of both clouds, and the best matches of each source point.

    Attributes
    ----------
    names : n and m strings
    before, after : (n, 2) and (m, 2) each
    matches : (n, k) rows of the target, best first
    scores : (n, k)
    loose : rows of the source and of the target without a counterpart
    score_name : what ``scores`` are, such as "distance"
    totals : points of both clouds, of which these are the first
    """

    names: tuple[Sequence[str], Sequence[str]]
    before: tuple[Floats, Floats]
    after: tuple[Floats, Floats]
    matches: Floats
    scores: Floats
    loose: tuple[Floats, Floats]
    score_name: str
    totals: tuple[int, int]


def explorer_section(shown: Explorer, *, thing: str, note: str) -> str:
    """Return the section: a search box, the canvas, the matches of a chosen point; without scripts it says so."""
    n, m = len(shown.names[0]), len(shown.names[1])
    some = "" if (n, m) == tuple(shown.totals) else f" (of {count(shown.totals[0])} and {count(shown.totals[1])})"
    lead = (
        f'<p><span class="key source">●</span> {count(n)} source and <span class="key target">●</span> {count(m)} target '
        f"{text(thing)}s{some}. Click a point, or find one by name, to see its matches. {text(note)}</p>"
    )
    controls = (
        '<div class="controls" hidden>'
        '<label for="find">Find a point</label><input id="find" type="search" autocomplete="off" autocapitalize="none" '
        'spellcheck="false" aria-controls="hits" aria-describedby="hits-found">'
        '<span role="group" aria-label="View"><button type="button" data-view="after" aria-pressed="true">Together</button>'
        '<button type="button" data-view="before" aria-pressed="false">Before</button></span>'
        '<span role="group" aria-label="Zoom"><button type="button" data-zoom="1.5" aria-label="Zoom in">+</button>'
        '<button type="button" data-zoom="0.667" aria-label="Zoom out">−</button>'
        '<button type="button" data-zoom="0">Reset</button></span></div>'
    )
    panel = (
        '<div class="stage"><canvas id="map" tabindex="0" role="img" aria-label="Both clouds; the search above finds '
        'points by name"></canvas><div class="aside"><p id="hits-found" role="status"></p><ul id="hits"></ul>'
        '<div id="chosen" role="status"><p>Nothing is chosen yet.</p></div></div></div>'
    )
    data = f'<script type="application/json" id="points">{encode_for_page(shown)}</script>'
    none = "<noscript><p>The picture to search and click needs scripts.</p></noscript>"
    body = f'{lead}{none}<div class="explorer card">{controls}{panel}</div>{data}'
    return section("explorer", "Both spaces", body)


def encode_for_page(shown: Explorer) -> str:
    """Return the data as JSON that is safe inside a script element."""
    digits = 3
    data = {
        "names": [[visible(shorten(str(name), LONGEST_SHOWN)) for name in names] for names in shown.names],
        "after": _to_grid(shown.after, together=True),
        "before": _to_grid(shown.before, together=False),
        "k": int(shown.matches.shape[1]),
        "matches": shown.matches.ravel().tolist(),
        "scores": [float(f"{value:.{digits}g}") for value in shown.scores.ravel().tolist()],
        "loose": [rows.tolist() for rows in shown.loose],
        "scoreName": shown.score_name,
    }
    written = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace("&", "\\u0026")


def _to_grid(places: tuple[Floats, Floats], *, together: bool) -> list[list[int]]:
    """Return flat whole coordinates in [0, LARGEST_COORDINATE], upwards; together in one frame, or each cloud in its own."""
    frames = [np.concatenate(places)] * 2 if together else list(places)
    found = []
    for cloud, frame in zip(places, frames, strict=True):
        low, high = (np.quantile(frame, share, axis=0) for share in (0.002, 0.998))  # few strays would shrink the rest
        span = float(np.max(high - low)) or 1.0
        at = 0.5 + (cloud - (low + high) / 2) / (1.1 * span)
        found.append(np.clip(np.round(at * LARGEST_COORDINATE), 0, LARGEST_COORDINATE).astype(int).ravel().tolist())
    return found
