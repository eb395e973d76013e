"""Two simulated assays of one tissue: cells on a branching tree of types, seen once as RNA and once as chromatin.

Types are branches of a tree, or clusters apart from it; the rarest hold about 1 % of the cells and the largest up to 60 %.
RNA: counts of genes whose log rates are linear in the state of the cell, log-normalised, principal components. Chromatin is never
linear in the state, and comes in one of three forms:
  warped   a random network of one hidden layer;
  topics   shares of topics times the depth of the cell: positive, not centred, lengths mean depth;
  lsi      open peaks (each a threshold in the state), binary and sparse, TF-IDF, leading singular vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

KINDS = ("warped", "topics", "lsi")

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Tissue:
    """Both assays of the same cells, row by row, and the types; a method sees neither pairs nor types."""

    rna: Floats  # (n, dx)
    atac: Floats  # (n, dy)
    types: Floats  # (n,)
    kind: str


def simulate(seed: int, *, n: int | None = None, kind: str | None = None) -> Tissue:
    """Draw a tissue of ``n`` cells (500 to 5,000); what is not given follows from the seed."""
    rng = np.random.default_rng([20261116, seed])
    n = n or int(np.exp(rng.uniform(np.log(500), np.log(5000))))
    kind = kind or KINDS[seed % 3]
    state, types = _draw_states(n, rng)
    return Tissue(_measure_genes(state, rng), MEASURES[kind](state, rng), types, kind)


def _draw_states(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """States (n, 6) of the cells, and their types."""
    kinds = int(rng.integers(4, 10))
    weights = np.clip(rng.dirichlet(np.full(kinds, 0.8)), 0.012, 0.6)
    weights /= weights.sum()
    types = np.sort(rng.choice(kinds, n, p=weights))
    paths: list[Floats] = []
    for one in range(kinds):
        alone = one > 0 and rng.random() < 0.4
        origin = np.zeros(6) if not paths else paths[int(rng.integers(len(paths)))][int(rng.integers(10, 50))]
        steps = rng.normal(size=6) + 0.35 * np.cumsum(rng.normal(size=(50, 6)), axis=0) / 7
        steps /= np.linalg.norm(steps, axis=1, keepdims=True)
        length = rng.uniform(0.5, 1.0) if alone else rng.uniform(1.5, 3.5)
        jump = 3.2 * steps[0] if alone else 1.2 * steps[0]
        paths.append(origin + jump + np.cumsum(steps, axis=0) * length / 50)
    along = np.clip(rng.beta(1.0, 1.3, size=n) * 50, 0, 49).astype(int)
    return np.stack(paths)[types, along] + rng.normal(scale=0.15, size=(n, 6)), types


def _measure_genes(state: Floats, rng: np.random.Generator) -> Floats:
    """Principal components of log-normalised counts."""
    genes, keep = 400, int(rng.integers(10, 31))
    loadings = rng.normal(scale=0.5, size=(6, genes)) * (rng.random((6, genes)) < 0.4)
    rates = np.exp(state @ loadings + rng.normal(scale=1.0, size=genes))
    depth = np.exp(rng.normal(np.log(4000), 0.35, size=(len(state), 1)))
    counts = rng.poisson(depth * rates / rates.sum(1, keepdims=True)).astype(float)
    logged = np.log1p(counts / counts.sum(1, keepdims=True).clip(1) * 1e4)
    return _components(logged - logged.mean(0), keep)


def _warp(state: Floats, rng: np.random.Generator) -> Floats:
    hidden = np.tanh(state @ rng.normal(scale=0.45, size=(6, 40)) + rng.normal(scale=0.7, size=40))
    seen = hidden @ rng.normal(size=(40, int(rng.integers(10, 31)))) / 6
    return seen + rng.normal(scale=0.15 * seen.std(), size=seen.shape) + rng.normal(size=seen.shape[1])


def _mix_topics(state: Floats, rng: np.random.Generator) -> Floats:
    topics = int(rng.integers(12, 26))
    scores = state @ rng.normal(scale=0.55, size=(6, topics)) + rng.normal(scale=0.5, size=topics)
    shares = np.exp(scores + rng.normal(scale=0.2, size=scores.shape))
    depth = np.exp(rng.normal(np.log(5e4), 0.7, size=(len(state), 1)))
    return shares / shares.sum(1, keepdims=True) * depth


def _open_peaks(state: Floats, rng: np.random.Generator) -> Floats:
    peaks = 2000
    scores = state @ rng.normal(scale=0.8, size=(6, peaks)) + rng.normal(scale=1.0, size=peaks)
    depth = np.exp(rng.normal(0, 0.4, size=(len(state), 1)))
    seen = (rng.random(scores.shape) < np.minimum(0.6 * depth, 0.9) / (1 + np.exp(-3 * scores))).astype(float)
    frequency = seen / seen.sum(1, keepdims=True).clip(1)
    idf = len(seen) / (1 + seen.sum(0))
    return _components(np.log1p(frequency * idf * 1e4 / peaks), int(rng.integers(10, 31)))


def _components(x: Floats, k: int) -> Floats:
    _, axes = np.linalg.eigh(x.T @ x)
    return x @ axes[:, : -k - 1 : -1]


MEASURES = {"warped": _warp, "topics": _mix_topics, "lsi": _open_peaks}
