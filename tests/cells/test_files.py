"""h5ad in and out, the joint table, the picture, the page and the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from invarot import InputError, cells
from invarot.cli import cells as command  # noqa: F401 -- registers it
from invarot.cli.app import app
from invarot.report.cells import write_cells_page

from ..commands import make_runner
from .conftest import CELLS


def test_a_joint_table_keeps_names_and_survives_a_file(aligned, tmp_path):
    rna, atac, found = aligned
    joint = cells.join(rna, atac)
    cells.write(joint, tmp_path / "joint.h5ad")
    again = cells.read(tmp_path / "joint.h5ad")
    assert list(again.obs_names[:2]) == ["cell0-rna", "cell1-rna"]
    assert list(again.obs["cell"]) == [*rna.obs_names, *atac.obs_names]
    assert again.obsm["X_invarot"].shape[0] == 2 * CELLS
    assert again.obsp["invarot"].shape == (2 * CELLS, 2 * CELLS)
    assert np.allclose(again.obsp["invarot"][:CELLS, CELLS:].toarray(), rna.obsm["invarot_plan"].toarray())
    assert again.uns["invarot"]["verdict"]["word"] == found.verdict.word
    assert [path.name for path in tmp_path.iterdir()] == ["joint.h5ad"]


def test_names_that_differ_stay_as_they_are(aligned):
    rna, atac, _ = aligned
    atac = atac.copy()
    atac.obs_names = [f"b{i}" for i in range(atac.n_obs)]
    assert list(cells.join(rna, atac).obs_names) == [*rna.obs_names, *atac.obs_names]


def test_both_tables_survive_a_file(aligned, tmp_path):
    for table in aligned[:2]:
        cells.write(table, tmp_path / "one.h5ad")
        assert np.allclose(cells.read(tmp_path / "one.h5ad").obsm["X_invarot"], table.obsm["X_invarot"])


def test_a_file_cut_short_is_named(aligned, tmp_path):
    whole = tmp_path / "whole.h5ad"
    cells.write(aligned[0], whole)
    short = tmp_path / "short.h5ad"
    short.write_bytes(whole.read_bytes()[:5000])
    with pytest.raises(InputError, match=r"short\.h5ad: expected a valid file, got a damaged"):
        cells.read(short)
    (tmp_path / "text.h5ad").write_text("no HDF5")
    with pytest.raises(InputError, match="another kind of file"):
        cells.read(tmp_path / "text.h5ad")
    with pytest.raises(InputError, match="got no such file"):
        cells.read(tmp_path / "gone.h5ad")
    with pytest.raises(InputError, match="existing directory"):
        cells.write(aligned[0], tmp_path / "gone" / "x.h5ad")


@pytest.mark.parametrize("color", ["type", None])
def test_the_picture_has_four_panels_and_the_verdict(aligned, color):
    rna, atac, found = aligned
    figure = cells.plot(rna, atac, color=color)
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert titles[0].startswith(f"RNA before: {CELLS} cells")
    assert titles[2] == f"both after, by {color or 'assay'}"
    assert found.verdict.word in figure.axes[3].texts[0].get_text()
    with pytest.raises(InputError, match="color: expected a column 'kind' in obs"):
        cells.plot(rna, atac, color="kind")


def test_the_page_holds_verdict_picture_and_reasons(aligned, tmp_path):
    rna, atac, found = aligned
    write_cells_page(rna, atac, tmp_path / "page.html", color="type")
    page = (tmp_path / "page.html").read_text()
    assert found.verdict.word.capitalize() in page
    assert "data:image/png;base64," in page
    assert "matched cells agree" in page


def test_the_command_line_joins_two_files(tables, tmp_path):
    for table, name in zip(tables, ("rna", "atac"), strict=True):
        cells.write(table, tmp_path / f"{name}.h5ad")
    words = ["cells", tmp_path / "rna.h5ad", tmp_path / "atac.h5ad", "-o", tmp_path / "joint.h5ad"]
    more = ["--report", tmp_path / "page.html", "--label", "type", "--json", "--use", "X_umap,X_lsi"]
    done = make_runner().invoke(app, [str(word) for word in (*words, *more)])
    assert done.exit_code in (0, 3, 4), done.stderr
    assert json.loads(done.stdout)["cells"] == [CELLS, CELLS]
    joint = cells.read(tmp_path / "joint.h5ad")
    assert joint.n_obs == 2 * CELLS
    assert joint.uns["invarot"]["options"]["overlap"] == "auto"  # as in Python
    assert "<h1>rna and atac</h1>" in (tmp_path / "page.html").read_text()  # the names are those of the files
    for wrong, message in (
        (words, "--output: expected a new file"),
        ([*words[:2], tmp_path / "gone.h5ad", *words[3:], "--force"], "got no such file"),
        ([*words, "--force", "--use", "X_pca"], "--use: expected two keys"),
        ([*words, "--force", "--label", "type"], "--label: expected together with --report"),
        ([*words, "--force", "--report", tmp_path / "gone" / "page.html"], "--report: expected a file in an existing"),
    ):
        failed = make_runner().invoke(app, [str(word) for word in wrong])
        assert isinstance(failed.exception, InputError)
        assert message in str(failed.exception)


@pytest.mark.parametrize(("written", "used"), [("none", "none"), ("0.9", "0.9")])
def test_the_command_line_passes_the_overlap_on(tables, tmp_path, written, used):
    for table, name in zip(tables, ("rna", "atac"), strict=True):
        cells.write(table, tmp_path / f"{name}.h5ad")
    words = ["cells", tmp_path / "rna.h5ad", tmp_path / "atac.h5ad", "-o", tmp_path / "joint.h5ad", "--quiet"]
    make_runner().invoke(app, [*map(str, words), "--overlap", written])
    assert cells.read(tmp_path / "joint.h5ad").uns["invarot"]["options"]["overlap"] == used


def _fill(file):
    file["uns"].create_dataset("x", shape=(10**6, 10**5), dtype="f8", chunks=(1000, 100))


def _read_elsewhere(file):
    file["uns"].create_dataset("x", shape=(10,), dtype="u1", external=[("/etc/passwd", 0, 10)])


def _link_elsewhere(file):
    import h5py

    file["uns"]["x"] = h5py.ExternalLink("/elsewhere/other.h5", "/x")


def _nest(file):
    file["uns"]["x"] = file["uns"]


def _multiply(file):
    """Twelve groups, each of ten links to the one before: 10¹² names."""
    import h5py

    for k in range(12):
        for j in range(10):
            file[f"uns/g{k}/l{j}"] = h5py.SoftLink(f"/uns/g{k - 1}") if k else 1


@pytest.mark.parametrize(
    ("forge", "message"),
    [(_fill, r"unpacks to at most \d MiB"), (_read_elsewhere, "'/uns/x' in another"), (_link_elsewhere, "a link to '/elsewhere/other.h5'"),
     (_nest, "'/uns/x' inside itself"), (_multiply, r"unpacks to at most \d MiB")],
    ids=lambda one: getattr(one, "__name__", ""),
)  # fmt: skip
def test_a_forged_file_reads_no_other_and_fills_no_memory(tables, tmp_path, forge, message):
    import h5py

    path = tmp_path / "forged.h5ad"
    cells.write(tables[0], path)
    with h5py.File(path, "a") as file:
        file.require_group("uns")
        forge(file)
    with pytest.raises(InputError, match=message):
        cells.read(path)


def test_a_mudata_file_is_named_as_one(tmp_path):
    path = tmp_path / "both.h5mu"
    path.write_bytes(b"MuData (format-version=0.1.0;creator=muon)" + bytes(600))
    with pytest.raises(InputError, match="got a MuData file"):
        cells.read(path)


def test_an_empty_file_is_no_mudata_file(tmp_path):
    path = tmp_path / "empty.h5ad"
    path.touch()
    with pytest.raises(InputError) as error:
        cells.read(path)
    assert "MuData" not in str(error.value)
