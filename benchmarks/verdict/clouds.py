"""A pair of clouds whose answer is known, and the clouds that are drawn rather than measured.

Every generator has the form (rng) → Pair: the seed decides the size, the dimension, the noise and the variety. ``unrelated``
pairs have no answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Array = np.ndarray
Rng = np.random.Generator


@dataclass(frozen=True)
class Pair:
    """Two clouds and their answer.

    Row i of ``pairs`` (k, 2) says which row of y belongs to a row of x; where no point is in both clouds ``places`` (n, dy) says
    where each point of x belongs; or ``joint`` holds all points of both views, row by row, to score on. Labels, one per row, for
    transfer. ``options`` of align.
    """

    x: Array
    y: Array
    pairs: Array | None = None
    places: Array | None = None
    joint: tuple[Array, Array] | None = None
    labels: tuple[Array, Array] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    related: bool = True


def turn(d: int, rng: Rng) -> Array:
    """A random orthogonal (d, d) matrix."""
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def size(rng: Rng, low: int = 30, high: int = 500) -> int:
    return int(np.exp(rng.uniform(np.log(low), np.log(high))))


def spread(x: Array) -> float:
    """Root mean square of a coordinate about its mean."""
    return float(np.sqrt(np.mean(np.var(x, axis=0)))) or 1.0


def noisy(x: Array, share: float, rng: Rng) -> Array:
    return x + share * spread(x) * rng.standard_normal(x.shape)


def shuffled(x: Array, y: Array, rng: Rng, labels: Array | None = None, **rest: Any) -> Pair:
    """Pair of clouds whose rows belong together, in an order that says nothing."""
    order = rng.permutation(len(y))
    both = None if labels is None else (labels, labels[order])
    return Pair(x, y[order], pairs=np.stack([order, np.arange(len(y))], axis=1), labels=both, **rest)


def copy_of(x: Array, rng: Rng, noise: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.4), **rest: Any) -> Pair:
    """The cloud turned, with noise on the copy."""
    share = float(rng.choice(noise))
    name = f"copy n={len(x)} d={x.shape[1]} noise={share}"
    return shuffled(x, noisy(x @ turn(x.shape[1], rng), share, rng), rng, name=name, **rest)


def sample_of(x: Array, other: Array, rng: Rng) -> Pair:
    """Two samples of one distribution, no point in both: a point belongs where the turn puts it."""
    w = turn(x.shape[1], rng)
    return Pair(x, other @ w, places=x @ w, name=f"samples n={len(x)} d={x.shape[1]}")


def strangers(x: Array, y: Array, **rest: Any) -> Pair:
    return Pair(x, y, name=f"unrelated n={len(x)} m={len(y)} d={x.shape[1]}", related=False, **rest)


def variety(rng: Rng, make: Any, *, samples: bool = True) -> Pair:
    """A noisy copy, two samples, or two clouds of one kind that have nothing to do with each other.

    ``make(shape, rng)`` draws points; the generator ``shape`` decides their distribution, sizes and dimension.
    """
    seed, other = (int(one) for one in rng.integers(1 << 30, size=2))
    how = rng.choice(["copy", "copy", "samples" if samples else "copy", "unrelated"])
    x = make(np.random.default_rng(seed), rng)
    if how == "samples":
        return sample_of(x, make(np.random.default_rng(seed), rng), rng)
    if how == "unrelated":
        y = make(np.random.default_rng([seed, other]), rng)
        d = min(x.shape[1], y.shape[1])
        return strangers(x[:, :d], y[:, :d] * spread(x) / spread(y))
    return copy_of(x, rng)


def gaussian(rng: Rng) -> Pair:
    """Gaussians: two samples of one have no right map, so only copies and strangers."""

    def make(shape: Rng, draw: Rng) -> Array:
        n, d = size(shape), int(shape.choice([2, 3, 5, 10, 20, 40, 80, 150]))
        return draw.standard_normal((n, d)) * np.linspace(shape.uniform(1, 3), 0.5, d)

    return variety(rng, make, samples=False)


def mixture(rng: Rng) -> Pair:
    def make(shape: Rng, draw: Rng) -> Array:
        n, d, k = size(shape), int(shape.choice([2, 3, 6, 12, 30, 60])), int(shape.integers(4, 12))
        centres, weights = 2 * shape.standard_normal((k, d)), shape.dirichlet(2 * np.ones(k))
        return centres[draw.choice(k, n, p=weights)] + shape.uniform(0.2, 0.7) * draw.standard_normal((n, d))

    return variety(rng, make)


def gamma(rng: Rng) -> Pair:
    def make(shape: Rng, draw: Rng) -> Array:
        n, d = size(shape), int(shape.choice([2, 3, 5, 10, 25, 60, 120]))
        return draw.gamma(shape.uniform(0.5, 4), size=(n, d)) * np.linspace(shape.uniform(1, 4), 1, d)

    return variety(rng, make)


def sheet(rng: Rng) -> Pair:
    """A curved surface in d dimensions."""

    def make(shape: Rng, draw: Rng) -> Array:
        n, d = size(shape), int(shape.choice([3, 4, 8, 20, 60]))
        flat = draw.uniform(size=(n, 2))
        bends = shape.standard_normal((2, d)), shape.uniform(1, 5, (2, d)), shape.uniform(0, 6, d)
        return flat @ bends[0] + np.sin(flat @ bends[1] + bends[2])

    return variety(rng, make)


def curve(rng: Rng) -> Pair:
    """A curve of a few random waves."""

    def make(shape: Rng, draw: Rng) -> Array:
        n, d = size(shape), int(shape.choice([2, 3, 6, 15]))
        t = draw.uniform(size=(n, 1)) ** shape.uniform(0.7, 1.5)
        waves = np.arange(1, 5)
        size_of = shape.standard_normal((4, d)) / waves[:, None]
        return sum(size_of[k] * np.sin(2 * np.pi * waves[k] * shape.uniform(0.3, 1) * t + shape.uniform(0, 6, d)) for k in range(4))  # fmt: skip

    return variety(rng, make)


def heavy(rng: Rng) -> Pair:
    """Student's t and sparse (Laplace) coordinates: a few far points."""

    def make(shape: Rng, draw: Rng) -> Array:
        n, d = size(shape), int(shape.choice([3, 8, 20, 50]))
        tail = shape.uniform(2.5, 6)
        x = draw.laplace(size=(n, d)) if shape.uniform() < 0.5 else draw.standard_t(tail, size=(n, d))
        return x * np.linspace(2, 0.5, d) + 0.2 * np.abs(x)

    return variety(rng, make, samples=False)


