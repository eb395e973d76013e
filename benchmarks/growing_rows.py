"""Rows of a CSV file that grow one by one, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of the file; none if there is no file."""
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def add_row(path: Path, row: Mapping[str, Any], fields: Sequence[str]) -> None:
    """Add a row at the end; a new file begins with the fields."""
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fields)
        if fresh:
            writer.writeheader()
        writer.writerow(row)
