"""The README's example and the gallery run, quickly, and say what they claim."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "examples"
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


def test_readme(capsys):
    """Word for word; of the numbers only how many matches are right, since rounding differs from machine to machine."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n```\n(.*?)```", text, re.DOTALL).groups()
    exec(code, {})
    found = capsys.readouterr().out
    words, expected = (re.sub(r"[\d.e-]+", "#", one) for one in (found, printed))
    assert words == expected
    assert found.endswith("matches right: 1.0\n")