def surface(rng: Rng) -> Pair:
    """Rolls, tori and spirals, bent and stretched, in three or more dimensions."""

    def make(shape: Rng, draw: Rng) -> Array:
        n, d = size(shape, 60), int(shape.choice([3, 3, 5, 10]))
        u, v = draw.uniform(size=(2, n))
        kind = shape.integers(3)
        if kind == 0:
            t = 1.5 * np.pi * (1 + 2 * u)
            x = np.stack([t * np.cos(t), 21 * v, t * np.sin(t)], axis=1) / 10
        elif kind == 1:
            r = 2 + (0.5 + 0.4 * u) * np.cos(2 * np.pi * v)
            x = np.stack([r * np.cos(2 * np.pi * u), 1.4 * r * np.sin(2 * np.pi * u), np.sin(2 * np.pi * v)], axis=1)
        else:
            x = np.stack([u * np.cos(9 * u), u * np.sin(9 * u), v * (0.5 + u)], axis=1) * 2
        lift = shape.standard_normal((3, d)) if d > 3 else np.diag(shape.uniform(0.6, 1.4, 3))
        return x @ lift

    return variety(rng, make)


def whitened(rng: Rng) -> Pair:
    """Whitened clouds with hardly more points than dimensions: strangers are nearly a simplex; copies are copies."""
    from invarot import Schatten

    d = int(rng.choice([8, 15, 28, 40, 60, 100]))
    n = d + int(rng.choice([2, 3, 4, 8, d // 2, 2 * d]))
    x, y = rng.standard_normal((2, n, d))
    options = {"p": Schatten(whiten=True), "translate": bool(rng.uniform() < 0.5)}
    if rng.uniform() < 0.25:
        x = rng.gamma(2.0, size=(n, d))
        return replace(copy_of(x, rng, noise=(0.0, 0.02)), options=options)
    return replace(strangers(x, y), options=options)


def degenerate(rng: Rng) -> Pair:
    """Clouds in which a map shows nothing: no extent, one outlier, a line, one column, two points, ties, a simplex."""
    n, m, d = (int(rng.integers(low, high)) for low, high in ((5, 80), (5, 80), (1, 12)))
    kinds = ("zeros", "constant", "outlier", "line", "column", "two", "simplex", "ties", "normal")
    made, names = [], []
    for count in (n, m):
        kind = str(rng.choice(kinds[:-1] if not made else kinds))
        names.append(kind)
        points = np.zeros((count, d))
        if kind == "constant":
            points = points + rng.standard_normal(d)
        elif kind == "outlier":
            points[0] = rng.standard_normal(d) * 10
        elif kind == "line":
            points = rng.standard_normal((count, 1)) * rng.standard_normal(d)
        elif kind == "column":
            points[:, :1] = rng.standard_normal((count, 1))
        elif kind == "two":
            points = rng.standard_normal((2, d))[rng.integers(2, size=count)]
        elif kind == "simplex":
            points = np.eye(count)[:, :d] if count <= d else np.eye(d)[rng.integers(d, size=count)]
        elif kind == "ties":
            points = rng.integers(0, 2, size=(count, d)).astype(float)
        elif kind == "normal":
            points = rng.standard_normal((count, d))
        made.append(points)
    options = {"translate": bool(rng.uniform() < 0.5), "scale": bool(rng.uniform() < 0.5)}
    return replace(strangers(*made, options=options), name=f"{names[0]}-{names[1]} n={n} m={m} d={d}")


def cut(x: Array, rng: Rng) -> Pair:
    """The copy lacks the points beyond a plane, or some of the groups: up to half."""
    d = x.shape[1]
    keep = float(rng.choice([0.95, 0.9, 0.8, 0.65, 0.5]))
    along = x @ turn(d, rng)[:, 0]
    rows = np.flatnonzero(along <= np.quantile(along, keep))
    order = rng.permutation(rows)
    y = noisy((x @ turn(d, rng))[order], float(rng.choice([0.0, 0.05])), rng)
    pairs = np.stack([order, np.arange(len(order))], axis=1)
    return Pair(x, y, pairs=pairs, options={"translate": True}, name=f"cut n={len(x)} d={d} kept={keep}")


def cut_mixture(rng: Rng) -> Pair:
    d, k, n = int(rng.choice([2, 3, 5, 10, 30])), int(rng.integers(5, 10)), size(rng, 80)
    x = 2 * rng.standard_normal((k, d))[rng.integers(k, size=n)] + 0.5 * rng.gamma(1.5, size=(n, d))
    return cut(x, rng)
