"""Line charts and scales as plain SVG: the page needs only a browser."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .markup import number, picture, text

FIGURE_WIDTH, FIGURE_HEIGHT = 340.0, 190.0
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 46.0, 12.0, 22.0, 26.0
LINE_ONLY = 120  # with this many points or more, only the line is drawn


@dataclass(frozen=True)
class StageLine:
    """Consecutive steps of one stage, drawn as one line; ``search`` runs are drawn in grey."""

    label: str
    start: int
    stop: int
    search: bool = False


def line_chart(
    name: str,
    values: Sequence[float],
    *,
    title: str,
    description: str,
    runs: Sequence[StageLine] = (),
    log: bool = False,
    unit: str = "step",
) -> str:
    """Draw values against steps, one line per run; non-finite values (on a log axis: ≤ 0) are skipped."""
    good = [math.isfinite(value) and (value > 0 or not log) for value in values]
    scale = _Scale([value for value, fine in zip(values, good, strict=True) if fine], log)
    last = max(len(values) - 1, 1)

    def place(i: int) -> tuple[float, float]:
        return MARGIN_LEFT + (FIGURE_WIDTH - MARGIN_LEFT - MARGIN_RIGHT) * (
            i / last if len(values) > 1 else 0.5
        ), scale.place(values[i])

    parts = [_grid(scale), _steps_axis(len(values), last, unit), _dividers(runs, last)]
    for run in runs or (StageLine("", 0, len(values)),):
        shown = [i for i in range(run.start, run.stop) if good[i]]
        kind = "search" if run.search else "solve"
        corners = [place(i) for i in shown]
        parts.append(f'<polyline class="line {kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}"/>')
        if len(values) <= LINE_ONLY:
            for i, (x, y) in zip(shown, corners, strict=True):
                tip = f"<title>{text(unit)} {i + 1}: {number(values[i], 4)}</title>"
                parts.append(f'<circle class="point {kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.4">{tip}</circle>')
    ends = [i for i, fine in enumerate(good) if fine]
    if ends:
        x, y = place(ends[-1])
        parts.append(f'<circle class="end" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
    return picture(name, (FIGURE_WIDTH, FIGURE_HEIGHT), title, description, "".join(parts), kind="chart")


def probability_scale(name: str, value: float, bounds: tuple[float, float], *, title: str, description: str) -> str:
    """Draw a bar from 0 to 1 in three zones, with a mark at ``value``."""
    width, height, edge, high = 340.0, 62.0, 8.0, 14.0
    inner = width - 2 * edge

    def at(share: float) -> float:
        return edge + inner * share

    low, top = bounds
    parts = []
    for start, stop, kind in ((0.0, low, "failed"), (low, top, "doubtful"), (top, 1.0, "right")):
        size = f'x="{at(start) + 1:.1f}" y="24" width="{at(stop) - at(start) - 2:.1f}" height="{high:g}" rx="3"'
        parts.append(f'<rect class="zone {kind}" {size}/>')
        anchor = "end" if kind == "right" else "middle"
        x = at(1.0) if kind == "right" else at((start + stop) / 2)
        parts.append(f'<text class="tick" x="{x:.1f}" y="54" text-anchor="{anchor}">{kind}</text>')
    x = at(min(max(value, 0.0), 1.0))
    parts.append(f'<path class="mark" d="M{x:.1f} 41V22l-6-10h12l-6 10z"/>')
    return picture(name, (width, height), title, description, "".join(parts), kind="scale")


def nice_ticks(low: float, high: float, wanted: int = 4) -> list[float]:
    """Return round numbers between ``low`` and ``high``."""
    if not high > low:
        return [low]
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * one for one in (1, 2, 2.5, 5, 10) if power * one >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten, with 2 and 5 between them if there are few."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
        ticks = [step * 10.0**k for k in powers for step in steps if low * 0.999 <= step * 10.0**k <= high * 1.001]
        if len(ticks) >= 3:
            break
    return ticks[:: math.ceil(len(ticks) / 6)] or [low]


class _Scale:
    """Convert values to heights in the chart, with ticks."""

    def __init__(self, values: Sequence[float], log: bool) -> None:
        self.log = log
        self.low, self.high = (min(values), max(values)) if values else (0.1, 1.0)
        if log:
            self.low, self.high = self.low / 1.12, self.high * 1.12
        else:
            pad = 0.06 * (self.high - self.low) or 0.05 * abs(self.high) or 1.0
            self.low, self.high = self.low - pad, self.high + pad
        self.ticks = log_ticks(self.low, self.high) if log else nice_ticks(self.low, self.high)

    def place(self, value: float) -> float:
        low, high, at = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return FIGURE_HEIGHT - MARGIN_BOTTOM - (FIGURE_HEIGHT - MARGIN_TOP - MARGIN_BOTTOM) * (at - low) / (high - low)


def _grid(scale: _Scale) -> str:
    parts = []
    for tick in scale.ticks:
        y = scale.place(tick)
        parts.append(f'<path class="grid" d="M{MARGIN_LEFT:g} {y:.1f}H{FIGURE_WIDTH - MARGIN_RIGHT:g}"/>')
        parts.append(
            f'<text class="tick" x="{MARGIN_LEFT - 6:g}" y="{y + 4:.1f}" text-anchor="end">{_tick(tick)}</text>'
        )
    return "".join(parts)


def _tick(value: float) -> str:
    return number(int(value)) if abs(value) >= 1 and value == int(value) else number(float(f"{value:.6g}"))


def _steps_axis(total: int, last: int, unit: str) -> str:
    y = FIGURE_HEIGHT - 8
    numbers = [1, *sorted({int(t) for t in nice_ticks(1, total, 5) if t == int(t) and 1 < t <= total})]
    parts = []
    right_end = -1e9
    for i in numbers:
        x = MARGIN_LEFT + (FIGURE_WIDTH - MARGIN_LEFT - MARGIN_RIGHT) * ((i - 1) / last if total > 1 else 0.5)
        shown = f"{unit} {i}" if i == 1 else str(i)
        wide = 6.5 * len(shown)
        start = x - (8 if i == 1 else wide / 2)
        if start < right_end + 6 or start + wide > FIGURE_WIDTH - 2:
            continue
        right_end = start + wide
        parts.append(f'<text class="tick" x="{start:.1f}" y="{y:g}">{text(shown)}</text>')
    return "".join(parts)


def _dividers(runs: Sequence[StageLine], last: int) -> str:
    """Draw a dashed line where a run starts, and its name above if it fits."""
    parts = []
    span = FIGURE_WIDTH - MARGIN_LEFT - MARGIN_RIGHT
    for run in runs:
        x = MARGIN_LEFT + span * max(run.start - 0.5, 0) / last
        end = MARGIN_LEFT + span * min((run.stop - 0.5) / last, 1)
        if run.start:
            parts.append(f'<path class="divider" d="M{x:.1f} {MARGIN_TOP - 14:g}V{FIGURE_HEIGHT - MARGIN_BOTTOM:g}"/>')
        if 6.4 * len(run.label) + 6 <= end - x:
            parts.append(f'<text class="tick" x="{x + 4:.1f}" y="{MARGIN_TOP - 6:g}">{text(run.label)}</text>')
    return "".join(parts)
