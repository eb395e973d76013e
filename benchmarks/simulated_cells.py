"""Two simulated assays of one tissue: cells of several types, seen once as RNA and once as chromatin.

Half of the draws are a *tree*: types are branches of it, or clusters apart from it; the rarest hold about 1 % of the cells and the
largest up to 60 %. A quarter are *islands*: clusters alone, each a short course of its own. A quarter are a *course* without gaps: one
fork, a rolled-up sheet, or a sheet round a cone, cut into types.
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
    form: str


def simulate(seed: int, *, n: int | None = None, kind: str | None = None) -> Tissue:
    """Draw a tissue of ``n`` cells (500 to 5,000); what is not given follows from the seed."""
    rng = np.random.default_rng([20261116, seed])
    n = n or int(np.exp(rng.uniform(np.log(500), np.log(5000))))
    kind = kind or KINDS[seed % 3]
    form = ("tree", "tree", "islands", ("fork", "roll", "cone")[seed // 4 % 3])[seed % 4]
    if form in ("tree", "islands"):
        state, types = _draw_tree(n, rng, apart=0.4 if form == "tree" else 1.0)
    else:
        state, types = _draw_course(n, form, rng)
    return Tissue(_measure_genes(state, rng), MEASURES[kind](state, rng), types, kind, form)


def _draw_course(n: int, form: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """States (n, 6) along one continuous course, and types that cut it; early cells are the more frequent."""
    along = rng.beta(1.0, rng.uniform(1.2, 2.0), size=n)
    if form == "fork":
        side = np.where(rng.random(n) < rng.uniform(0.2, 0.4), -1.0, 1.0)
        late = np.maximum(along - 0.35, 0)
        plane = np.column_stack([3 * along, 2.5 * side * late, 0 * along])
        types = np.where(along < 0.35, 0, np.where(side > 0, 1, 2))
    elif form == "roll":
        angle = 1.5 * np.pi * (0.6 + along)
        plane = 0.45 * np.column_stack([angle * np.cos(angle), angle * np.sin(angle), 2 * rng.beta(1.0, 2.0, size=n)])
        types = np.digitize(along, [0.15, 0.35, 0.6])
    else:
        angle, height = 2 * np.pi * rng.beta(1.0, 1.6, size=n), along
        plane = np.column_stack([(1 + height) * np.cos(angle), (1 + height) * np.sin(angle), 2.5 * height])
        types = np.digitize(angle, [1.2, 2.8]) + 3 * (height > 0.4)
    turn, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    return plane @ turn[:3] + rng.normal(scale=0.12, size=(n, 6)), types


def _draw_tree(n: int, rng: np.random.Generator, *, apart: float) -> tuple[Floats, Floats]:
    """States (n, 6) of the cells, and their types; ``apart``: the share of types that are clusters alone."""
    kinds = int(rng.integers(4, 10))
    weights = np.clip(rng.dirichlet(np.full(kinds, 0.8)), 0.012, 0.6)
    weights /= weights.sum()
    types = np.sort(rng.choice(kinds, n, p=weights))
    paths: list[Floats] = []
    for one in range(kinds):
        alone = one > 0 and rng.random() < apart
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
