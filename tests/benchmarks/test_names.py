"""A name in capitals stands for one number."""

from pathlib import Path

from benchmarks.names import shared_names

PACKAGE = Path(__file__).parents[2] / "src" / "invarot"


def test_a_number_has_a_name_of_its_own():
    assert shared_names(PACKAGE) == {}


def test_a_name_with_two_meanings_is_found(tmp_path):
    (tmp_path / "one.py").write_text("FEW, SIZE = 5, 1 << 20\nKINDS = ('a', 'b')\nWIDE: float = 2.5\n")
    (tmp_path / "two.py").write_text("FEW = 'words'\nKINDS = ('c',)\nSIZE = 2 * OTHER\n")
    assert shared_names(tmp_path) == {"FEW": ["one.py", "two.py"], "SIZE": ["one.py", "two.py"]}
