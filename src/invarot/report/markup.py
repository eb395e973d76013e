"""Text escaped for HTML and SVG, and readable numbers."""

from __future__ import annotations

import html
import math
from typing import Any

LONG_WORD, LONGEST_SHOWN = 14, 80  # length above which a word may break across lines; longest word shown
REPLACEMENT = "\ufffd"
JOINERS = "\u200c\u200d"  # format characters that Persian and Hindi words need


def text(value: object) -> str:
    """Escape ``value`` for HTML, content or attribute: words are untrusted data.

    Control characters, lone surrogates and invisible format characters (bidirectional overrides among them) become
    U+FFFD: they cannot be displayed, and some change the text next to them.
    """
    return html.escape(visible(str(value)), quote=True)


def visible(value: str) -> str:
    """Replace what cannot be displayed; the result is not escaped."""
    return value if value.isascii() and value.isprintable() else "".join(_replace_invisible(c) for c in value)


def _replace_invisible(c: str) -> str:
    if c.isprintable() or c in JOINERS:
        return c
    return " " if c.isspace() else REPLACEMENT


def shorten(word: str, limit: int) -> str:
    """Cut to at most ``limit`` characters, with an ellipsis if something was cut."""
    return word if len(word) <= limit else word[: limit - 1] + "…"


def count(value: int) -> str:
    return f"{value:,}"


def percent(share: float, digits: int = 0) -> str:
    return f"{minus(f'{100 * share:.{digits}f}')} %" if math.isfinite(share) else "not known"


def number(value: Any, digits: int = 3) -> str:
    """Format ``value`` to ``digits`` significant digits (whole from a thousand on); a missing number is a dash."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if isinstance(value, int) or abs(value) >= 1000:
        return minus(f"{value:,.0f}")
    return minus(f"{value:.{digits}g}")


def minus(written: str) -> str:
    """Replace the hyphen of a number by a minus sign."""
    return written.replace("-", "−")


def element(tag: str, content: str, **attributes: object) -> str:
    """Return ``<tag …>content</tag>`` around escaped markup; attributes are escaped, None skips one."""
    given = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items() if value is not None)
    written = "".join(f' {name}="{text(value)}"' for name, value in given)
    return f"<{tag}{written}>{content}</{tag}>"


def section(name: str, heading: str, body: str) -> str:
    """Return a section of the page with its heading."""
    title = element("h2", text(heading), id=f"{name}-heading")
    return element("section", title + body, id=name, aria_labelledby=f"{name}-heading")


def fold(name: str, heading: str, body: str) -> str:
    """Return a section that is closed until it is asked for."""
    title = element("h2", text(heading), id=f"{name}-heading")
    inside = f'<details class="fold"><summary>{title}</summary>{body}</details>'
    return element("section", inside, id=name, class_="folded", aria_labelledby=f"{name}-heading")


def picture(name: str, size: tuple[float, float], title: str, description: str, inside: str, *, kind: str) -> str:
    """Return an SVG picture with title and description for screen readers."""
    head = element("title", text(title), id=f"{name}-title") + element("desc", text(description), id=f"{name}-desc")
    return element(
        "svg", head + inside, viewBox=f"0 0 {size[0]:g} {size[1]:g}", role="img", class_=kind, id=name,
        aria_labelledby=f"{name}-title", aria_describedby=f"{name}-desc",
    )  # fmt: skip


def bar(share: float) -> str:
    """Return a bar filled to ``share``."""
    width = 100 * min(max(share, 0.0), 1.0) if math.isfinite(share) else 0.0
    return f'<dd class="bar" aria-hidden="true"><span style="width:{width:.1f}%"></span></dd>'


def word_markup(word: str) -> str:
    """Return a word isolated in its text direction; only a very long one may break across lines."""
    return f"<bdi{' class=long' if len(word) > LONG_WORD else ''}>{text(shorten(word, LONGEST_SHOWN))}</bdi>"
