"""All verdicts of a folder of results in one table."""

from __future__ import annotations

import json
from pathlib import Path

from ..files import reading, write_file
from . import NAMES
from .findings import Finding


def collect(folder: Path) -> dict[str, list[Finding]]:
    """Return the findings of every manifest below ``folder``, by its place there: experiments in their order, the same side by side."""
    found: dict[str, list[Finding]] = {}
    order = {name: number for number, name in enumerate(NAMES)}
    for path in sorted(
        folder.rglob("manifest.json"), key=lambda one: (order.get(one.parent.name, len(order)), str(one))
    ):
        with reading(path):
            manifest = json.loads(path.read_text(encoding="utf-8"))
            findings = [Finding(**row) for row in manifest.get("findings", [])]
        if findings:
            found[path.parent.relative_to(folder).as_posix()] = findings
    return found


def as_table(found: dict[str, list[Finding]], *, link: str = "") -> str:
    """Return a Markdown table: claim, evidence, verdict, and the folder of the data (after ``link``)."""
    lines = ["| claim | evidence | verdict | data |", "|---|---|---|---|"]
    for name, findings in found.items():
        lines += [
            f"| {one.claim} | {one.evidence} | **{one.verdict}** | [{name}]({link}{name}) |".replace("\n", " ")
            for one in findings
        ]
    return "\n".join(lines) + "\n"


def write_verdicts(folder: Path) -> Path:
    """Write ``verdicts.md`` of a folder of results, from its manifests."""
    path = folder / "verdicts.md"
    text = "# Claim, evidence, verdict\n\nWritten by `invarot reproduce`, from the manifests below this folder.\n\n"
    with write_file(path) as stream:
        stream.write((text + as_table(collect(folder))).encode())
    return path
