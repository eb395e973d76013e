"""Bad tables: each error names the table, what was expected, and what to do."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import invarot
from invarot import InputError, cells
from invarot.cells.tables import looks_like_counts


def test_arrays_are_told_where_to_go():
    with pytest.raises(InputError, match=r"rna: expected an AnnData, got ndarray; for arrays use invarot.align"):
        cells.align(np.eye(3), np.eye(3))


def test_one_table_is_too_few(tables):
    with pytest.raises(InputError, match="atac: expected a second AnnData, or a MuData alone, got one AnnData"):
        cells.align(tables[0])
    with pytest.raises(InputError, match="atac: expected another table than rna"):
        cells.align(tables[0], tables[0])


def test_an_empty_obsm_says_how_to_make_an_embedding(tables):
    del tables[1].obsm["X_lsi"]
    with pytest.raises(InputError, match=r"atac\.obsm, got an empty obsm; make one first: .*tfidf"):
        cells.align(*tables)


def test_counts_are_not_an_embedding(tables):
    rna, atac = tables
    counts = np.random.default_rng(0).poisson(0.3, size=(rna.n_obs, 40)).astype(float)
    rna.obsm["counts"] = counts
    with pytest.raises(InputError, match=r"rna.obsm\['counts'\]: expected an embedding, got counts \(40 columns"):
        cells.align(rna, atac, use=("counts", "X_lsi"))
    rna.obsm["sparse"] = scipy.sparse.csr_matrix(counts)
    with pytest.raises(InputError, match="expected a dense embedding, got a sparse csr_matrix; make one first"):
        cells.align(rna, atac, use=("sparse", "X_lsi"))
    with pytest.raises(InputError, match=r"rna\.X: expected an embedding, got none"):
        cells.align(rna, atac, use=("X", "X_lsi"))


def test_topic_counts_are_an_embedding():
    assert not looks_like_counts(np.random.default_rng(0).poisson(500, size=(50, 19)).astype(float))


def test_cells_with_nan_are_named(tables):
    tables[0].obsm["X_pca"][[3, 9], 1] = np.nan
    with pytest.raises(InputError, match=r"got NaN or inf in 2 of 100 cells \(cell3, cell9\)"):
        cells.align(*tables)


def test_names_that_come_twice_are_named(tables):
    tables[0].obs_names = ["cell5", *tables[0].obs_names[1:]]
    with pytest.raises(InputError, match="rna: expected different cell names, got 'cell5' more than once"):
        cells.align(*tables)


def test_the_plain_door_names_what_to_pass(tables):
    with pytest.raises(
        InputError, match=r"x: expected an array of points, got AnnData; .*there: X_pca, X_umap.*cells\.align"
    ):
        invarot.align(*tables)


def test_scores_need_an_alignment(tables):
    with pytest.raises(InputError, match=r"rna: expected obsm\['X_invarot'\], got none; run cells\.align"):
        cells.foscttm(*tables)
