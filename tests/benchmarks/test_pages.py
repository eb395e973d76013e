"""What the benchmarks write: a header that names the commit, hand-written notes that stay, cells counted from runs."""

from __future__ import annotations

import csv

from benchmarks import synthetic
from benchmarks.provenance import MARK, header, write_page
from invarot.experiments.provenance import describe_commit


def test_the_header_names_command_and_commit():
    lines = header("python one.py", "python two.py")
    assert lines[:3] == ["    python one.py", "    python two.py", ""]
    assert describe_commit() in lines[3]


def test_what_was_written_by_hand_stays(tmp_path):
    page = tmp_path / "page.md"
    assert write_page(page, ["# First", "", "| 1 |"]) == "# First\n\n| 1 |\n"
    assert page.read_text() == "# First\n\n| 1 |\n"
    page.write_text(page.read_text() + f"\n{MARK}\nA note.\n")
    for _ in range(2):
        write_page(page, ["# Second"])
        assert page.read_text() == f"# Second\n\n{MARK}\nA note.\n"


def row(**values):
    usual = {"case": "noisy", "kind": "gaussian", "d": 3, "n": 50, "noise": 0.1, "seed": 0, "found": 0.9, "reference": 0.9,
             "error": 0.1, "reference_error": 0.1, "rivals": 0, "verdict": "aligned", "objective": 1.0,
             "reference_objective": 1.0}  # fmt: skip
    return {name: str(value) for name, value in {**usual, **values}.items()}


def test_cells_count_what_was_reached_and_what_was_not(tmp_path):
    rows = [
        row(),
        row(found=0.5),  # as high as the truth: no search could do better
        row(found=0.5, objective=0.9, verdict="failed"),  # missed
        row(rivals=1),
        row(d=10, found=0.895, error=0.3),
    ]
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    synthetic.summarise(path, tmp_path)
    with (tmp_path / "synthetic.csv").open() as file:
        cells = list(csv.DictReader(file))
    assert [[cell[name] for name in ("d", *synthetic.COUNTS)] for cell in cells] == [
        ["3", "4", "1", "1", "1", "1", "2", "3"],
        ["10", "1", "0", "1", "0", "0", "1", "1"],
    ]
    assert cells[1]["median_error"] == "0.3"
    page = (tmp_path / "synthetic.md").read_text()
    assert "| noise 0.1 | 50 | 5 | 2 of 4 (50.0%) | 1 | 1 | 1 | 4 |" in page
    assert "Missed by the search: 1 runs" in page
