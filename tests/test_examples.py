"""The gallery runs, quickly, and says what it claims."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

GALLERY = Path(__file__).resolve().parents[1] / "examples"
SAYS = {
    "rotated_cloud": "invarot.align:   100% of the points matched",
    "other_dimension": "with the missing points weighted 0: 100% by the plan",
    "gromov_wasserstein": "one Gromov–Wasserstein step moves the plan by",
    "known_pairs": "with 3 pairs:  100% matched; aligned",
}


@pytest.mark.parametrize("name", SAYS)
def test_example(name, capsys):
    runpy.run_path(str(GALLERY / f"{name}.py"), run_name="__main__")
    assert SAYS[name] in capsys.readouterr().out


def test_no_example_is_left_out():
    assert {path.stem for path in GALLERY.glob("*.py")} == set(SAYS)
