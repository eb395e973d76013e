"""The choice among rigid motions in the plane and in space, where clouds are samples of surfaces.

Motions are fitted and compared on the surfaces, each beside other motions that could fit such a shape: a body of revolution turns about
its axis, a wall slides along itself, a box turns onto itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import expm

from ...geometry.motions import compose, turn_about, turn_axes
from ...geometry.surfaces import find_slip
from ...retrieval.thinning import thin
from ..tuning import FEW_POINTS, REPEATS, ROUGH_STEPS, STARTS_COMPARED, SURE_ERRORS, SURE_TWINS, TELLING_ERRORS
from .clouds import Clouds, Fit

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Chosen:
    """A motion (d + 1, d), the share of the points that it lays on the other surface, and what else fits."""

    map: Floats
    score: float
    rivals: list[Floats]  # other motions from which the surfaces do not tell it, the best first
    mirrored: bool = False  # whether a reflection, which was not allowed, fits better


def choose_motion(
    x: Floats, y: Floats, maps: Floats, *, proper: bool, stay: bool = False, scale: bool = False
) -> Chosen:
    """Return the best motion for clouds x (n, d) and y (m, d); fits begin at ``maps`` (s, d + 1, d).

    ``stay``: the best of these fits, even where a rival fits better.
    """
    full = Clouds.of(x, y, scale=scale)
    few = Clouds.of(thin(x, FEW_POINTS), thin(y, FEW_POINTS), scale=scale)
    copies = find_copies(full, few, maps)
    fits = copies or fit_best(few, maps)
    best = few.fit_on(full, fits[0])
    every, misfit = [best], full.measure(best)
    for w in fit_best(few, [*propose_rivals(few, best, proper=proper), *fits[1:]]):
        if few.differ(w, best) and count_errors(full, full.measure(w) - misfit) < 2 * TELLING_ERRORS:
            every.append(few.fit_on(full, w))
    every = keep_distinct(few, every)
    copies = [] if stay else [w for w in every if full.shares_points(w)]
    chosen = choose_best(full, copies or every, stay=stay)
    return replace(chosen, mirrored=proper and mirror_fits_better(full, few, chosen.map))


def mirror_fits_better(full: Clouds, few: Clouds, w: Floats) -> bool:
    """Return whether a mirror image of x fits clearly better than the motion w (d + 1, d), of all points and of few.

    Mirrored in a plane of its principal axes: a shape of another hand deceives where it is nearly its own mirror image.
    """
    moves = [
        one for one in turn_around_axes(few, w, proper=False) if np.linalg.det(one[:-1]) * np.linalg.det(w[:-1]) < 0
    ]
    misfits = [few.measure(one, some=True).mean() for one in moves]
    if min(misfits) > few.measure(w, some=True).mean() / SURE_TWINS:  # hopeless before any fit
        return False
    other = few.fit_on(full, few.slide(moves[int(np.argmin(misfits))]))
    return compare(full, full.look_at(other), full.look_at(w)) >= TELLING_ERRORS


def find_copies(full: Clouds, few: Clouds, maps: Floats) -> list[Floats]:
    """Return the motions by which the clouds share points, the best first; fits begin at the most promising of ``maps``."""
    order = np.argsort([few.measure(w, some=True).mean() for w in maps], kind="stable")
    starts = keep_distinct(few, [maps[k] for k in order])[:STARTS_COMPARED]
    found = [w for w in (few.fit_on(full, w) for w in starts) if full.shares_points(w)]
    return sorted(found, key=lambda w: float(full.measure(w).mean()))


def choose_best(clouds: Clouds, maps: list[Floats], *, stay: bool = False) -> Chosen:
    """Return the motion that beats the others, and those it cannot be told from; ``stay``: the first, whatever beats it."""
    fits = [clouds.look_at(w) for w in maps]
    ahead = np.array([[compare(clouds, one, other) for other in fits] for one in fits])
    best = 0 if stay else int(np.argmax(ahead.min(axis=1)))
    near = [k for k in np.argsort(ahead[best], kind="stable") if k != best and ahead[best, k] < TELLING_ERRORS]
    return Chosen(maps[best], 1 - float(fits[best].misfit.mean()), [maps[k] for k in near])


def compare(clouds: Clouds, one: Fit, other: Fit) -> float:
    """Return by how many standard errors a motion fits better than another, the mean of two answers.

    Among all points, a motion that covers more of the clouds wins, although a part that a scan has not seen contradicts nothing. Among
    the points that lie where the other cloud was sampled under both motions, one with hardly any overlap would win. So both count.
    """
    behind = other.misfit - one.misfit
    both = one.seen & other.seen
    return (count_errors(clouds, behind) + count_errors(clouds, behind, both)) / 2


def propose_rivals(clouds: Clouds, w: Floats, *, proper: bool) -> list[Floats]:
    """Return other motions (d + 1, d) that could fit a shape like the matched part, from the motion w.

    The best places on the way of the weakest motion, and the turns (and reflections) of the principal axes onto each other.
    """
    return [*slip_away(clouds, w), *turn_around_axes(clouds, w, proper=proper)]


def turn_around_axes(clouds: Clouds, w: Floats, *, proper: bool) -> list[Floats]:
    """Return the motion w followed by the turns (and reflections) of the principal axes of the matched part onto each other."""
    z = clouds.x.points @ w[:-1] + w[-1]
    near = np.isfinite(clouds.y.tree.query(z, distance_upper_bound=clouds.reach)[0])
    z = z[near] if near.sum() > z.shape[1] else z
    centre, axes = z.mean(axis=0), np.linalg.eigh(np.cov(z, rowvar=False))[1]
    return [compose(w, turn_about(axes @ turn @ axes.T, centre)) for turn in turn_axes(z.shape[1], proper=proper)]


def slip_away(clouds: Clouds, w: Floats) -> list[Floats]:
    """Return the motions (d + 1, d) with the least misfit along the motion that pairs resist least, both ways from w.

    Once around an axis that runs through the clouds, else as far as half their size. All other motions are fitted on the way.
    """
    slip = find_slip(clouds.x, clouds.y, w, clouds.reach)
    if slip is None:
        return []
    generator = np.zeros((len(w),) * 2)
    generator[:-1, :-1], generator[-1, :-1] = slip
    radius = 2**0.5 / max(float(np.linalg.norm(slip[0])), 1e-300)
    size = float(np.linalg.norm(np.ptp(clouds.y.points, axis=0)))
    farthest = np.pi * radius if radius < size / 2 else size / 2
    way = [w]
    for sign in (1, -1):
        move = expm(sign * farthest / ROUGH_STEPS * generator)[:, :-1]
        at = w
        for _ in range(ROUGH_STEPS):
            at = clouds.slide(compose(at, move), rounds=2, held=slip)
            way.append(at)
        way.reverse()
    misfit = [clouds.measure(at, some=True).mean() for at in way]
    return [way[k] for k in range(len(way)) if misfit[k] <= min(misfit[max(k - 1, 0) : k + 2])]


def fit_best(clouds: Clouds, maps: Any) -> list[Floats]:
    """Fit the most promising of ``maps`` that differ, and return those that still do, best first.

    After a few rounds only those go on that may still win and have not met a better one.
    """
    order = np.argsort([clouds.measure(w, some=True).mean() for w in maps], kind="stable")
    maps = keep_distinct(clouds, [maps[k] for k in order])[:STARTS_COMPARED]
    maps = [clouds.slide(w, rounds=REPEATS) for w in maps]
    misfits = [clouds.measure(w) for w in maps]
    least = min(misfits, key=lambda one: float(one.mean()))
    order = np.argsort([one.mean() for one in misfits], kind="stable")
    maps = [maps[k] for k in order if count_errors(clouds, misfits[k] - least) < SURE_ERRORS]
    maps = [clouds.slide(w) for w in keep_distinct(clouds, maps)]
    order = np.argsort([clouds.measure(w).mean() for w in maps], kind="stable")
    return keep_distinct(clouds, [maps[k] for k in order])


def keep_distinct(clouds: Clouds, maps: list[Floats]) -> list[Floats]:
    """Return the first of each group of ``maps`` that do not differ."""
    kept: list[Floats] = []
    for w in maps:
        if all(clouds.differ(w, other) for other in kept):
            kept.append(w)
    return kept


def count_errors(clouds: Clouds, difference: Floats, some: Floats | None = None) -> float:
    """Return the mean of ``difference``, of the points of x and then of y (of ``some`` alone), in standard errors.

    Neighbours lie off a surface together: the variance of the mean counts the covariance of a point with its neighbours.
    """
    some = np.ones(len(difference), dtype=bool) if some is None else some
    count = max(int(some.sum()), 1)
    mean = float(np.sum(difference[some])) / count
    apart = np.where(some, difference - mean, 0.0)
    parts = (clouds.x, apart[: len(clouds.x)]), (clouds.y, apart[len(clouds.x) :])
    shared = sum(float(np.sum(part * part[one.near].sum(axis=1))) for one, part in parts)
    variance = max(shared, float(np.sum(apart**2))) / count**2
    return mean / max(variance**0.5, 1e-12)
