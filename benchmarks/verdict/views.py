"""Pairs that correspond loosely: two views of one hidden cloud, drawn. Cells, graphs, networks, time series."""

from __future__ import annotations

import numpy as np

from benchmarks.simulated_cells import simulate

from .clouds import Array, Pair, Rng, noisy, shuffled, size, spread, strangers, turn


def unit(x: Array) -> Array:
    long = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(long > 0, long, 1)


def raw(x: Array) -> Array:
    return x


def unit_centred(x: Array) -> Array:
    """Unit rows, centred, unit rows again."""
    x = unit(x)
    return unit(x - x.mean(0))


def view(hidden: Array, d: int, bend: float, noise: float, rng: Rng) -> Array:
    """A nonlinear, noisy view of a hidden cloud: a linear part and ``bend`` of a random tanh layer."""
    k = hidden.shape[1]
    inside = hidden / spread(hidden)
    plain = inside @ rng.standard_normal((k, d)) / np.sqrt(k)
    bent = np.tanh(inside @ rng.standard_normal((k, d)) / np.sqrt(k) + rng.standard_normal(d))
    return noisy((1 - bend) * plain + bend * bent, noise, rng)


def leading(x: Array, d: int) -> Array:
    """The first d principal coordinates."""
    x = x - x.mean(0)
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    return u[:, :d] * s[:d]


def two_views(make: object, rng: Rng, *, isometric: bool) -> Pair:
    """Two assays of one hidden cloud, their leading coordinates with unit rows; or of two hidden clouds."""
    seeds = rng.integers(1 << 30, size=2)
    hidden, labels = make(np.random.default_rng(int(seeds[0])), rng)  # type: ignore[operator]
    related = rng.uniform() < 0.75
    second = hidden
    if not related:
        second, _ = make(np.random.default_rng(int(seeds[1])), rng)  # type: ignore[operator]
    bend, noise = float(rng.choice([0.0, 0.2, 0.5])), float(rng.choice([0.1, 0.3, 0.6]))
    k = hidden.shape[1]
    wide = 40
    if isometric:  # the linear part is the same up to a turn, so that an isometry is nearly right
        lift = turn(wide, rng)[:k]
        one, other = (
            noisy((1 - bend) * part @ lift + bend * spread(part) * np.tanh(view(part, wide, 0, 0, rng)), noise, rng)
            for part in (hidden, second)
        )
    else:
        one, other = view(hidden, wide, bend, noise, rng), view(second, wide, bend, noise, rng)
    dx, dy = (int(rng.choice([8, 10, 15, 20])) for _ in range(2))
    x, y = unit(leading(one, dx)), unit(leading(other, dy) @ turn(dy, rng))
    how = f"n={len(x)} d={dx},{dy} bend={bend} noise={noise}"
    if not related:
        return Pair(x, y, name=f"unrelated {how}", related=False)
    return shuffled(x, y, rng, labels, name=how)


def cells(rng: Rng) -> Pair:
    """Cell types of unequal size, each a blob with a direction of its own."""

    def make(shape: Rng, draw: Rng) -> tuple[Array, Array]:
        n, k, d = size(shape, 150, 600), int(shape.integers(4, 9)), 6
        centres, weights = 2.5 * shape.standard_normal((k, d)), shape.dirichlet(2 * np.ones(k))
        labels = draw.choice(k, n, p=weights)
        along = shape.standard_normal((k, d))
        return centres[labels] + along[labels] * draw.standard_normal((n, 1)) + 0.5 * draw.standard_normal(
            (n, d)
        ), labels

    return two_views(make, rng, isometric=bool(rng.uniform() < 0.7))


def trajectories(rng: Rng) -> Pair:
    """Cells along a branching tree."""

    def make(shape: Rng, draw: Rng) -> tuple[Array, Array]:
        n, branches, d = size(shape, 150, 600), int(shape.integers(3, 7)), 6
        ways, starts = shape.standard_normal((branches, d)), np.zeros((branches, d))
        for k in range(1, branches):
            parent = int(shape.integers(k))
            starts[k] = starts[parent] + ways[parent] * shape.uniform(0.4, 1)
        labels = draw.choice(branches, n, p=shape.dirichlet(3 * np.ones(branches)))
        t = draw.uniform(size=(n, 1))
        return 3 * (starts[labels] + t * ways[labels]) + 0.3 * draw.standard_normal((n, d)), labels

    return two_views(make, rng, isometric=bool(rng.uniform() < 0.7))


