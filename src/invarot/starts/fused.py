"""A short annealed alternation whose plan combines the map with a prior from the profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array, log, namespace, transpose
from ..errors import InputError
from ..geometry.frames import weighted_second_moment
from .descriptors import descriptor
from .matching import moment_map, soft_moment, squared_distances
from .profiles import principal, scaled, subsample
from .signature import as_sizes, side_cost


def fused(
    x: Array,
    y: Array,
    a: Array,
    b: Array,
    *,
    rng: np.random.Generator,
    sizes: int | Sequence[int | None] | None = 5000,
    ordered: bool = False,
    powers: Sequence[float] = (0.0, 0.25, 0.5, 1.0),
    neighbours: Sequence[int] = (5, 20, 100),
    quantiles: int = 24,
    components: int = 20,
    side: tuple[Any, Any] | None = None,
    side_weight: float = 0.2,
    prior_weight: float = 10.0,
    epsilon: tuple[float, float] = (0.2, 0.02),
    decay: float = 0.93,
) -> Array:
    """Return one candidate per subsample size, for clouds too different for profiles alone.

    Each point has a descriptor: its profiles under several Gram powers, as normal scores, and their mean over its
    nearest neighbours. The distance C between descriptors is a prior in the alternation that decays with epsilon:
    plan ∝ exp(⟨xW, y⟩ / ε − κ C), κ from ``prior_weight`` to 0.

    Parameters
    ----------
    x, y, a, b, rng
        As of every start (:mod:`invarot.starts`); ``rng`` is not used.
    sizes : int, None or several
        Maximal number of points per cloud (None: all).
    ordered : bool
        Rows are sorted by importance: a subsample is then the first rows.
    powers, quantiles : floats, int
        Gram powers and length of the profiles.
    neighbours : ints
        Sizes of the neighbourhoods averaged over (those not smaller than the cloud are skipped).
    components : int
        Principal components of the descriptors that are compared.
    side, side_weight : (fx, fy), float
        Side information, as in `signature`.
    prior_weight : float
        κ at the start; C has mean one.
    epsilon : (first, last)
        Relative to rms(x)·rms(y), the root mean squared lengths.
    decay : float
        Factor of epsilon per step. Closer to 1 is slower and more reliable.

    Returns
    -------
    maps : array (s, dx, dy)
    """
    first, last = epsilon
    if not 0 < decay < 1 or not 0 < last <= first:
        raise InputError(f"epsilon, decay: expected first ≥ last > 0 and 0 < decay < 1, got {epsilon} and {decay}")
    if prior_weight < 0 or components < 1 or quantiles < 1:
        raise InputError(
            f"prior_weight, components, quantiles: expected numbers ≥ 0, ≥ 1 and ≥ 1, got {prior_weight}, "
            f"{components} and {quantiles}"
        )
    kinds: dict[str, Any] = {"powers": powers, "quantiles": quantiles}
    maps = []
    for size in as_sizes(sizes):
        xs, a_s, rows = subsample(x, a, size, ordered=ordered)
        ys, b_s, columns = subsample(y, b, size, ordered=ordered)
        kinds["neighbours"] = [k for k in neighbours if 0 < k < min(xs.shape[0], ys.shape[0])]
        px, py = _compress(descriptor(xs, a_s, **kinds), descriptor(ys, b_s, **kinds), a_s, b_s, components)
        prior = scaled(squared_distances(px, py), a_s, b_s)
        if side is not None:
            prior = prior + side_weight * side_cost(side, x, y, rows, columns, a_s, b_s)
        start = moment_map(soft_moment(prior, xs, ys, a_s, b_s, epsilon=0.1, max_iter=15))
        maps.append(_anneal(xs, ys, a_s, b_s, start, prior, prior_weight, first, last, decay))
    return namespace(x).stack(maps)


def _compress(p: Array, q: Array, a: Array, b: Array, components: int) -> tuple[Array, Array]:
    """Project both clouds' descriptors on their common principal components, half-whitened."""
    xp = namespace(p, q)
    both, weights = xp.concat([p, q]), xp.concat([a, b]) / 2
    coordinates, spread = principal(both, weights)
    coordinates, spread = coordinates[:, -components:], spread[-components:]
    safe = xp.where(spread > 0, spread, xp.ones_like(spread))
    found = coordinates * xp.where(spread > 0, safe**-0.25, xp.zeros_like(spread))[None, :]
    return found[: p.shape[0]], found[p.shape[0] :]


def _anneal(
    x: Array,
    y: Array,
    a: Array,
    b: Array,
    start: Array,
    prior: Array,
    weight: float,
    first: float,
    last: float,
    decay: float,
) -> Array:
    """Alternate with a decaying prior; a few Sinkhorn sweeps per step, column potentials kept from step to step."""
    xp = namespace(x)
    lengths = [float(xp.linalg.trace(weighted_second_moment(v, w))) for v, w in ((x, a), (y, b))]
    unit = (lengths[0] * lengths[1]) ** 0.5
    if not unit > 0:
        return start
    steps = max(1, int(np.ceil(np.log(last / first) / np.log(decay))))
    found, g = start, xp.zeros_like(b)
    for step in range(steps + 6):
        eps = max(first * decay**step, last) * unit
        kappa = weight * max(0.0, 1.0 - step / steps)
        z = ((x @ found) @ transpose(y) + g[None, :]) / eps
        if kappa > 0:
            z -= kappa * prior
        z = xp.exp(z - xp.max(z, axis=1, keepdims=True))
        z = z * (a / xp.sum(z, axis=1))[:, None]
        u, v = xp.ones_like(a), xp.ones_like(b)
        for _ in range(5):
            v = b / xp.clip(transpose(z) @ u, 1e-30, None)
            u = a / xp.clip(z @ v, 1e-30, None)
        g = g + eps * log(v)
        found = moment_map((transpose(x * u[:, None]) @ z) @ (v[:, None] * y))
    return found
