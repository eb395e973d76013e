"""The head of a page in results/, and how such a page is written."""

from __future__ import annotations

from pathlib import Path

from invarot.experiments.provenance import describe_commit, describe_machine

MARK = "<!-- below: by hand -->"


def header(*commands: str) -> list[str]:
    """Lines that say what makes the page: the commands, then the commit, the machine and the versions it was made with."""
    return [
        *(f"    {command}" for command in commands),
        "",
        f"Page written at commit {describe_commit()}, {describe_machine()}.",
        "",
    ]


def write_page(path: Path, lines: list[str]) -> str:
    """Write a page and return its text; what stands below the mark in an earlier one was written by hand and stays."""
    text = "\n".join(lines).rstrip("\n") + "\n"
    by_hand = path.read_text(encoding="utf-8").partition(MARK)[2] if path.exists() else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n{MARK}{by_hand}" if by_hand else text, encoding="utf-8")
    return text
