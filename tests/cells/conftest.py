"""Two small tables: a skew cloud on branches, seen twice, the second time turned, bent and at random depth."""

from __future__ import annotations

import numpy as np
import pytest

anndata = pytest.importorskip("anndata")

CELLS = 100


def make_tables(seed: int = 3, *, cells: int = CELLS):
    rng = np.random.default_rng(seed)
    types = np.sort(rng.choice(4, cells, p=[0.45, 0.3, 0.15, 0.1]))
    centres = np.array([[3.0, 0, 0, 0], [0, 4.0, 1, 0], [-2, -1, 3, 1.0], [-1, -2, -2, 4]])
    state = centres[types] + rng.gamma(1.5, size=(cells, 4)) * [1.2, 0.8, 0.5, 0.3]
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0][:4]
    second = state @ turn + 0.05 * rng.normal(size=(cells, 6)) + 8 * turn[0]
    order = rng.permutation(cells)
    names = np.array([f"cell{i}" for i in range(cells)])
    rna = anndata.AnnData(obs={"type": [f"t{one}" for one in types]}, obsm={"X_pca": state, "X_umap": state[:, :2]})
    atac = anndata.AnnData(
        X=second[order].astype(np.float32),
        obs={"type": [f"t{one}" for one in types[order]]},
        obsm={"X_lsi": second[order]},
    )
    rna.obs_names, atac.obs_names = names, names[order]
    return rna, atac


@pytest.fixture
def tables():
    return make_tables()


@pytest.fixture(scope="session")
def aligned():
    """Both tables after an alignment, and its result; nobody may change them."""
    from invarot import cells

    rna, atac = make_tables()
    found = cells.align(rna, atac)
    return rna, atac, found
