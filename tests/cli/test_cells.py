"""``invarot cells``: what its options hand on."""

from __future__ import annotations

import pytest

import invarot
from invarot import InputError

from ..cells.conftest import make_tables
from ..commands import make_runner

pytest.importorskip("anndata")
# anndata 0.10 says so of a table without variables
pytestmark = pytest.mark.filterwarnings("ignore:Transforming to str index")


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Return a function that runs the command and returns the overlap that the library was asked for."""
    from invarot.cli.app import app
    from invarot.cli.cells import cells_command  # noqa: F401 -- registers the command

    for name, table in zip(("rna", "atac"), make_tables(cells=20), strict=True):
        table.write_h5ad(tmp_path / f"{name}.h5ad")
    asked = []

    def align(*tables, overlap, **options):
        asked.append(overlap)
        raise InputError("no need to solve")

    monkeypatch.setattr(invarot.cells, "align", align)
    files = [str(tmp_path / name) for name in ("rna.h5ad", "atac.h5ad")]

    def run(*options):
        done = make_runner().invoke(app, ["cells", *files, "-o", str(tmp_path / "joint.h5ad"), "-q", *options])
        assert isinstance(done.exception, InputError)
        return asked[0] if asked else str(done.exception)

    return run


@pytest.mark.parametrize(
    ("options", "overlap"), [((), "auto"), (("--overlap", "none"), None), (("--overlap", "0.5"), 0.5)]
)
def test_the_overlap_is_that_of_python_unless_told_otherwise(ask, options, overlap):
    assert ask(*options) == overlap


def test_a_label_that_is_not_there_is_refused_before_the_solve(ask, tmp_path):
    said = ask("--label", "typ", "--report", str(tmp_path / "page.html"))
    assert said == "--label: expected a column 'typ' in obs, got type"


def test_an_overlap_of_another_word_is_refused(ask):
    assert ask("--overlap", "some").startswith("--overlap: expected auto, none or a number in (0, 1], got 'some'")


def test_the_joint_table_is_an_h5ad_file(ask, tmp_path):
    assert ask("-o", str(tmp_path / "joint.csv")).startswith("--output: expected a name that ends in .h5ad, got")
