"""The README's example and the gallery run, quickly, and say what they claim."""

from __future__ import annotations

import re
import runpy
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "examples"
SAYS = {  # patterns: equal numbers are equal, a small one is small
    "rotated_cloud": r"invarot.align:   100% of the points matched",
    "other_dimension": r"with the missing points weighted 0: 100% by the plan",
    "gromov_wasserstein": r"alignment +(\d\.\d{4}).*alone +\1.*loss +(\d+\.\d{4}).*‖M‖² +\2.*moves the plan by \d\.\de-(0[6-9]|1\d) ",
    "known_pairs": r"with 3 pairs:  100% matched; aligned",
    "scan_registration": r"verdict aligned.*where points belong: 0\.0",
    "words_in_python": r"water +→ agua.*8\d% of 407 everyday words right.*after loading: {'water': \[\('agua'",
    "words_in_the_shell": r"Water: not in the vocabulary, water is.*1000 translations.*precision@1 +0\.8",
    "cells_two_assays": r"types carried over from RNA: [789]\d% right",
    "embedding_models": r"nearest of 500: (100|9\d)%",
    "sklearn_pipeline": r"without the alignment: [1-4]\d%.*with it: +(100|9\d)%",
    "torch_gradients": r"Tensor torch.float64 aligned.*torch.bfloat16.*ndarray Tensor Tensor",
    "symmetric_clouds": r"equal arms: doubtful.*symmetric: True.*one arm longer: aligned.*unrelated clouds: (failed|doubtful)",
    "several_spaces": r"first–second +aligned.*stranger +unrelated.*second to third.*: (100|9\d)%",
    "hard_pair": r"quick +failed.*high effort +aligned +100%.*10 known pairs +aligned +100%",
}
LONGEST, LINES = 30, 60  # seconds on an idle core, lines


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.torch) if "torch" in name else name for name in SAYS]
)
@pytest.mark.filterwarnings("ignore::invarot.errors.NotConverged")  # of a registration: its verdict is checked
def test_example(name, capsys):
    pyplot = pytest.importorskip(
        "matplotlib.pyplot", reason="matplotlib is not installed: pip install 'invarot[report]'"
    )
    begun = time.process_time()
    runpy.run_path(str(GALLERY / f"{name}.py"), run_name="__main__")
    assert re.search(SAYS[name], capsys.readouterr().out, re.DOTALL)
    assert pyplot.get_fignums(), "an example has a picture"
    assert time.process_time() - begun < LONGEST
    pyplot.close("all")


@pytest.mark.parametrize("name", SAYS)
def test_an_example_is_short_and_has_a_title(name):
    lines = (GALLERY / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < LINES
    assert lines[0] == '"""'
    assert lines[2] == "=" * len(lines[1])


def test_no_example_is_left_out():
    assert {path.stem for path in GALLERY.glob("*.py")} == set(SAYS)


def test_readme(capsys):
    """Word for word; of the numbers only how many matches are right, and not which of two starts that lead to one answer is ahead
    in the last digits, since rounding differs from machine to machine.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n```\n(.*?)```", text, re.DOTALL).groups()
    exec(code, {})
    found = capsys.readouterr().out
    words, expected = (re.sub(r"[\d.e-]+", "#", one) for one in (found, printed))
    assert words == expected
    assert found.endswith("matches right: 1.0\n")
