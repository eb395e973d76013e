"""Pages and results: links lead somewhere, and every result stands beside the command that makes it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    *sorted(path for path in (ROOT / "docs").glob("*.md") if path.name != "changelog.md"),  # made from CHANGELOG.md
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    *sorted(RESULTS.glob("*.md")),
]
FILES = [path for path in sorted(RESULTS.rglob("*")) if path.is_file() and RESULTS / "raw" not in path.parents]
LINK = re.compile(r"\]\(([^)\s]+)\)")
MIB = 1 << 20


def links(page: Path) -> list[str]:
    """The relative ones, without what follows a #."""
    found = (link.partition("#")[0] for link in LINK.findall(page.read_text(encoding="utf-8")))
    # the gallery is made with the site, and make links checks it there
    return [link for link in found if link and "://" not in link and "gallery/" not in link]


def index() -> dict[str, str]:
    """The commands beside each file of the table in results/README.md."""
    rows = (
        line.split("|")[1:3] for line in (RESULTS / "README.md").read_text(encoding="utf-8").splitlines() if "|" in line
    )
    return {link: command for files, command in rows for link in LINK.findall(files)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_a_file(page):
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_has_the_marks_of_a_merge(page):
    assert re.findall(r"^(?:<{7}|>{7}) .*$", page.read_text(encoding="utf-8"), re.MULTILINE) == []


def test_a_dead_link_would_be_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[a](there.md#part), [b](gone.csv), ![](https://example.org/c.png), [d](#here)")
    assert links(page) == ["there.md", "gone.csv"]


def test_no_result_is_larger_than_a_megabyte():
    assert [path.name for path in FILES if path.stat().st_size > MIB] == []


def test_every_result_is_beside_its_command():
    listed = {RESULTS / name for name in index()} | {RESULTS / "README.md"}
    loose = [path for path in FILES if path not in listed and not (path.parent / "manifest.json").exists()]
    assert [str(path.relative_to(RESULTS)) for path in loose] == []


@pytest.mark.parametrize(("name", "command"), index().items(), ids=str)
def test_the_command_is_in_the_repository(name, command):
    scripts = re.findall(r"python (benchmarks/\w+\.py)", command)
    modules = [module.replace(".", "/") for module in re.findall(r"python -m ([\w.]+)", command)]
    tests = re.findall(r"(tests/[\w/]+\.py)", command)
    assert scripts or modules or tests or "`invarot " in command
    there = [ROOT / script for script in (*scripts, *modules, *tests)]
    assert [path for path in there if not path.exists() and not path.with_suffix(".py").exists()] == []


@pytest.mark.parametrize("path", sorted(RESULTS.rglob("manifest.json")), ids=lambda path: path.parent.name)
def test_a_manifest_says_where_its_numbers_come_from(path):
    manifest = json.loads(path.read_text(encoding="utf-8"))
    assert manifest["command"].startswith("invarot reproduce ")
    for key in ("commit", "versions", "machine", "seconds_of_work"):
        assert manifest[key], key
