"""The picture of two spaces as SVG: dots, lines between pairs, labels that do not overlap."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .contents import Contents
from .markup import element, fold, percent, picture, shorten, text

Floats = np.ndarray[Any, Any]
Box = tuple[float, float, float, float]  # left, top, right, bottom

FONT = 12.0
PANEL_MARGIN = 14.0
LONGEST_LABEL = 18  # letters of a label
SIDES = ("source", "target")


@dataclass(frozen=True)
class Label:
    word: str
    side: str
    x: float
    y: float
    anchor: str


class Room:
    """The occupied area of a panel, to find a free place for a label."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.taken: list[Box] = []

    def find(self, word: str, x: float, y: float, side: str) -> tuple[Label, Box] | None:
        """Find a free place next to the point (x, y), preferably on its right; None if there is none."""
        wide, gap = text_width(word), 6.0
        places = (
            (gap, 4, "start"), (-gap, 4, "end"), (0, -gap - 1, "middle"), (0, gap + 9, "middle"),
            (gap - 1, -5, "start"), (gap - 1, 12, "start"), (1 - gap, -5, "end"), (1 - gap, 12, "end"),
        )  # fmt: skip
        for dx, dy, anchor in places:
            left = x + dx - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
            box = (left, y + dy - FONT + 2, left + wide, y + dy + 3)
            if self.free(box):
                return Label(word, side, x + dx, y + dy, anchor), box
        return None

    def free(self, box: Box) -> bool:
        inside = box[0] >= 2 and box[1] >= 2 and box[2] <= self.width - 2 and box[3] <= self.height - 2
        return inside and not any(_overlap(box, other) for other in self.taken)


def text_width(word: str) -> float:
    """Estimate the width of a label; East Asian letters are square."""
    return FONT * sum(1.02 if unicodedata.east_asian_width(c) in "WF" else 0.63 for c in word)


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def spaces_section(contents: Contents) -> str:
    """Draw each space before and both together after alignment; each picture twice, for a screen and for a phone."""
    spaces = contents.spaces
    total = len(spaces.words)
    said = f"{total} source words as discs and their best translations as diamonds, each pair joined by a line."
    after, shown = "", {}
    for kind, size, labels in (("wide", (960.0, 600.0), 42), ("narrow", (330.0, 430.0), 13)):
        drawn, shown[kind] = pairs_picture(
            f"after-{kind}", spaces.after, spaces.words, size=size, labels=labels, title="Both spaces after alignment",
            description=said,
        )  # fmt: skip
        after += element("div", drawn, class_=kind)
    before = ""
    for number, side in enumerate(SIDES):
        words = [pair[number] for pair in spaces.words]
        drawn = ""
        for kind, size in (("wide", (470.0, 360.0)), ("narrow", (330.0, 280.0))):
            panel = one_picture(
                f"before-{side}-{kind}", spaces.before[number], words, side=side, size=size, shown=shown[kind],
                title=f"{side.capitalize()} space before alignment", description=f"{total} words, some labelled.",
            )  # fmt: skip
            drawn += element("div", panel, class_=kind)
        caption = f"{side.capitalize()}: its own two main directions, {percent(spaces.shares[number])} of the variance."
        before += f'<figure class="card"><figcaption>{caption}</figcaption>{drawn}</figure>'
    note = (
        '<span class="key source">●</span> source, <span class="key target">◆</span> target; each line joins a source '
        f"word to the best translation found for it. The plane holds {percent(spaces.shares[2])} of the variance of "
        "these words in the common space: points far apart here are far apart there, but close points need not be close. "
        "Words are labelled by frequency and free space, not by how well a pair fits."
    )
    lead = f"{total} frequent words and their best translations. Before, no word is paired and the axes are unrelated."
    body = (
        f'<h3>Before</h3><p>{lead}</p><div class="before">{before}</div>'
        f'<h3>After</h3><figure class="card"><figcaption>{note}</figcaption>{after}</figure>'
    )
    return fold("spaces", "Frequent words before and after", body)


