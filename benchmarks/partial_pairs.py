"""Pairs of clouds that correspond only in part, with the right answer: each function returns x, y and a `Truth`.

shape_pair    a model, ``points`` vertices of it, turned and shifted by up to its extent (the diagonal of its bounding box):
              cut-K        y cut by a random plane to K % of its points, which are points of x
              both-50      x and y cut from opposite sides of one direction, so that half of each is common
              resampled-K  y cut to K %, and no vertex is in both clouds
              outliers-K   K % of either cloud drawn uniformly from its bounding box
              noise-K      y cut to 70 %, with Gaussian noise of K % of the extent on it
cluster_pair  8 Gaussian clusters, of which 1, 3 or 4 are missing in y (*one*), or have no counterpart on either side (*both*)
cell_pair     SNARE-seq, unit rows: one type of cells missing from one assay
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

SHAPES = ("beast", "cheburashka", "cow", "rocker-arm", "stanford-bunny", "teapot")
CASES = (
    *(f"cut-{share}" for share in (90, 70, 50, 30)),
    "both-50",
    *(f"resampled-{share}" for share in (100, 70, 50, 30)),
    "outliers-20", "outliers-50", "noise-0.3", "noise-1",
)  # fmt: skip
MISSING = (1, 3, 4)
DIMENSIONS = (3, 10, 50)
CLUSTERS = 8
TYPES = (1, 2, 3, 4)


@dataclass(frozen=True)
class Truth:
    """What is known of a pair; None where there is no one right answer.

    ``x @ map + offset`` lies on y. ``common_x``, ``common_y`` say which points have a counterpart, ``matches`` which row of y it
    is (−1: none). ``extent`` is the length that errors of a shape are measured in.
    """

    common_x: np.ndarray
    common_y: np.ndarray
    map: np.ndarray | None = None
    offset: np.ndarray | None = None
    matches: np.ndarray | None = None
    labels_x: np.ndarray | None = None
    labels_y: np.ndarray | None = None
    extent: float = 1.0

    @property
    def overlap(self) -> tuple[float, float]:
        """Share of x, and of y, that has a counterpart."""
        return float(np.mean(self.common_x)), float(np.mean(self.common_y))


Pair = tuple[np.ndarray, np.ndarray, Truth]


def draw_rotation(d: int, rng: np.random.Generator) -> np.ndarray:
    """A proper rotation, uniform over all of them."""
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    q = q * np.sign(np.diag(r))
    q[:, 0] *= np.linalg.det(q)
    return q


def match_rows(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """For each name in ``left`` its place in ``right``, −1 where it is not there; names differ within a side."""
    order = np.argsort(right)
    at = order[np.searchsorted(right, left, sorter=order).clip(max=len(right) - 1)]
    return np.where(right[at] == left, at, -1)


@cache
def read_shape(path: Path) -> np.ndarray:
    """The different vertices of an .obj file."""
    rows = [line.split()[1:4] for line in path.read_text().splitlines() if line.startswith("v ")]
    return np.unique(np.asarray(rows, dtype=float), axis=0)


def shape_pair(vertices: np.ndarray, case: str, seed: int, *, points: int = 1000) -> Pair:
    """A pair made of one model: ``case`` is one of CASES, or the same word with another number (cut-60, noise-0.5)."""
    word, value = case.split("-")
    share = float(value) / 100
    rng = np.random.default_rng([seed, len(vertices)])
    extent = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    drawn = rng.permutation(len(vertices))
    many = min(points, len(vertices) // 2) if word == "resampled" else points
    rows_x, rows_y = drawn[:many], drawn[many : 2 * many] if word == "resampled" else drawn[:many]
    keep = {"cut": share, "resampled": share, "noise": 0.7, "both": 1 / (2 - share), "outliers": 1.0}[word]
    height = vertices @ rng.standard_normal(3)
    floor = np.quantile(height[rows_y], 1 - keep)  # y lies above it
    ceiling = np.quantile(height[rows_x], keep) if word == "both" else np.inf  # x lies below it
    rows_x, rows_y = rows_x[height[rows_x] <= ceiling], rng.permutation(rows_y[height[rows_y] >= floor])
    x, y = vertices[rows_x], vertices[rows_y]
    common_x, common_y = height[rows_x] >= floor, height[rows_y] <= ceiling
    if word == "noise":
        y = y + share * extent * rng.standard_normal(y.shape)
    if word == "outliers":
        x, common_x = add_outliers(x, share, rng)
        y, common_y = add_outliers(y, share, rng)
    turn, shift = draw_rotation(3, rng), extent * rng.uniform(-1, 1, 3)
    matches = None
    if word != "resampled":
        matches = np.concatenate([match_rows(rows_x, rows_y), np.full(len(x) - len(rows_x), -1)])
    mixed_x, mixed_y = rng.permutation(len(x)), rng.permutation(len(y))
    if matches is not None:
        matches = np.where(matches < 0, -1, np.argsort(mixed_y)[matches])[mixed_x]
    truth = Truth(common_x[mixed_x], common_y[mixed_y], turn, shift, matches, extent=extent)
    return x[mixed_x], (y @ turn + shift)[mixed_y], truth


def add_outliers(points: np.ndarray, share: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The cloud with outliers at its end, ``share`` of the whole, and which of its points are none."""
    many = round(len(points) * share / (1 - share))
    strays = rng.uniform(points.min(axis=0), points.max(axis=0), (many, points.shape[1]))
    return np.concatenate([points, strays]), np.arange(len(points) + many) < len(points)


