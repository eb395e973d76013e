"""An alignment in a notebook: the verdict, the key numbers, a small picture. No dependency, no script."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..alignment.result import Alignment
from .markup import count, number, percent, text
from .views import View, view_alignment

SHADES = {"aligned": "#12703a", "coarse": "#0b6b7a", "doubtful": "#855400", "failed": "#b3261e"}
CARD_POINTS = 250  # points of a cloud in the small picture
CARD_SIZE, EDGE = 200.0, 8.0


def render_card(result: Alignment) -> str:
    """Return the card as HTML."""
    verdict = result.verdict
    (dx, dy), n, m = result.map.shape, result.plan.z.shape[0], result.plan.y.shape[0]
    facts = [
        ("points", f"{count(n)} × {count(m)}"),
        ("dimensions", f"{dx} and {dy}"),
        ("resolution", str(verdict.resolution)),
        ("objective", number(float(result.objective), 5)),
        ("steps", f"{len(result.history)}, {len(result.starts)} starts"),
    ]
    if result.overlap is not None:
        facts.insert(2, ("overlap", f"{percent(result.overlap[0])} and {percent(result.overlap[1])}"))
    rows = "".join(
        f'<tr><td style="text-align:left;opacity:.7">{text(name)}</td><td style="text-align:left">{text(value)}</td></tr>'
        for name, value in facts
    )
    reasons = "".join(f"<li>{text(one)}</li>" for one in verdict.reasons)
    shade = SHADES.get(verdict.word, "inherit")
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start">'
        f'<div style="max-width:30em"><div style="font-size:1.4em;font-weight:700;color:{shade}">'
        f"{text(verdict.word.capitalize())}</div><div>probability {verdict.probability:.2f}</div>"
        f'<table style="margin:.5em 0">{rows}</table><ul style="margin:.3em 0;padding-left:1.2em">{reasons}</ul></div>'
        f"{render_picture(result)}</div>"
    )


def render_picture(result: Alignment) -> str:
    """Return both clouds before and after as SVG, in two axes."""
    view = view_alignment(result, axes=2, points=CARD_POINTS)
    panels = "".join(
        f'<g transform="translate({left:g} 0)">{_draw(places, view)}'
        f'<text x="{EDGE:g}" y="{CARD_SIZE + 14:g}" font-size="12" fill="currentColor">{label}</text></g>'
        for left, places, label in ((0.0, view.before, "before"), (CARD_SIZE + 12, view.after, "after"))
    )
    told = "Both clouds before and after the alignment: source as discs, target as diamonds."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{told}" width="{2 * CARD_SIZE + 12:g}" '
        f'height="{CARD_SIZE + 20:g}" viewBox="0 0 {2 * CARD_SIZE + 12:g} {CARD_SIZE + 20:g}"><title>{told}</title>{panels}</svg>'
    )


def _draw(places: tuple[Any, Any], view: View) -> str:
    low, high = (edge(np.concatenate(places), axis=0) for edge in (np.min, np.max))
    scale = (CARD_SIZE - 2 * EDGE) / (float(np.max(high - low)) or 1.0)
    parts = [
        f'<rect width="{CARD_SIZE:g}" height="{CARD_SIZE:g}" rx="6" fill="none" stroke="currentColor" stroke-opacity=".25"/>'
    ]
    for cloud, matched, colour, disc in zip(places, view.matched, ("#d1495b", "#1f6f8b"), (True, False), strict=True):
        at = CARD_SIZE / 2 + (cloud - (low + high) / 2) * scale * np.asarray([1, -1])
        for (x, y), solid in zip(at, matched, strict=True):
            paint = (
                f'fill="{colour}" fill-opacity=".7"' if solid else f'fill="none" stroke="{colour}" stroke-opacity=".6"'
            )
            shape = (
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" '
                if disc
                else f'<path d="M{x:.1f} {y - 2.4:.1f}l2.4 2.4-2.4 2.4-2.4-2.4z" '
            )
            parts.append(f"{shape}{paint}/>")
    return "".join(parts)
