"""The tuned numbers: at most 25, all in tuning.py, each with a line in results/tuning.md."""

from pathlib import Path

from benchmarks.ablation import tuned_numbers
from benchmarks.architecture import tuned

ROOT = Path(__file__).parents[2]


def test_at_most_25_and_none_elsewhere():
    count, outside, _ = tuned(ROOT / "src" / "invarot" / "alignment")
    assert outside == []
    assert count <= 25


def test_each_has_its_origin_written_down():
    page = (ROOT / "results" / "tuning.md").read_text(encoding="utf-8").partition("<!-- below: by hand -->")[2]
    assert [name for name in tuned_numbers() if name not in page] == []


def test_a_number_without_a_reason_is_counted(tmp_path):
    (tmp_path / "tuning.py").write_text("ONE = 3\nTWO = 2 * ONE\nBOTH = 5, 20\n")
    (tmp_path / "solve.py").write_text("def solve(x, limit=0.3):\n    return x[:2] * 0.5 if x > 17 else -x\n")
    count, outside, _ = tuned(tmp_path)
    assert (count, len(outside)) == (5, 2)
