"""Points matched by what rotations cannot change: the sorted profile of their similarities to their own cloud."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array, as_like, is_array, is_torch, namespace
from ..errors import InputError
from ..threads import map_blocks
from .glance import glance
from .matching import moment_map, mutual_moment, soft_moment, squared_distances
from .profiles import describe, scaled, subsample

MATCHERS = ("sinkhorn", "mutual")


def signature(
    x: Array,
    y: Array,
    a: Array,
    b: Array,
    *,
    rng: np.random.Generator,
    powers: Sequence[float] = (0.25, 0.5, 1.0),
    distances: bool = False,
    match: str | Sequence[str] = "sinkhorn",
    sizes: int | Sequence[int | None] | None = 5000,
    ordered: bool = False,
    quantiles: int = 128,
    standardise: bool = True,
    epsilon: float = 0.05,
    side: tuple[Any, Any] | None = None,
    side_weight: float = 0.3,
    look_first: bool = True,
) -> Array:
    """One candidate for each subsample size and each matcher, in that order.

    Parameters
    ----------
    x, y : arrays (n, dx), (m, dy)
    a, b : arrays (n,), (m,)
    rng : numpy Generator
        Not used: the signature leaves nothing to chance.
    powers : floats
        Powers of the Gram matrix whose sorted rows are put side by side; small ones flatten the spectrum.
    distances : bool
        Whether sorted distances join the profiles.
    match : "sinkhorn", "mutual" or several
        Soft matches by entropic transport, or mutual nearest profiles only.
    sizes : int, None or several
        Most points used of each cloud (None: all).
    ordered : bool
        Rows come most important first (a frequency-ranked vocabulary): a subsample is then the first rows.
    quantiles : int
        Length of a profile.
    standardise : bool
        Scale profiles to unit length, centre them, and scale again: for noisy, unlike spaces.
    epsilon : float
        Entropy weight of the match, relative to the mean cost.
    side : (fx, fy), arrays (n,) or (n, k) and (m,) or (m, k)
        Side information that should agree between matched points, such as log frequency rank.
    side_weight : float
        Weight of the side information beside the profiles (both scaled to mean cost one).
    look_first : bool
        Where the profiles of a few of many points already give a map that is plainly right, take it
        (`invarot.starts.glance`): the other options then have no say. Not with side information.

    Returns
    -------
    maps : array (s, dx, dy)
    """
    matchers = (match,) if isinstance(match, str) else tuple(match)
    _check(powers, distances, matchers, quantiles, epsilon, side_weight)
    maps = []
    for size in as_sizes(sizes):
        (xs, a_s, rows), (ys, b_s, columns) = _both_subsamples(x, y, a, b, size, ordered)
        looks = look_first and side is None
        plain = glance(xs, ys, a_s, b_s, quantiles=quantiles, epsilon=epsilon) if looks else None
        if plain is not None:
            maps += [plain] * len(matchers)
            continue
        cost = profile_cost(
            xs, ys, a_s, b_s, powers=powers, distances=distances, quantiles=quantiles, standardise=standardise
        )
        if side is not None:
            cost = cost + side_weight * side_cost(side, x, y, rows, columns, a_s, b_s)
        for matcher in matchers:
            maps.append(moment_map(_moment(matcher, cost, xs, ys, a_s, b_s, epsilon)))
    return namespace(x).stack(maps)


def profile_cost(
    x: Array,
    y: Array,
    a: Array,
    b: Array,
    *,
    powers: Sequence[float] = (0.25, 0.5, 1.0),
    distances: bool = False,
    quantiles: int = 128,
    standardise: bool = True,
) -> Array:
    """Squared distances between the profiles of all points of both clouds, (n, m), scaled to mean one."""
    quantiles = min(quantiles, max(x.shape[0], y.shape[0]))
    px = describe(x, a, powers=powers, distances=distances, quantiles=quantiles, standardise=standardise)
    py = describe(y, b, powers=powers, distances=distances, quantiles=quantiles, standardise=standardise)
    return scaled(squared_distances(px, py), a, b)


def _both_subsamples(
    x: Array, y: Array, a: Array, b: Array, size: int | None, ordered: bool
) -> list[tuple[Array, Array, Array]]:
    """`subsample` of each cloud, side by side where there are cores for it."""

    def work(side: tuple[Array, Array]) -> tuple[Array, Array, Array]:
        return subsample(*side, size, ordered=ordered)

    sides = ((x, a), (y, b))
    return list(map(work, sides) if is_torch(x) else map_blocks(work, sides))


def _moment(matcher: str, cost: Array, x: Array, y: Array, a: Array, b: Array, epsilon: float) -> Array:
    if matcher == "mutual":
        return mutual_moment(cost, x, y, a, b)
    return soft_moment(cost, x, y, a, b, epsilon=epsilon)


def as_sizes(sizes: int | Sequence[int | None] | None) -> tuple[int | None, ...]:
    """One size or several, checked."""
    found = (sizes,) if sizes is None or isinstance(sizes, int) else tuple(sizes)
    if not found or any(size is not None and size < 1 for size in found):
        raise InputError(f"sizes must be positive, or None for all points, got {sizes}: give at least one size")
    return found


def side_cost(side: tuple[Any, Any], x: Array, y: Array, rows: Array, columns: Array, a: Array, b: Array) -> Array:
    """Squared distances between the side information of chosen rows of ``x`` and of ``y``, of mean one."""
    xp = namespace(x)
    fx, fy = _side_features(side, x, y)
    return scaled(squared_distances(xp.take(fx, rows, axis=0), xp.take(fy, columns, axis=0)), a, b)


def _side_features(side: tuple[Any, Any], x: Array, y: Array) -> tuple[Array, Array]:
    found = []
    for name, values, points in zip(("fx", "fy"), side, (x, y), strict=True):
        feature = as_like(values if is_array(values) else np.asarray(values, dtype=np.float64), x)
        feature = feature[:, None] if feature.ndim == 1 else feature
        if feature.ndim != 2 or feature.shape[0] != points.shape[0]:
            raise InputError(
                f"side {name} must have one row per point ({points.shape[0]}), got shape {tuple(feature.shape)}: "
                "give (fx, fy), one feature or vector of features for each point"
            )
        found.append(feature)
    if found[0].shape[1] != found[1].shape[1]:
        raise InputError(
            f"side fx and fy must have as many columns, got {found[0].shape[1]} and {found[1].shape[1]}: "
            "give the same features for both clouds"
        )
    return found[0], found[1]


def _check(
    powers: Sequence[float], distances: bool, matchers: tuple[str, ...], quantiles: int, epsilon: float, weight: float
) -> None:
    if not powers and not distances:
        raise InputError("powers must not be empty unless distances=True, got (): give at least one Gram power")
    unknown = [name for name in matchers if name not in MATCHERS]
    if unknown or not matchers:
        raise InputError(f"match must be of {MATCHERS}, got {matchers}: choose one or several of them")
    if quantiles < 1:
        raise InputError(f"quantiles must be at least 1, got {quantiles}: give the length of a profile")
    if not epsilon > 0:
        raise InputError(f"epsilon must be positive, got {epsilon}: it is relative to the mean cost, try 0.05")
    if not weight >= 0:
        raise InputError(f"side_weight must not be negative, got {weight}: use 0 to ignore the side information")
