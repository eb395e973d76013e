"""
Two embedding models
====================

A store was written with one model, queries come from another. ``migration.fit`` finds the map between them from vectors of
*other* texts. Simulated: both models see the same topics, each in its own way.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from invarot import migration, stores

rng = np.random.default_rng(0)
size = 8
latent = rng.gamma(0.4, size=(4000, size)) * np.linspace(2.0, 0.4, size)  # what the texts are about


def embed(rows, dimensions, seed):
    """A model: a mixture of its own of what a text is about, slightly bent, noisy, of unit length."""
    own = np.random.default_rng(seed)
    mixed = rows @ np.linalg.qr(own.normal(size=(dimensions, dimensions)))[0][: rows.shape[1]]
    mixed = mixed - mixed.mean(axis=0) + 0.02 * own.normal(size=mixed.shape)
    return (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)


old, new = embed(latent[:2000], 48, 1), embed(latent[2000:], 64, 2)  # no text in common
folder = Path(tempfile.mkdtemp())
np.save(folder / "old.npy", old)
np.save(folder / "new.npy", new)
found = migration.fit(stores.open(str(folder / "old.npy")), stores.open(str(folder / "new.npy")), sample=2000)
print(found.verdict)
print(found.recall)

# Texts in both models, for scoring only: is a text's own vector the nearest after the map?
check_old, check_new = embed(latent[:500], 48, 1), embed(latent[:500], 64, 2)
scores = found.adapter.apply(check_old) @ check_new.T
rank = (scores >= np.diag(scores)[:, None]).sum(axis=1)
print(f"the text itself is the nearest of 500: {np.mean(rank == 1):.0%}; among the first 10: {np.mean(rank <= 10):.0%}")

plt.figure(figsize=(6, 3), layout="constrained")
other = scores[~np.eye(500, dtype=bool)]
bins = np.linspace(-1, 1, 81)
plt.hist(other, bins, density=True, color="#999999", label="other texts")
plt.hist(np.diag(scores), bins, density=True, color="#1f6f8b", label="the same text in both models")
plt.xlabel("cosine after the map")
plt.legend()
