"""The shape of the code in numbers: no setting of the caller is changed outside the budget."""

from pathlib import Path

from benchmarks.architecture import hidden_variants
from benchmarks.names import trees

SOLVER = Path(__file__).parents[2] / "src" / "invarot" / "alignment"


def test_no_setting_is_replaced_outside_the_budget():
    assert hidden_variants(trees(SOLVER)) == 0


def test_one_that_is_replaced_is_counted(tmp_path):
    (tmp_path / "budget.py").write_text("replace(budget, tol=1)\n")
    (tmp_path / "search.py").write_text("replace(asked, name='seeds')\nreplace(problem, x=x)\ntext.replace('a', 'b')\n")
    assert hidden_variants(trees(tmp_path)) == 1
