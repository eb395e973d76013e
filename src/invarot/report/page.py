"""One self-contained HTML page about a learned translation, readable offline."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import PurePath

from ..files import check_target, write_file
from ..translation.model import Translation
from ..words.writers import SUFFIXES
from .contents import Contents, Dictionary, gather_contents
from .dynamics import dynamics_section
from .explorer import explorer_section
from .listing import settings_section, translations_section
from .markup import count, text
from .outcome import accuracy_section, evidence_section, verdict_section
from .scatter import spaces_section

SECTIONS = (
    ("verdict", "Verdict", verdict_section),
    ("accuracy", "Accuracy", accuracy_section),
    ("explorer", "Both spaces", lambda contents: explorer_section(contents.explorer, thing="word", note=NOTE)),
    ("translations", "Translations", translations_section),
    ("evidence", "Evidence", lambda contents: evidence_section(contents.model.verdict, "word")),
    ("dynamics", "How it was learned", dynamics_section),
    ("spaces", "Before and after", spaces_section),
    ("settings", "Settings", settings_section),
)
NOTE = "The plane is that of the largest variance of the common space: points far apart here are far apart there, but close points need not be close."
ICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='6' cy='8' r='4.5' "
    "fill='%232563c4'/><circle cx='10' cy='8' r='4.5' fill='%23d9730d' fill-opacity='.75'/></svg>"
)


def write_page(
    model: Translation,
    path: str | os.PathLike[str],
    *,
    dictionary: Dictionary | None = None,
    overwrite: bool = True,
) -> None:
    """Write the report of ``model`` to the file ``path``, atomically.

    Parameters
    ----------
    model : Translation
    path : the HTML file, or "-" for standard output
    dictionary : path of a dictionary file, or (source, target) pairs
        Used only to score the translations and to mark the listed ones.
    overwrite : whether an existing file may be replaced

    Examples
    --------
    >>> write_page(model, "en-es.html", dictionary="en-es.5000-6500.txt")  # doctest: +SKIP
    """
    check_target(path, overwrite=overwrite)
    page = render_page(gather_contents(model, dictionary)).encode(
        "utf-8", "backslashreplace"
    )  # a word may be half a character
    with write_file(path, overwrite=overwrite) as stream:
        stream.write(page)


def render_page(contents: Contents) -> str:
    """Return the page as HTML."""
    model = contents.model
    names = " → ".join(short_name(side.source) for side in (model.source, model.target))
    return render_shell(
        model.verdict.word, names, eyebrow="invarot · word translation without a dictionary",
        sizes=f"{count(len(model.source))} × {count(len(model.target))} words, nothing paired",
        sections=[(name, label, draw(contents)) for name, label, draw in SECTIONS], scripts=("fold", "explorer", "page"),
    )  # fmt: skip


def render_shell(
    word: str,
    heading: str,
    *,
    eyebrow: str,
    sizes: str,
    sections: Sequence[tuple[str, str, str]],
    scripts: Sequence[str],
) -> str:
    """Return a page around its sections: name, label in the navigation, markup (empty: left out)."""
    style, script = _asset("page.css"), "\n".join(_asset(f"{name}.js") for name in scripts)
    links = "".join(f'<li><a href="#{name}">{label}</a></li>' for name, label, drawn in sections if drawn)
    # Only this script may run, whatever the words of the vocabulary contain.
    allowed = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; script-src 'sha256-{allowed}'; style-src 'unsafe-inline'; img-src data:; "
    policy += "base-uri 'none'; form-action 'none'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="invarot">
<title>{text(word.capitalize())}: {text(heading)} · invarot</title>
<link rel="icon" href="{text(ICON)}">
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header>
<p class="eyebrow">{text(eyebrow)}</p>
<h1>{text(heading)}</h1>
<p class="soft">{text(sizes)}</p>
<nav aria-label="Sections"><ul>{links}</ul></nav>
</header>
<main id="main" tabindex="-1">
{"".join(drawn for _, _, drawn in sections)}
</main>
<footer><p>Written by invarot. This file is self-contained: it loads nothing and sends nothing.</p></footer>
<script>{script}</script>
</body>
</html>
"""


def short_name(source: str) -> str:
    """Shorten a source for a heading: ``/data/wiki.en.vec.gz`` → ``wiki.en``."""
    name = PurePath(source.rpartition(", ")[2]).name.removesuffix(".gz")
    kind = PurePath(name).suffix
    return (name.removesuffix(kind) if kind in SUFFIXES else name) or source


def _asset(name: str) -> str:
    return files("invarot.report").joinpath(name).read_text(encoding="utf-8").strip()
