"""Pairs of measured data: words, texts, cells, digits, patches of photographs, shapes. Each needs the folder of data."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from invarot.geometry.orthogonal import polar

from .clouds import Array, Pair, Rng, copy_of, cut, sample_of, shuffled, size, strangers, turn
from .views import layers, leading, unit, unit_centred


@cache
def vectors(path: Path) -> tuple[dict[str, int], Array]:
    """Words of letters only, with their rows, and the vectors."""
    with np.load(path, allow_pickle=False) as file:
        names, table = file["words"], file["vectors"].astype(np.float64)
    keep = [row for row, word in enumerate(names) if str(word).isalpha() and len(str(word)) > 1][:6000]
    return {str(names[row]): place for place, row in enumerate(keep)}, table[keep]


def known_words(data: Path, left: dict[str, int], right: dict[str, int], dictionary: str | None) -> Array:
    """Rows (k, 2) of words that translate each other, each source word once."""
    if dictionary is None:
        return np.asarray([(left[word], right[word]) for word in left if word in right])
    lines = (data / "muse" / f"{dictionary}.0-5000.txt").read_text(encoding="utf-8").splitlines()
    found: dict[int, int] = {}
    for one, other in (line.split()[:2] for line in lines):
        if one in left and other in right:
            found.setdefault(left[one], right[other])
    return np.asarray(list(found.items()))


def words(
    data: Path,
    left: str,
    right: str,
    dictionary: str | None,
    rng: Rng,
    sizes: tuple[int, ...] = (200, 400, 700, 1000),
) -> Pair:
    """The most frequent words of two vocabularies, in all or their leading dimensions; sometimes other words of each."""
    (names_x, x), (names_y, y) = vectors(data / f"{left}.npz"), vectors(data / f"{right}.npz")
    n = int(rng.choice(sizes))
    d = int(rng.choice([20, 50, 100, 300]))
    known = known_words(data, names_x, names_y, dictionary)
    if rng.uniform() < 0.2:
        return _disjoint(unit_centred(x[known[:, 0]]), unit_centred(y[known[:, 1]]), n, rng)
    if rng.uniform() < 0.5:  # only words with a counterpart
        known = known[:n]
        x, y = x[known[:, 0]], y[known[:, 1]]
        x, y = (_cut_dimensions(unit_centred(side), d) for side in (x, y))
        return shuffled(x, y, rng, name=f"translated words n={len(x)} d={d}")
    x, y = (_cut_dimensions(unit_centred(side[:n]), d) for side in (x, y))
    pairs = known[(known[:, 0] < n) & (known[:, 1] < n)]
    order = rng.permutation(n)
    back = np.argsort(order)
    return Pair(x[order], y, pairs=np.stack([back[pairs[:, 0]], pairs[:, 1]], axis=1), name=f"words n={n} d={d}")


def large_words(data: Path, rng: Rng) -> Pair:
    """Vocabularies of the size that people align: points lie far from their targets, and there are many of them."""
    pairs = (
        ("europarl100/en", "europarl100/fr", "en-fr"),
        ("glove/en-glove50", "glove/en-glove100", None),
        ("europarl300/en", "glove/en-glove100", None),
    )
    return words(data, *pairs[int(rng.integers(len(pairs)))], rng, sizes=(2000, 3000, 4500))


def _disjoint(x: Array, y: Array, n: int, rng: Rng) -> Pair:
    """Rows of x, other rows of y: a point belongs where the map of all rows, which belong together, puts it."""
    n = min(n, len(x) // 2)
    rows = rng.permutation(len(x))
    places = x[rows[:n]] @ polar(x.T @ y)
    return Pair(x[rows[:n]], y[rows[n : 2 * n]], places=places, name=f"disjoint n={n} d={x.shape[1]}")


def _cut_dimensions(x: Array, d: int) -> Array:
    return leading(x, d) if d < x.shape[1] else x


def texts(data: Path, left: str, right: str, rng: Rng) -> Pair:
    """Definitions under two models of text; or different definitions."""
    one, other = (np.load(data / "text" / f"{name}.npy", mmap_mode="r") for name in (left, right))
    n, d = int(rng.choice([200, 400, 800])), int(rng.choice([20, 60, 150, 300]))
    rows = rng.permutation(min(16000, len(one)))
    if rng.uniform() < 0.25:
        both = (unit_centred(side[np.sort(rows[:4000])].astype(np.float64)) for side in (one, other))
        return _disjoint(*both, n, rng)
    x = unit_centred(one[np.sort(rows[:n])].astype(np.float64))
    y = unit_centred(other[np.sort(rows[:n])].astype(np.float64))
    x, y = _cut_dimensions(x, d), _cut_dimensions(y, d)
    return shuffled(x, y, rng, name=f"texts n={n} d={d}")


def snare(data: Path, rng: Rng) -> Pair:
    """Cells under two assays, unit rows; all or a part of them, the same cells or disjoint halves."""
    x, y = (np.load(data / "snare" / f"SNAREseq_{assay}_feat.npy").astype(np.float64) for assay in ("atac", "rna"))
    kinds = np.loadtxt(data / "snare" / "SNAREseq_rna_types.txt", dtype=int)
    rows = rng.permutation(len(x))[: int(rng.choice([300, 500, 1047]))]
    x, y = x[rows], y[rows]
    prepared = str(rng.choice(["unit", "unit", "raw", "centred"]))
    if prepared == "unit":
        x, y = unit(x), unit(y)
    elif prepared == "centred":
        x, y = unit_centred(x), unit_centred(y)
    options = {"translate": True, "scale": True} if prepared != "unit" else {}
    return shuffled(x, y, rng, kinds[rows], name=f"snare {prepared} n={len(x)}", options=options)


@cache
def _digits() -> tuple[Array, Array]:
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


def digits(rng: Rng) -> Pair:
    """Digits through two random networks, or pixels and a network; or different digits."""
    table, kinds = _digits()
    n, d = size(rng, 150, 600), int(rng.choice([5, 10, 20, 40]))
    rows = rng.permutation(len(table))[: 2 * n]
    same = rng.uniform() >= 0.25
    first, second = table[rows[:n]], table[rows[:n] if same else rows[n:]]
    if not same:  # other kinds too, so that nothing corresponds
        first, second = (table[kinds < 5], table[kinds >= 5])
        first, second = (part[rng.permutation(len(part))[:n]] for part in (first, second))
    x = layers(first, d, rng)
    y = leading(second, d) if rng.uniform() < 0.3 else layers(second, d, rng)
    y = y * np.std(x) / np.std(y) @ turn(d, rng)
    return shuffled(x, y, rng, kinds[rows[:n]], name=f"digits n={n} d={d}") if same else strangers(x, y)


@cache
def _photographs() -> tuple[Array, ...]:
    from sklearn.datasets import load_sample_images

    return tuple(image.mean(2) / 255 for image in load_sample_images().images)


def patches(rng: Rng) -> Pair:
    """Patches of a photograph and the same patches blurred or with other contrast; or patches of digits."""
    from scipy.ndimage import gaussian_filter

    n, side = size(rng, 80, 500), int(rng.choice([3, 5, 8]))
    first = _photographs()[rng.integers(2)]
    same = rng.uniform() >= 0.3
    changed = gaussian_filter(first, rng.choice([0.0, 0.5, 1.0])) ** float(rng.choice([1.0, 0.7, 1.5]))
    changed = changed * np.std(first) / np.std(changed)
    spots = rng.integers(0, np.asarray(first.shape) - side, (n, 2))
    window = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1).reshape(-1, 2)

    def read(image: Array, where: Array) -> Array:
        at = where[:, None] + window
        return image[at[..., 0], at[..., 1]]

    x = read(first, spots)
    if not same:
        drawn = _digits()[0].reshape(-1, 8)
        y = read(drawn, rng.integers(0, np.asarray(drawn.shape) - side + 1, (n, 2)))
        return strangers(x - x.mean(0), (y - y.mean(0)) * np.std(x) / np.std(y))
    y = read(changed, spots)
    return shuffled(x - x.mean(0), (y - y.mean(0)) @ turn(side**2, rng), rng, name=f"patches n={n} d={side**2}")


@cache
def _vertices(path: Path) -> Array:
    lines = (line.split()[1:4] for line in path.read_text().splitlines() if line.startswith("v "))
    points = np.asarray([[float(value) for value in line] for line in lines])
    return (points - points.mean(0)) / np.std(points)


def _shape(data: Path, rng: Rng) -> tuple[Array, Array]:
    """Two disjoint samples of the vertices of one model."""
    names = ("stanford-bunny", "rocker-arm", "beast", "cow", "cheburashka", "teapot")
    points = _vertices(data / "shapes" / f"{rng.choice(names)}.obj")
    n = size(rng, 80, 600)
    rows = rng.permutation(len(points))
    return points[rows[:n]], points[rows[n : 2 * n]]


def shapes(data: Path, rng: Rng) -> Pair:
    """Vertices of a model: copies, two samples, or of two models."""
    one, other = _shape(data, rng)
    how = rng.choice(["copy", "samples", "unrelated"])
    if how == "copy":
        return copy_of(one, rng, noise=(0.0, 0.05, 0.1))
    if how == "samples":
        return sample_of(one, other, rng)
    names = {len(one)}
    while len(names) == 1:  # another model
        second = _shape(data, rng)[0]
        names.add(
            0 if abs(float(np.sort(np.var(second, axis=0))[0] - np.sort(np.var(one, axis=0))[0])) > 0.02 else len(one)
        )
    return strangers(one, second @ turn(3, rng))


def cut_shapes(data: Path, rng: Rng) -> Pair:
    return cut(_shape(data, rng)[0], rng)