def tissues(rng: Rng) -> Pair:
    """Two simulated assays of one tissue, on the same cells or disjoint halves; or of two tissues. Draws below 1000."""
    n, seed = size(rng, 300, 900), int(rng.integers(1000))
    one = simulate(seed, n=n)
    related, halves = rng.uniform() < 0.75, rng.uniform() < 0.3
    other = one if related else simulate(int(rng.integers(1000)), n=n)
    prepare, options = (
        (unit, {}), (unit_centred, {}), (raw, {"translate": True, "scale": True}),
    )[int(rng.integers(3))]  # fmt: skip
    x, y = prepare(one.rna), prepare(other.atac)
    y = y @ turn(y.shape[1], rng)
    name = f"{one.form} {one.kind} {prepare.__name__} n={n}"
    if not related:
        return Pair(x, y, name=f"unrelated {name}", related=False, options=options)
    _, types = np.unique(one.types, return_inverse=True)
    whole = shuffled(x, y, rng, types, name=name, options=options)
    if not halves:
        return whole
    rows = rng.permutation(n)
    left, right = np.sort(rows[: n // 2]), np.sort(rows[n // 2 :])
    return Pair(
        x[left], y[right], labels=(types[left], types[right]), name=f"halves of {name}", options=options, joint=(x, y)
    )


def spectral(adjacency: Array, d: int) -> Array:
    """The leading eigenvectors of the normalised adjacency, each times its eigenvalue."""
    degree = np.maximum(adjacency.sum(1), 1e-9)
    normal = adjacency / np.sqrt(degree[:, None] * degree)
    values, vectors = np.linalg.eigh(normal)
    return vectors[:, -d - 1 : -1] * values[-d - 1 : -1] * np.sqrt(len(adjacency))


def graphs(rng: Rng) -> Pair:
    """Spectral embeddings of random geometric graphs: edges of one are drawn twice, or two graphs."""
    n, d = size(rng, 60, 400), int(rng.choice([4, 8, 16]))
    loss = float(rng.choice([0.0, 0.1, 0.3]))

    def embed(points: Array) -> Array:
        far = np.linalg.norm(points[:, None] - points, axis=2)
        near = np.triu(far < np.quantile(far, 12 / len(points) + 0.02), 1) & (rng.uniform(size=far.shape) >= loss)
        return spectral((near | near.T) + 1e-3, d)

    points = rng.uniform(size=(n, 2)) * [1, rng.uniform(0.5, 1)]
    w = turn(d, rng)
    if rng.uniform() < 0.4:
        return strangers(embed(points), embed(rng.uniform(size=(n, 2)) * [1, rng.uniform(0.5, 1)]) @ w)
    return shuffled(embed(points), embed(points) @ w, rng, name=f"graph n={n} d={d} loss={loss}")


def other_graphs(rng: Rng) -> Pair:
    """Spectral embeddings of two geometric graphs on rectangles of other sides: curved alike, and with nothing in common."""
    n, d = size(rng, 60, 300), int(rng.choice([3, 4, 6]))
    made = []
    for side in (rng.uniform(0.8, 1), rng.uniform(0.5, 0.7)):
        points = rng.uniform(size=(n, 2)) * [1, side]
        far = np.linalg.norm(points[:, None] - points, axis=2)
        made.append(spectral(((far < np.quantile(far, 0.12)) & (far > 0)) + 1e-3 / n, d))
    return strangers(made[0], made[1] @ turn(d, rng))


def weighted_graphs(rng: Rng) -> Pair:
    """Spectral embeddings, axes as long as their eigenvalues: of graphs on two rectangles of other sides, or of one graph that lost edges."""
    n, d = size(rng, 60, 300), int(rng.integers(3, 7))
    share = float(rng.uniform(0.08, 0.16))

    def embed(points: Array, loss: float = 0.0) -> Array:
        far = np.linalg.norm(points[:, None] - points, axis=2)
        near = np.triu((far < np.quantile(far, share)) & (far > 0), 1) & (rng.uniform(size=far.shape) >= loss)
        edges = near | near.T
        degree = edges.sum(1) + 1e-3
        values, vectors = np.linalg.eigh((edges + 1e-3 / n) / np.sqrt(degree[:, None] * degree))
        return vectors[:, -d - 1 : -1] * values[-d - 1 : -1] * np.sqrt(n)

    one, other = (rng.uniform(size=(n, 2)) * [1, side] for side in (rng.uniform(0.8, 1), rng.uniform(0.5, 0.7)))
    w = turn(d, rng)
    if rng.uniform() < 0.75:
        return strangers(embed(one), embed(other) @ w)
    return shuffled(embed(one), embed(one, loss=0.1) @ w, rng, name=f"weighted graph n={n} d={d}")


def blocks(rng: Rng) -> Pair:
    """Spectral embeddings of graphs of unequal blocks, edges drawn twice, or of two block models."""
    n, k = size(rng, 80, 400), int(rng.integers(4, 9))

    def model() -> tuple[Array, Array]:
        labels = rng.choice(k, n, p=rng.dirichlet(3 * np.ones(k)))
        rates = rng.uniform(0.02, 0.25, (k, k))
        rates = (rates + rates.T) / 2 + np.diag(rng.uniform(0.2, 0.5, k))
        weight = rng.gamma(3, 1 / 3, n)
        return np.minimum(rates[labels][:, labels] * weight[:, None] * weight, 0.95), labels

    def embed(rates: Array) -> Array:
        edges = np.triu(rng.uniform(size=rates.shape) < rates, 1)
        return spectral((edges | edges.T) + 1e-3, k - 1)

    rates, labels = model()
    w = turn(k - 1, rng)
    if rng.uniform() < 0.35:
        return strangers(embed(rates), embed(model()[0]) @ w)
    return shuffled(embed(rates), embed(rates) @ w, rng, labels, name=f"blocks n={n} k={k}")


def layers(inputs: Array, d: int, rng: Rng) -> Array:
    """Activations of a random network of two layers of 400 units, in their leading coordinates."""
    wide = 400
    inside = inputs / spread(inputs)
    first = np.maximum(inside @ rng.standard_normal((inputs.shape[1], wide)) / np.sqrt(inputs.shape[1]), 0)
    second = np.maximum((first - first.mean(0)) @ rng.standard_normal((wide, wide)) * np.sqrt(2 / wide), 0)
    return leading(second, d)


def networks(rng: Rng) -> Pair:
    """Two random networks on one input, a mixture; or on two."""
    n, k, d = size(rng, 100, 500), int(rng.integers(4, 11)), int(rng.choice([5, 10, 20, 40]))

    def inputs() -> tuple[Array, Array]:
        labels = rng.choice(k, n, p=rng.dirichlet(3 * np.ones(k)))
        return 1.5 * rng.standard_normal((k, 20))[labels] + rng.gamma(2, 0.5, size=(n, 20)), labels

    one, labels = inputs()
    w = turn(d, rng)
    if rng.uniform() < 0.3:
        return strangers(layers(one, d, rng), layers(inputs()[0], d, rng) @ w)
    return shuffled(layers(one, d, rng), layers(one, d, rng) @ w, rng, labels, name=f"networks n={n} d={d}")


def series(rng: Rng) -> Pair:
    """Windows of a chaotic orbit seen by two sensors; or of an orbit and of a coloured noise."""
    n, width = size(rng, 60, 500), int(rng.choice([4, 8, 16]))
    gap = int(rng.integers(4, 12))

    def orbit(steps: int) -> Array:
        state = rng.standard_normal(3) + np.array([0, 0, 25])
        out = np.empty((steps + 500, 3))
        sigma, rho, beta = rng.uniform(9, 11), rng.uniform(26, 32), rng.uniform(2.4, 2.9)
        for i in range(len(out)):
            a, b, c = state
            state = state + 0.01 * np.array([sigma * (b - a), a * (rho - c) - b, a * b - beta * c])
            out[i] = state
        return out[500:]

    steps = n * 3 + width * gap
    one = orbit(steps)
    related = rng.uniform() < 0.7
    other = one if related else np.cumsum(rng.standard_normal((steps, 3)), axis=0)
    other = other if related else other - np.cumsum(other, axis=0) / np.arange(1, steps + 1)[:, None]
    mix = rng.standard_normal(3)
    tilt = float(rng.choice([0.0, 0.1, 0.3]))  # how much the second sensor reads otherwise
    rows = np.arange(n)[:, None] * 3 + np.arange(width) * gap
    x = (one @ mix)[rows]
    y = (other @ (mix + tilt * rng.standard_normal(3)))[rows]
    x, y = x - x.mean(), (y - y.mean()) * x.std() / y.std()
    y = noisy(y, float(rng.choice([0.0, 0.05, 0.2])), rng) @ turn(width, rng)
    if not related:
        return strangers(x, y)
    return shuffled(x, y, rng, name=f"series n={n} d={width} tilt={tilt}")
