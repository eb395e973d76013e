"""
Cells seen by two assays
========================

Two assays of one tissue, on different cells: nothing is paired, no feature is shared. Simulated, so that the truth is known.
"""

import anndata
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from invarot import cells

rng = np.random.default_rng(0)
types = np.array(["stem", "early", "late", "branch"])
centres = np.array([[0, 0, 0, 0], [3, 0, 1, 0], [6, 1, 0, 1], [3, 4, 0, 2.0]])
spread = np.array([1.2, 0.8, 0.6, 0.4])


def measure(count, dimensions, letter):
    """Draw cells of the tissue, see them through a random linear assay, and return the table and the latent truth."""
    kind = rng.choice(4, count, p=[0.4, 0.3, 0.2, 0.1])
    latent = centres[kind] + spread * rng.normal(size=(count, 4)) + 0.3 * rng.gamma(1.0, size=(count, 4))
    seen = latent @ np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0][:4]
    table = anndata.AnnData(
        obs=pd.DataFrame({"type": pd.Categorical(types[kind])}, index=[f"{letter}{i}" for i in range(count)])
    )
    table.obsm["X_pca"] = (seen + 0.1 * rng.normal(size=seen.shape)).astype(np.float32)
    return table


rna, atac = measure(300, 12, "r"), measure(300, 8, "a")
result = cells.align(rna, atac, use=("X_pca", "X_pca"))
print(result.verdict)
print(*rna.uns["invarot"]["preparation"], sep="\n")

cells.transfer_labels(rna, atac, "type", to="predicted")
right = np.mean(atac.obs["predicted"].astype(str) == atac.obs["type"].astype(str))
print(f"types carried over from RNA: {right:.0%} right")

plt.figure(figsize=(5.5, 4), layout="constrained")
for table, marker in ((rna, "o"), (atac, "x")):
    for number, kind in enumerate(types):
        rows = np.flatnonzero(table.obs["type"] == kind)
        places = np.asarray(table.obsm["X_invarot"])[rows, :2]
        plt.scatter(*places.T, s=12, marker=marker, color=f"C{number}", label=kind if marker == "o" else None)
plt.legend(title="type (discs: RNA, crosses: chromatin)", fontsize=8)