def pairs_picture(
    name: str,
    points: tuple[Floats, Floats],
    words: Sequence[tuple[str, str]],
    *,
    size: tuple[float, float],
    labels: int,
    title: str,
    description: str,
) -> tuple[str, list[int]]:
    """Draw both sides in one panel, each pair joined by a line; also return the rows whose words are labelled."""
    width, height = size
    placed = fit_to_panel(np.concatenate(points), size)
    ends = placed[: len(words)], placed[len(words) :]
    room = Room(width, height)
    chosen: dict[int, list[Label]] = {}
    for i in range(len(words)):  # by frequency, not by how good a pair is
        if len(chosen) >= labels:
            break
        if both := _label_pair(room, words[i], (ends[0][i], ends[1][i])):
            chosen[i] = both
    quiet: list[str] = []
    loud: list[str] = []
    for i, (left, right) in enumerate(words):
        (x1, y1), (x2, y2) = ends[0][i], ends[1][i]
        group = (
            f"<title>{text(left)} → {text(right)}</title>"
            f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>{_dot(x1, y1, "source")}{_dot(x2, y2, "target")}'
        )
        (loud if i in chosen else quiet).append(f'<g class="pair{" loud" * (i in chosen)}">{group}</g>')
    written = "".join(_label(label) for both in chosen.values() for label in both)
    drawn = picture(name, size, title, description, "".join(quiet + loud) + written, kind="scatter")
    return drawn, list(chosen)


def one_picture(
    name: str, points: Floats, words: Sequence[str], *, side: str, size: tuple[float, float], shown: Sequence[int],
    title: str, description: str,
) -> str:  # fmt: skip
    """Draw one side in its own panel; words in ``shown`` are labelled if there is space."""
    placed = fit_to_panel(points, size)
    room = Room(*size)
    labels = []
    for i in shown:
        x, y = placed[i]
        if found := room.find(shorten(words[i], LONGEST_LABEL), x, y, side):
            labels.append(_label(found[0]))
            room.taken += [found[1], (x - 3, y - 3, x + 3, y + 3)]
    bold = set(shown)
    dots = [_dot(x, y, side, words[i], loud=i in bold) for i, (x, y) in enumerate(placed)]
    return picture(name, size, title, description, "".join(dots) + "".join(labels), kind="scatter")


def fit_to_panel(points: Floats, size: tuple[float, float]) -> Floats:
    """Scale points (s, 2) to the panel, each direction to its full width, y upwards."""
    low, high = points.min(axis=0), points.max(axis=0)
    share = (points - low) / np.where(high > low, high - low, 1)
    share = np.where(high > low, share, 0.5)
    inner = np.asarray(size) - 2 * PANEL_MARGIN
    placed: Floats = PANEL_MARGIN + np.stack([share[:, 0], 1 - share[:, 1]], axis=1) * inner
    return placed


def _label_pair(room: Room, words: tuple[str, str], ends: tuple[Floats, Floats]) -> list[Label] | None:
    """Return labels for both ends of a pair, or None."""
    kept = list(room.taken)
    dots = [(x - 4, y - 4, x + 4, y + 4) for x, y in ends]
    labels = []
    if all(room.free(dot) for dot in dots):
        room.taken += dots
        for side, word, (x, y) in zip(SIDES, words, ends, strict=True):
            if found := room.find(shorten(word, LONGEST_LABEL), x, y, side):
                labels.append(found[0])
                room.taken.append(found[1])
    if len(labels) < 2:
        room.taken = kept
        return None
    return labels


def _dot(x: float, y: float, side: str, word: str | None = None, *, loud: bool = False) -> str:
    """Draw a disc for the source, a diamond for the target, so that colour is not needed."""
    tip = f"<title>{text(word)}</title>" if word is not None else ""
    kind = f"dot {side}{' loud' * loud}"
    if side == "source":
        return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3">{tip}</circle>'
    return f'<path class="{kind}" d="M{x:.1f} {y - 3.8:.1f}l3.8 3.8-3.8 3.8-3.8-3.8z">{tip}</path>'


def _label(label: Label) -> str:
    place = f'x="{label.x:.1f}" y="{label.y:.1f}" text-anchor="{label.anchor}"'
    return f'<text class="label {label.side}" {place}>{text(label.word)}</text>'
