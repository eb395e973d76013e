"""Hints: the next step that the clouds and the evidence support, where an alignment is not aligned."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...arrays import Array, machine_epsilon, namespace, to_numpy
from ...geometry.frames import mean_square
from ...retrieval.nearest import nearest
from ..options import Maps, Solver
from ..problem import Problem
from ..tuning import FEW_POINTS, LARGEST_CUT, LOOSER, OTHER_SIZE, SAME_ANSWER, SLACK
from ..verdict import Verdict

MIRRORED = "a mirror image fits better: try reflections (p=inf; reflect=True of clouds.register)"


def advise(
    verdict: Verdict, problem: Problem, w: Array, clouds: tuple[Array, Array, Array, Array], maps: Maps, solver: Solver,
    *, translate: bool, scale: bool, searched: bool, effort: str | None, agreed: bool,
) -> Verdict:  # fmt: skip
    """Add the next step that the evidence supports; ``clouds`` are x, y, a and b as the caller gave them."""
    if problem.overlap is not None:
        if verdict.evidence.better:
            verdict = replace(verdict, reasons=(*verdict.reasons, MIRRORED))
        # parts of a cloud spread differently: only other units do by so much
        return verdict if scale or verdict else add_size_hint(verdict, *clouds, radius=maps.radius, least=LOOSER)
    if math.isinf(maps.p) and not maps.whiten:  # maps that keep norms need clouds of one size and origin
        hinted = verdict if scale else add_size_hint(verdict, *clouds, radius=maps.radius)
        verdict = hinted if hinted is not verdict or translate else add_origin_hint(verdict, *clouds)
    verdict = add_next_step(verdict, problem, w, searched=searched, effort=effort, agreed=agreed)
    return name_overlap(verdict, maps, solver)


def name_overlap(verdict: Verdict, maps: Maps, solver: Solver) -> Verdict:
    """Name ``overlap="auto"`` where a map is not right: unmatched points do not show themselves under a wrong map."""
    told = verdict.probability == 0.0 or any("overlap=" in reason for reason in verdict.reasons)
    excluded = not math.isinf(maps.p) or maps.whiten or maps.radius is not None or solver.objective != "simplified"
    if verdict or told or excluded or solver.refit:
        return verdict
    hint = 'if points may have no counterpart, try overlap="auto"'
    return replace(verdict, reasons=(*verdict.reasons, hint))


def add_size_hint(
    verdict: Verdict, x: Array, y: Array, a: Array, b: Array, *, radius: float | None, least: float = OTHER_SIZE
) -> Verdict:
    """Add the hint ``scale=True`` if maps of this radius cannot reach the size of y; the verdict is then not aligned."""
    size_x, size_y = _size_and_origin(x, a)[0], _size_and_origin(y, b)[0]
    if min(size_x, size_y) == 0 or 1 / least < (radius or 1.0) * size_x / size_y < least:
        return verdict
    advice = "try scale=True" if radius is None else "try scale=True without a radius"
    hint = f"x spreads {size_x / size_y:.3g} times as far as y: {advice}"
    word = verdict.word if verdict.word == "failed" else "doubtful"
    return replace(verdict, word=word, probability=min(verdict.probability, 0.5), reasons=(*verdict.reasons, hint))


def add_origin_hint(verdict: Verdict, x: Array, y: Array, a: Array, b: Array) -> Verdict:
    """Add the hint ``translate=True`` if the verdict is not aligned and the clouds lie at different distances."""
    (size_x, off_x), (size_y, off_y) = _size_and_origin(x, a), _size_and_origin(y, b)
    if verdict.word == "aligned" or min(size_x, size_y) == 0:
        return verdict
    error = math.sqrt(1 / x.shape[0] + 1 / y.shape[0])  # of the centres of two samples, over their spread
    if abs(off_x / size_x - off_y / size_y) <= SAME_ANSWER + error:
        return verdict
    hint = "the clouds lie at different distances from the origin: try translate=True"
    return replace(verdict, reasons=(*verdict.reasons, hint))


def add_next_step(
    verdict: Verdict, problem: Problem, w: Array, *, searched: bool, effort: str | None, agreed: bool = False
) -> Verdict:
    """Add what to try next, if the verdict is not aligned: the steps that the clouds support, else more of a search.

    ``searched``: the starts were those of "auto", with this ``effort``; ``agreed``: two solves that agreed ended the search.
    """
    if verdict.word == "aligned":
        return verdict
    asked = _ask_transposed(problem)
    supported = (asked,) if asked else (_suggest_unit_rows(problem), _suggest_overlap(problem, w))
    hints = tuple(one for one in supported if one is not None)
    if verdict.probability == 0.0:  # degenerate clouds, which no step mends
        hints = (asked,) if asked else ()
    elif not hints and not any("try " in reason for reason in verdict.reasons):
        hints = (_suggest_search(verdict, searched, effort, agreed),)
    return replace(verdict, reasons=(*verdict.reasons, *hints))


def _ask_transposed(problem: Problem) -> str | None:
    """More columns than rows on both sides, or as many rows on one as columns on the other: are rows features?"""
    n, m, (dx, dy) = problem.x.shape[0], problem.y.shape[0], problem.whole_shape
    if dx != dy and (n == dy or m == dx):
        name = "x" if n < dx else "y"
        return f"{name} has as many rows as the other has columns: if its rows are features, pass {name}.T"
    if n < dx and m < dy:
        return "both have more columns than rows, one row per point: if rows are features, pass x.T and y.T"
    return None


def _suggest_unit_rows(problem: Problem) -> str | None:
    """Lengths of rows that are distributed differently on both sides cannot correspond."""
    shares = np.linspace(0.05, 0.95, 19)
    lengths = []
    for points in (problem.x, problem.y):
        xp = namespace(points)
        length = to_numpy(xp.sqrt(xp.sum(points**2, axis=1))).astype(np.float64)
        lengths.append(np.quantile(length, shares) / max(math.sqrt(float(np.mean(length**2))), 1e-300))
    if float(np.mean(np.abs(lengths[0] - lengths[1]))) < SAME_ANSWER:
        return None
    return "rows of x and of y differ in how their lengths vary: try unit rows, x / |x| and y / |y|"


def _suggest_overlap(problem: Problem, w: Array) -> str | None:
    """Points far from all others of the other cloud, where most are near, may have no counterpart."""
    z = problem.x @ w
    for name, points, others in (("x", z, problem.y), ("y", problem.y, z)):
        xp = namespace(points)
        some = points[:: max(1, points.shape[0] // FEW_POINTS)]
        far = to_numpy(xp.sum((some - others[nearest(some, others)]) ** 2, axis=1))
        typical = float(np.median(far)) + 1e-9 * float(np.max(far))
        share = float(np.mean(far > LARGEST_CUT * typical))
        if share > SLACK:
            return (
                f'{share:.0%} of {name} lie far from the other cloud: if they have no counterpart, try overlap="auto"'
            )
    return None


def _suggest_search(verdict: Verdict, searched: bool, effort: str | None, agreed: bool) -> str:
    if verdict.evidence.better:
        return MIRRORED if searched else 'try start="auto", which finds a better answer'
    if verdict.symmetric:
        return "a few known pairs (seeds=) choose between the maps"
    if searched and effort != "max":
        more = "max" if agreed or effort == "high" else "high"  # the same starts would agree again
        return f'try effort="{more}", or a few known pairs (seeds=)'
    return "a few known pairs (seeds=) would help the search"


def _size_and_origin(points: Array, weights: Array) -> tuple[float, float]:
    """Return the rms spread of points about their centre, 0 where it is rounding, and its distance from the origin: both rotation-invariant."""
    centre = weights @ points
    far = float(namespace(points).linalg.vector_norm(centre))
    size = math.sqrt(mean_square(points - centre, weights))
    return (size if size > 64 * machine_epsilon(points) * far else 0.0), far
