"""Points matched by rotation-invariant profiles: their sorted similarities to their own cloud."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Array, as_like, is_array, is_torch, namespace
from ..errors import InputError
from ..rows import ALL, Rows
from ..threads import map_blocks
from .glance import try_quick_map
from .matching import moment_map, mutual_moment, soft_moment, squared_distances
from .profiles import describe_points, scaled, subsample

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
    where: Rows = ALL,
) -> Array:
    """Return one candidate per subsample size and matcher, in that order.

    Parameters
    ----------
    x, y, a, b, rng
        As of every start (:mod:`invarot.starts`); ``rng`` is not used.
    powers : floats
        Powers of the Gram matrix whose sorted rows are concatenated; small powers flatten the spectrum.
    distances : bool
        Whether to add sorted distances to the profiles.
    match : "sinkhorn", "mutual" or several
        Soft matches by entropic transport, or mutual nearest profiles only.
    sizes : int, None or several
        Maximal number of points per cloud (None: all).
    ordered : bool
        Rows are sorted by importance (a frequency-ranked vocabulary): a subsample is then the first rows.
    quantiles : int
        Length of a profile.
    standardise : bool
        Scale profiles to unit length, centre them, and scale again: for noisy or different spaces.
    epsilon : float
        Entropy weight of the match, relative to the mean cost.
    side : (fx, fy), arrays (n,) or (n, k) and (m,) or (m, k)
        Side information that should agree between matched points, such as log frequency rank.
    side_weight : float
        Weight of the side information relative to the profiles (both scaled to mean cost one).
    look_first : bool
        If the profiles of a few of many points already give a map that is clearly right, return it
        (`invarot.starts.glance`) and ignore the other options. Not with side information.
    where : Rows
        Which processes have these points, and so share the profiles.

    Returns
    -------
    maps : array (s, dx, dy)
    """
    matchers = (match,) if isinstance(match, str) else tuple(match)
    _check(powers, distances, matchers, quantiles, epsilon, side_weight)
    maps = []
    for size in as_sizes(sizes):
        (xs, a_s, rows), (ys, b_s, columns) = _subsample_both(x, y, a, b, size, ordered)
        looks = look_first and side is None
        plain = try_quick_map(xs, ys, a_s, b_s, quantiles=quantiles, epsilon=epsilon) if looks else None
        if plain is not None:
            maps += [plain] * len(matchers)
            continue
        cost = profile_cost(
            xs, ys, a_s, b_s, powers=powers, distances=distances, quantiles=quantiles, standardise=standardise,
            where=where,
        )  # fmt: skip
        if side is not None:
            cost = cost + side_weight * side_cost(side, x, y, rows, columns, a_s, b_s)
        for matcher in matchers:
            maps.append(moment_map(_match_moment(matcher, cost, xs, ys, a_s, b_s, epsilon)))
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
    where: Rows = ALL,
) -> Array:
    """Return squared distances between the profiles of all points of both clouds, (n, m), scaled to mean one."""
    quantiles = min(quantiles, max(x.shape[0], y.shape[0]))
    describe = partial(
        describe_points, powers=powers, distances=distances, quantiles=quantiles, standardise=standardise, where=where
    )
    px, py = describe(x, a), describe(y, b)
    return scaled(squared_distances(px, py), a, b)


def _subsample_both(
    x: Array, y: Array, a: Array, b: Array, size: int | None, ordered: bool
) -> list[tuple[Array, Array, Array]]:
    """Subsample each cloud, in parallel if there are cores."""

    def work(side: tuple[Array, Array]) -> tuple[Array, Array, Array]:
        return subsample(*side, size, ordered=ordered)

    sides = ((x, a), (y, b))
    return list(map(work, sides) if is_torch(x) else map_blocks(work, sides))


def _match_moment(matcher: str, cost: Array, x: Array, y: Array, a: Array, b: Array, epsilon: float) -> Array:
    if matcher == "mutual":
        return mutual_moment(cost, x, y, a, b)
    return soft_moment(cost, x, y, a, b, epsilon=epsilon)


def as_sizes(sizes: int | Sequence[int | None] | None) -> tuple[int | None, ...]:
    """Return one size or several as a tuple, checked."""
    found = (sizes,) if sizes is None or isinstance(sizes, int) else tuple(sizes)
    if not found or any(size is not None and size < 1 for size in found):
        raise InputError(
            f"sizes: expected at least one number ≥ 1, or None for all points, got {sizes}; pass sizes=None"
        )
    return found


def side_cost(side: tuple[Any, Any], x: Array, y: Array, rows: Array, columns: Array, a: Array, b: Array) -> Array:
    """Return squared distances between the side information of the given rows of ``x`` and ``y``, of mean one."""
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
                f"side: expected {points.shape[0]} rows in {name}, one per point, got shape {tuple(feature.shape)}; "
                "pass (fx, fy), one feature or feature vector per point"
            )
        found.append(feature)
    if found[0].shape[1] != found[1].shape[1]:
        raise InputError(
            f"side: expected as many columns in fx as in fy, got {found[0].shape[1]} and {found[1].shape[1]}; "
            "pass the same features for both clouds"
        )
    return found[0], found[1]


def _check(
    powers: Sequence[float], distances: bool, matchers: tuple[str, ...], quantiles: int, epsilon: float, weight: float
) -> None:
    if not powers and not distances:
        raise InputError("powers: expected at least one Gram power unless distances=True, got (); try powers=(0.5,)")
    unknown = [name for name in matchers if name not in MATCHERS]
    if unknown or not matchers:
        raise InputError(f"match: expected one or several of {', '.join(MATCHERS)}, got {matchers}")
    if quantiles < 1:
        raise InputError(f"quantiles: expected a number ≥ 1, got {quantiles}; pass the length of a profile")
    if not epsilon > 0:
        raise InputError(f"epsilon: expected a number > 0, got {epsilon}; it is relative to the mean cost, try 0.05")
    if not weight >= 0:
        raise InputError(f"side_weight: expected a number ≥ 0, got {weight}; use 0 to ignore the side information")
