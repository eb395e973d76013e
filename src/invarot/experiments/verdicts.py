"""All verdicts of a folder of results in one table."""

from __future__ import annotations

import json
from pathlib import Path

from ..files import reading, write_file
from . import NAMES
from .findings import OPEN, Finding, Verdict


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


def compare_runs(small: dict[str, list[Finding]], full: dict[str, list[Finding]]) -> list[dict[str, str]]:
    """Return both verdicts on each claim of a small run, and whether they agree.

    ``agrees`` is "yes", "too small" where the small run cannot tell, "no" where it says what the full one does not, and
    "not run" where the full run has no such claim. A full run of other data counts where there is none of the same.
    """
    rows = []
    for name, findings in small.items():
        places = [name, *(place for place in full if place.endswith(f"/{name}"))]
        verdicts: dict[str, Verdict] = {}
        for place in places:
            for one in full.get(place, []):
                verdicts.setdefault(one.claim, one.verdict)
        for one in findings:
            there = verdicts.get(one.claim)
            agrees = (
                "too small"
                if one.verdict == OPEN
                else "not run"
                if there is None
                else "yes"
                if there == one.verdict
                else "no"
            )
            rows.append(
                {"experiment": name, "claim": one.claim, "quick": one.verdict, "full": there or "–", "agrees": agrees}
            )
    return rows


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
