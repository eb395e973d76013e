"""The README's example and the gallery run, quickly, and say what they claim."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "examples"
SAYS = {  # patterns: equal numbers are equal, a small one is small
    "rotated_cloud": r"invarot.align:   100% of the points matched",
    "other_dimension": r"with the missing points weighted 0: 100% by the plan",
    "gromov_wasserstein": r"alignment +(\d\.\d{4}).*alone +\1.*loss +(\d+\.\d{4}).*‖M‖² +\2.*moves the plan by \d\.\de-(0[6-9]|1\d) ",
    "known_pairs": r"with 3 pairs:  100% matched; aligned",
}


@pytest.mark.parametrize("name", SAYS)
def test_example(name, capsys):
    runpy.run_path(str(GALLERY / f"{name}.py"), run_name="__main__")
    assert re.search(SAYS[name], capsys.readouterr().out, re.DOTALL)


def test_no_example_is_left_out():
    assert {path.stem for path in GALLERY.glob("*.py")} == set(SAYS)


def test_readme(capsys):
    """Word for word; of the numbers only how many matches are right, since rounding differs from machine to machine."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n```\n(.*?)```", text, re.DOTALL).groups()
    exec(code, {})
    found = capsys.readouterr().out
    words, expected = (re.sub(r"[\d.e-]+", "#", one) for one in (found, printed))
    assert words == expected
    assert found.endswith("matches right: 1.0\n")
