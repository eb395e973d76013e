"""Write the tables of results/cells.md from cells.csv, between its two marks.

python -m benchmarks.cells_page --out results --commit COMMIT
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path
from typing import Any

START, END = "<!-- tables: python -m benchmarks.cells_page -->", "<!-- end of tables -->"
Row = dict[str, Any]


def share(row: Row, name: str) -> str:
    return f"{100 * float(row[name]):.1f} %"


def span(rows: list[Row], name: str) -> str:
    values = sorted(100 * float(row[name]) for row in rows)
    return f"{values[0]:.1f} to {values[-1]:.1f} %"


def count_words(rows: list[Row]) -> str:
    counts = Counter(row["verdict"] for row in rows)
    return ", ".join(f"{counts[word]} {word}" for word in ("aligned", "coarse", "doubtful", "failed") if counts[word])


def is_right(row: Row) -> bool:
    """At least nine tenths of the labels within reach, both ways."""
    return all(float(row[f"to_{side}"]) >= 0.9 * float(row[f"reach_{side}"]) for side in ("second", "first"))


def describe_snare(rows: list[Row]) -> list[str]:
    out = ["| SNARE-seq | wanted | FOSCTTM | labels RNA → ATAC | ATAC → RNA | verdict |", "|---|---|---|---|---|---|"]
    for row in rows:
        if row["case"] == "SNARE, all cells":
            out.append(
                f"| all 1,047 cells | 0.145, 98 % | {float(row['foscttm']):.3f} | {share(row, 'to_second')} | "
                f"{share(row, 'to_first')} | {row['verdict']} ({row['probability']}) |"
            )
    halves = [row for row in rows if row["case"] == "SNARE, disjoint halves"]
    if halves:
        values = sorted(float(row["foscttm"]) for row in halves)
        out.append(
            f"| disjoint halves, {len(halves)} splits | 0.155, coarse | {values[0]:.3f} to {values[-1]:.3f}, mean "
            f"{sum(values) / len(values):.3f} | {span(halves, 'to_second')} | {span(halves, 'to_first')} | {count_words(halves)} |"
        )
    return out


def describe_missing(rows: list[Row]) -> list[str]:
    out = [
        "| missing | labels to ATAC | to RNA | weight of cells without a counterpart | verdict |",
        "|---|---|---|---|---|",
    ]
    missing = sorted((row for row in rows if row["case"] == "SNARE, a type missing"), key=lambda row: row["draw"])
    for row in missing:
        name = row["draw"].replace("first", "RNA").replace("second", "ATAC")
        out.append(
            f"| {name} | {share(row, 'to_second')} | {share(row, 'to_first')} | {row['orphans']} | {row['verdict']} ({row['probability']}) |"
        )
    met = sum(
        min(float(row["to_second"]), float(row["to_first"])) >= 0.95 and float(row["orphans"]) <= 0.3 for row in missing
    )
    return [*out, "", f"At least 95 % both ways and a weight of at most 0.3: {met} of {len(missing)}."]


def describe_simulated(rows: list[Row]) -> list[str]:
    rows = [row for row in rows if row["case"].startswith("simulated")]
    if not rows:
        return ["Simulated draws: not run with this version."]
    worst = [min(float(row["to_second"]), float(row["to_first"])) for row in rows]
    reach = [min(float(row["reach_second"]), float(row["reach_first"])) for row in rows]
    sound = [row["verdict"] in ("aligned", "coarse") for row in rows]
    right = [is_right(row) for row in rows]
    out = [
        f"Simulated, {len(rows)} draws: at least 95 % of the labels both ways in {sum(one >= 0.95 for one in worst)} (wanted 45 of 50), "
        f"at least 90 % in {sum(one >= 0.9 for one in worst)}. Five neighbours at the true places reach 95 % in "
        f"{sum(one >= 0.95 for one in reach)}. At least nine tenths of what they reach: {sum(right)}.",
        "",
        f"The verdict: of {sum(right)} right ones {sum(a and b for a, b in zip(right, sound, strict=True))} are called aligned or coarse; "
        f"of {len(rows) - sum(right)} others {sum(b and not a for a, b in zip(right, sound, strict=True))} are.",
        "",
        "| draw | form, chromatin | cells | labels | within reach | FOSCTTM | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for row, low in sorted(zip(rows, worst, strict=True), key=lambda one: int(one[0]["draw"])):
        if low < 0.95 or row["verdict"] not in ("aligned", "coarse"):
            out.append(
                f"| {row['draw']} | {row['case'].removeprefix('simulated ')} | {row['cells'].replace('x', '×')} | {share(row, 'to_second')}, "
                f"{share(row, 'to_first')} | {share(row, 'reach_second')}, {share(row, 'reach_first')} | {row['foscttm']} | "
                f"{row['verdict']} ({row['probability']}) |"
            )
    return [*out, "", "The table leaves out draws with at least 95 % that are called aligned or coarse."]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--commit", required=True, help="that made cells.csv")
    chosen = parser.parse_args()
    rows = list(csv.DictReader((chosen.out / "cells.csv").open(encoding="utf-8")))
    page = chosen.out / "cells.md"
    text = page.read_text(encoding="utf-8")
    before, after = text.split(START)[0], text.split(END)[1]
    parts = [describe_snare(rows), describe_missing(rows), describe_simulated(rows)]
    tables = "\n\n".join("\n".join(part) for part in parts)
    page.write_text(f"{before}{START}\n\nCommit {chosen.commit}.\n\n{tables}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
