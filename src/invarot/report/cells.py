"""One self-contained HTML page about two aligned assays."""

from __future__ import annotations

import base64
import io
import os
from typing import Any

from ..cells import plot
from ..files import write_file
from .markup import count, section, text
from .page import render_shell

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
    sections = [
        ("verdict", "Verdict", _verdict(facts)),
        ("spaces", "Before and after", _picture(rna, atac, color, names)),
        ("preparation", "Preparation", _preparation(facts)),
        ("settings", "Settings", _settings(facts)),
    ]
    return render_shell(
        word, " and ".join(names), eyebrow="invarot · two assays in one space, nothing paired", sizes=sizes,
        sections=sections, scripts=(),
    )  # fmt: skip


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