def cluster_pair(d: int, missing: int, sides: str, seed: int, *, points: int = 800, noise: float = 0.0) -> Pair:
    """Clusters of different size, turned; ``missing`` of CLUSTERS have no counterpart in y (sides="one") or on either side ("both").

    With "both" each cloud has CLUSTERS clusters, ``missing`` of them its own. Common points are the same up to ``noise`` (relative
    to the spread of a coordinate) on y.
    """
    rng = np.random.default_rng([seed, d, missing, sides == "both"])
    kinds = CLUSTERS + (missing if sides == "both" else 0)
    centres = 2 * rng.standard_normal((kinds, d))
    labels = rng.choice(kinds, points * kinds // CLUSTERS, p=rng.dirichlet(np.full(kinds, 5.0)))
    every = centres[labels] + 0.4 * rng.standard_normal((len(labels), d))
    rows_x = rng.permutation(np.flatnonzero(labels < CLUSTERS))
    rows_y = rng.permutation(np.flatnonzero(labels >= missing))
    turn = draw_rotation(d, rng)
    y = every[rows_y] @ turn
    y = y + noise * np.sqrt(np.mean(np.var(y, axis=0))) * rng.standard_normal(y.shape)
    shift = rng.standard_normal(d)
    matches, back = match_rows(rows_x, rows_y), match_rows(rows_y, rows_x)
    truth = Truth(matches >= 0, back >= 0, turn, shift, matches, labels[rows_x], labels[rows_y])
    return every[rows_x], y + shift, truth


def cell_pair(data: Path, missing: int, side: str, seed: int) -> Pair:
    """SNARE-seq cells, chromatin (x, 19-d) and expression (y, 10-d), unit rows; type ``missing`` left out of ``side`` ("x" or "y")."""
    folder = data / "snare"
    x, y = (np.load(folder / f"SNAREseq_{assay}_feat.npy").astype(np.float64) for assay in ("atac", "rna"))
    x, y = (points / np.linalg.norm(points, axis=1, keepdims=True) for points in (x, y))
    types = np.loadtxt(folder / "SNAREseq_rna_types.txt", dtype=int)
    rng = np.random.default_rng(seed)
    left = np.flatnonzero(types != missing)
    rows_x = rng.permutation(left if side == "x" else len(x))
    rows_y = rng.permutation(left if side == "y" else len(y))
    matches, back = match_rows(rows_x, rows_y), match_rows(rows_y, rows_x)
    truth = Truth(matches >= 0, back >= 0, matches=matches, labels_x=types[rows_x], labels_y=types[rows_y])
    return x[rows_x], y[rows_y], truth
