"""Put the verdicts of results/reproduce into docs/reproduce.md: ``python benchmarks/reproduce_page.py``."""

from __future__ import annotations

from pathlib import Path

from invarot.experiments.verdicts import as_table, collect

ROOT = Path(__file__).parents[1]
START, END = "<!-- verdicts -->\n", "<!-- end of verdicts -->\n"


def main() -> None:
    page = ROOT / "docs" / "reproduce.md"
    before, rest = page.read_text(encoding="utf-8").split(START)
    table = as_table(collect(ROOT / "results" / "reproduce"), link="../results/reproduce/")
    page.write_text(before + START + table + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
