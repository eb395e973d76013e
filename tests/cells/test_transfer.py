"""Scores and transfer: known answers, labels that nobody can know, features through the plan."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from invarot import InputError, cells

from .conftest import make_tables


def test_foscttm_of_known_clouds():
    x = np.arange(4.0)[:, None]
    assert cells.foscttm(x, x) == 0
    assert cells.foscttm(x, -x) == pytest.approx(sum((0, 1, 2, 3)) / 12, abs=0.2)
    rng = np.random.default_rng(0)
    assert cells.foscttm(rng.normal(size=(400, 3)), rng.normal(size=(400, 3))) == pytest.approx(0.5, abs=0.04)


def test_foscttm_counts_what_is_closer():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30, 2))
    far = np.linalg.norm(x[:, None] - y[None], axis=2)
    own = np.diag(far)
    expected = ((far < own[:, None]).sum() + (far < own[None]).sum()) / (2 * 30 * 29)
    assert cells.foscttm(x, y) == pytest.approx(expected)


def test_foscttm_pairs_by_name(aligned):
    rna, atac, _ = aligned
    assert cells.foscttm(rna, atac) == pytest.approx(cells.foscttm(rna[::-1].copy(), atac))
    with pytest.raises(InputError, match=r"atac: expected the cell names of rna \(100 cells\), got 60 cells"):
        cells.foscttm(rna, atac[:60].copy())


def test_labels_go_both_ways_with_confidence(aligned):
    rna, atac, _ = aligned
    for source, target in ((rna, atac), (atac, rna)):
        labels, confidence = cells.transfer_labels(source, target, "type")
        assert (labels == target.obs["type"]).mean() > 0.95
        assert confidence.min() >= 0
        assert confidence.max() <= 1


def test_cells_without_a_match_are_unknown(aligned):
    rna, atac, _ = aligned
    atac = atac.copy()
    atac.obs["invarot_matched"] = np.where(np.arange(atac.n_obs) < 7, 0.1, 1.0)
    labels, confidence = cells.transfer_labels(rna, atac, "type", to="found")
    assert set(labels[:7]) == {"unknown"}
    assert (labels[7:] != "unknown").mean() > 0.95
    assert np.array_equal(atac.obs["found"], labels)
    assert np.array_equal(atac.obs["found_confidence"], confidence)


def test_cells_without_a_label_do_not_vote(aligned):
    rna, atac, _ = aligned
    rna = rna.copy()
    rna.obs["some"] = [one if one == "t0" else None for one in rna.obs["type"]]
    assert set(cells.transfer_labels(rna, atac, "some")[0]) == {"t0"}
    rna.obs["none"] = None
    with pytest.raises(InputError, match="source: expected labels in obs"):
        cells.transfer_labels(rna, atac, "none")
    with pytest.raises(InputError, match="source: expected a column 'kind' in obs, got type"):
        cells.transfer_labels(rna, atac, "kind")


def test_features_move_through_the_plan(aligned):
    rna, atac, _ = aligned
    moved = cells.barycentre(rna, atac)
    order = rna.obs_names.get_indexer(atac.obs_names)
    assert moved.shape == (rna.n_obs, 6)
    assert np.corrcoef(moved[order, 0], atac.X[:, 0])[0, 1] > 0.9
    sparse = cells.barycentre(rna, atac, scipy.sparse.csr_matrix(atac.X))
    assert scipy.sparse.issparse(sparse)
    assert np.allclose(sparse.toarray(), moved, atol=1e-6)
    with pytest.raises(InputError, match="values: expected one row for each of the 100 cells of target, got 3 rows"):
        cells.barycentre(rna, atac, np.eye(3))


def test_new_cells_land_beside_their_own(aligned):
    rna = aligned[0]
    again, _ = make_tables()
    placed = cells.embed(again, like=rna)
    assert np.allclose(placed, rna.obsm["X_invarot"])  # cells that were there stay
    new, _ = make_tables(cells=200)
    del new.obsm["X_umap"]
    cells.embed(new, like=rna)
    labels, _ = cells.transfer_labels(rna, new, "type")
    assert (labels == new.obs["type"]).mean() > 0.9
    new.obsm["X_pca"] = new.obsm["X_pca"][:, :2]
    with pytest.raises(InputError, match="table: expected 4 columns in 'X_pca', as in like, got 2"):
        cells.embed(new, like=rna)
