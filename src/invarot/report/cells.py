"""One self-contained HTML page about two aligned assays."""

from __future__ import annotations

import base64
import io
import os
from importlib.resources import files
from typing import Any

from ..cells import plot
from ..files import write_file
from .markup import count, section, text

MEANING = {
    "aligned": "The two assays are aligned.",
    "coarse": "Types and neighbourhoods of cells are right; single matches need not be.",
    "doubtful": "The evidence is not conclusive. Check the joint space against marker genes before you use it.",
    "failed": "The evidence does not support this map. Do not use the joint space without checking it against marker genes.",
}


def write_cells_page(
    rna: Any,
    atac: Any,
    path: str | os.PathLike[str],
    *,
    color: str | None = None,
    names: tuple[str, str] = ("RNA", "ATAC"),
) -> None:
    """Write the report of an alignment by :func:`invarot.cells.align` to the file ``path``, atomically."""
    page = render_cells_page(rna, atac, color=color, names=names).encode("utf-8")
    with write_file(path) as stream:
        stream.write(page)


def render_cells_page(rna: Any, atac: Any, *, color: str | None, names: tuple[str, str]) -> str:
    """Return the page as HTML."""
    facts = rna.uns["invarot"]
    word = str(facts["verdict"]["word"])
    sizes = " and ".join(
        f"{count(table.n_obs)} cells of {name}" for table, name in zip((rna, atac), names, strict=True)
    )
    style = files("invarot.report").joinpath("page.css").read_text(encoding="utf-8").strip()
    body = _verdict(facts) + _picture(rna, atac, color, names) + _preparation(facts) + _settings(facts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="invarot">
<title>{text(word.capitalize())}: {text(" and ".join(names))} · invarot</title>
<style>{style}
.joint {{ max-width: 100%; height: auto; background: #fff; border-radius: .5rem; }}</style>
</head>
<body>
<header>
<p class="eyebrow">invarot · two assays in one space, nothing paired</p>
<h1>{text(" and ".join(names))}</h1>
<p class="soft">{text(sizes)}</p>
</header>
<main id="main">
{body}
</main>
<footer><p>Written by invarot. This file is self-contained: it loads nothing and sends nothing.</p></footer>
</body>
</html>
"""


def _verdict(facts: dict[str, Any]) -> str:
    verdict = facts["verdict"]
    word = str(verdict["word"])
    reasons = "".join(f"<li>{text(one)}</li>" for one in verdict["reasons"])
    shade = word if word in ("aligned", "doubtful", "failed") else "aligned"
    return section(
        "verdict",
        "Verdict",
        f'<div class="verdict card"><div><p class="word {shade}">{text(word.capitalize())}</p><p class="probability">'
        f"Probability that the map is right: <strong>{float(verdict['probability']):.2f}</strong></p></div>"
        f"<p>{text(MEANING.get(word, ''))} No label was used to align or to judge.</p></div><ul>{reasons}</ul>",
    )


def _picture(rna: Any, atac: Any, color: str | None, names: tuple[str, str]) -> str:
    stream = io.BytesIO()
    plot(rna, atac, color=color, names=names).savefig(stream, format="png")
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    told = "The two assays before the alignment, above, and both in the joint space, below."
    return section(
        "spaces", "Before and after", f'<img class="joint" src="data:image/png;base64,{data}" alt="{text(told)}">'
    )


def _preparation(facts: dict[str, Any]) -> str:
    reasons = "".join(f"<li>{text(one)}</li>" for one in facts["preparation"])
    rows = "".join(
        f"<tr><td>{rank}</td><td>{float(score):.3f}</td></tr>" for rank, score in enumerate(facts["choices"], 1)
    )
    head = "<tr><th>plan of the search</th><th>agreement</th></tr>"
    note = "Many starts propose plans; the one under which the two assays agree best is kept."
    return section("preparation", "Preparation", f"<ul>{reasons}</ul><p>{note}</p><table>{head}{rows}</table>")


def _settings(facts: dict[str, Any]) -> str:
    shown = {**facts["options"], **{f"version of {name}": value for name, value in facts["versions"].items()}}
    rows = "".join(
        f"<tr><td>{text(name)}</td><td>{text(value if isinstance(value, str) else ', '.join(map(str, value)))}</td></tr>"
        for name, value in shown.items()
    )
    return section("settings", "Settings", f"<table>{rows}</table>")
