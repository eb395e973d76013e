"""The entry point: what is written on both tables, and what each option changes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import invarot
from invarot import InputError, NotAligned, cells

from .conftest import make_tables


def test_both_tables_get_one_space_a_plan_and_the_facts(aligned):
    rna, atac, found = aligned
    assert isinstance(found, invarot.Alignment)
    assert rna.obsm["X_invarot"].shape[1] == atac.obsm["X_invarot"].shape[1]
    assert cells.foscttm(rna, atac) < 0.1
    for table, other in ((rna, atac), (atac, rna)):
        plan = table.obsm["invarot_plan"]
        assert scipy.sparse.issparse(plan)
        assert plan.shape == (table.n_obs, other.n_obs)
        assert plan.sum() == pytest.approx(1, abs=0.1)
        assert max(np.diff(plan.indptr)) <= 30
        facts = table.uns["invarot"]
        assert facts["verdict"]["word"] == found.verdict.word
        assert facts["versions"]["invarot"] == invarot.__version__
        assert set(facts["agreement"]) == {"linear", "cosine", "graph"}
        assert len(facts["preparation"]) == 4
        assert table.obs["invarot_matched"].to_numpy() == pytest.approx(1, abs=0.05)
    assert (rna.uns["invarot"]["use"], atac.uns["invarot"]["use"]) == ("X_pca", "X_lsi")


def test_names_stay(aligned):
    rna, atac, _ = aligned
    before = make_tables()
    assert list(rna.obs_names) == list(before[0].obs_names)
    assert list(atac.obs_names) == list(before[1].obs_names)


def test_the_same_rng_gives_the_same_answer(aligned):
    rna, atac = make_tables()
    cells.align(rna, atac, rng=0)
    assert np.array_equal(rna.obsm["X_invarot"], aligned[0].obsm["X_invarot"])


def test_options_change_what_they_say(tables):
    rna, atac = tables
    cells.align(rna, atac, use=("X_umap", "X"), views=("linear",), rows="unit", plan_entries=3)
    facts = rna.uns["invarot"]
    assert list(facts["agreement"]) == ["linear"]
    assert facts["rows"] == "unit"
    assert facts["use"] == "X_umap"
    assert set(np.diff(rna.obsm["invarot_plan"].indptr)) == {3}
    assert rna.obsm["X_invarot"].shape[1] == 2  # axes that both assays have


def test_a_mudata_is_two_tables(tables):
    mudata = pytest.importorskip("mudata")
    with mudata.set_options(pull_on_update=False):
        both = mudata.MuData({"rna": tables[0], "atac": tables[1]})
        cells.align(both, views=("linear",))
        assert "X_invarot" in both["rna"].obsm
        with pytest.raises(InputError, match=r"rna: expected a MuData with two modalities, got 1 \(rna\)"):
            cells.align(mudata.MuData({"rna": tables[0]}))


def test_require_raises_and_the_tables_are_written(tables):
    rna, atac = tables
    atac.obsm["X_lsi"] = np.random.default_rng(0).normal(size=atac.obsm["X_lsi"].shape)
    with pytest.raises(NotAligned):
        cells.align(rna, atac, views=("linear",), require="aligned")
    assert "X_invarot" in rna.obsm


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"use": ("X_pcs", "X_lsi")}, "use: expected the key 'X_pcs' in rna.obsm, got X_pca, X_umap"),
        ({"use": "X_pca"}, "use: expected two keys"),
        ({"views": "linear"}, "views: expected some of linear, cosine, graph, whitened, as a tuple"),
        ({"views": ("linaer",)}, "views: expected one of .* did you mean 'linear'"),
        ({"views": ("linear", "linear")}, "views: expected each view once"),
        ({"rows": "long"}, "rows: expected one of auto, as is, unit, roots"),
        ({"plan_entries": 0}, "plan_entries: expected a whole number"),
        ({"require": "failed"}, "require: expected one of aligned"),
    ],
)
def test_wrong_options_are_named(tables, options, message):
    with pytest.raises(InputError, match=message):
        cells.align(*tables, **options)


def test_too_few_cells_are_named(tables):
    rna, atac = tables
    with pytest.raises(InputError, match="atac: expected at least 32 cells, got 31"):
        cells.align(rna, atac[:31].copy())


def test_cells_without_a_counterpart_get_little_weight():
    rna, atac = make_tables(cells=300)
    kept = atac[atac.obs["type"] != "t2"].copy()
    cells.align(rna, kept, rows="as is")
    matched = rna.obs["invarot_matched"].to_numpy()
    orphans = (rna.obs["type"] == "t2").to_numpy()
    assert matched[orphans].mean() < 0.3 < 0.8 < matched[~orphans].mean()
    assert rna.uns["invarot"]["overlap"] == pytest.approx([matched.mean(), 1], abs=0.15)
    labels, _ = cells.transfer_labels(kept, rna, "type")
    assert np.mean(labels[orphans] == "unknown") > 0.7
    assert np.mean(labels[~orphans] == rna.obs["type"][~orphans]) > 0.9


def test_overlap_none_matches_every_cell():
    rna, atac = make_tables()
    cells.align(rna, atac[atac.obs["type"] != "t1"].copy(), overlap=None, views=("linear",))
    assert rna.obs["invarot_matched"].mean() == pytest.approx(1, abs=0.03)


@pytest.mark.filterwarnings("ignore::invarot.NotConverged")
def test_a_share_is_that_of_the_solver():
    rna, atac = make_tables()
    found = cells.align(rna, atac[atac.obs["type"] != "t1"].copy(), overlap=0.7, views=("linear",))
    assert found.overlap is not None
    assert rna.obs["invarot_matched"].mean() == pytest.approx(0.7, abs=0.1)


def test_many_cells_are_solved_in_single_precision(tables, monkeypatch):
    monkeypatch.setattr("invarot.cells.solve.LARGE", 5000)
    rna, atac = tables
    found = cells.align(rna, atac, views=("linear",))
    assert found.map.dtype == np.float32
    assert found.plan.z.shape[0] == rna.n_obs
    assert cells.foscttm(rna, atac) < 0.2
