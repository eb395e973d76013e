"""Few points in many dimensions: swap the matches of two points while the score increases.

With about as many points as dimensions a map can send almost any point to any other, so wrong matches are a local
optimum: the map is fitted to them. The score of the best map after a swap of two matches has a closed form, so that all
pairs can be tested.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...arrays import as_like, to_numpy
from ...geometry.orthogonal import polar
from ...transport.exact import are_uniform
from ..candidate import Candidate
from ..loop.alternate import continue_from
from ..problem import Problem
from ..tuning import DISTINCT, PER_DIMENSION, PROBES, ROUGH_STEPS

NODES = 32  # of the integral for the gain of a swap
Floats = np.ndarray[Any, Any]


def swap_matches(problem: Problem, candidate: Candidate) -> Candidate | None:
    """Return a better candidate, solved from a one-to-one matching with swaps; None if no swap gains.

    For orthogonal maps and as many points on both sides, of equal weights, at most two per dimension.
    """
    count, d = problem.x.shape[0], min(problem.x.shape[1], problem.y.shape[1])
    few = DISTINCT <= count == problem.y.shape[0] <= min(PER_DIMENSION * d, PROBES)
    if not (few and problem.orthogonal and problem.seed_moment is None and are_uniform(problem.a, problem.b)):
        return None
    x, y = (to_numpy(points).astype(np.float64) for points in (problem.x, problem.y))
    first = assign(x @ to_numpy(candidate.map).astype(np.float64) @ y.T)
    match = best_swaps(_compact(x), _compact(y), first)
    if match is first:
        return None
    w = as_like(polar(x.T @ y[match]), candidate.map)
    found = continue_from(problem, candidate, w, problem.budgets.solve.at_floor(), stage="swap")
    return found if found.value > candidate.value else None


def best_swaps(x: Floats, y: Floats, match: Floats) -> Floats:
    """Repeat the best swap of two matches until nothing gains; return the matching."""
    rows, columns = np.triu_indices(len(x), 1)
    settled = _settle(x, y, match)
    best = score(x, y, settled)
    if best > score(x, y, match) * (1 + 1e-9):
        match = settled
    for _ in range(len(x)):
        pair = int(np.argmax(swap_gains(x, y[match], rows, columns)))
        trial = match.copy()
        trial[[rows[pair], columns[pair]]] = match[[columns[pair], rows[pair]]]
        trial = _settle(x, y, trial)
        value = score(x, y, trial)
        if value <= best * (1 + 1e-9):
            break
        best, match = value, trial
    return match


def swap_gains(x: Floats, y: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the gain of ‖xᵀy‖_* for each pair (i, j) of rows and columns whose two rows of y are swapped.

    A swap subtracts abᵀ from the moment, a = xᵢ − xⱼ and b = yᵢ − yⱼ; in its singular bases, with singular values σ, that adds

        (1/π) ∫₀^∞ log((1 − Σ σab/(t² + σ²))² + t² Σ a²/(t² + σ²) Σ b²/(t² + σ²)) dt.
    """
    u, s, vt = np.linalg.svd(x.T @ y)
    unit = float(np.mean(s))
    if unit == 0:
        return np.zeros(len(rows))
    s, left, right = s / unit, x @ u / unit**0.5, y @ vt.T / unit**0.5
    a, b = left[rows] - left[columns], right[rows] - right[columns]
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    angle = (nodes + 1) * (np.pi / 4)
    t, weights = np.tan(angle), unit * weights / (4 * np.cos(angle) ** 2)
    share = [1 / (t**2 + np.pad(s, (0, side - len(s)))[:, None] ** 2) for side in (a.shape[1], b.shape[1])]
    kept = 1 - (a[:, : len(s)] * b[:, : len(s)] * s) @ share[0][: len(s)]
    ratio = kept**2 + t**2 * (a**2 @ share[0]) * (b**2 @ share[1])
    return np.asarray(np.log(np.maximum(ratio, np.finfo(float).tiny)) @ weights)


def assign(scores: Floats) -> Floats:
    return np.asarray(linear_sum_assignment(scores, maximize=True)[1])


def score(x: Floats, y: Floats, match: Floats) -> float:
    """Return max over orthogonal maps W of Σ ⟨xᵢW, y_match(i)⟩: a nuclear norm."""
    return float(np.linalg.svd(x.T @ y[match], compute_uv=False).sum())


def _settle(x: Floats, y: Floats, match: Floats) -> Floats:
    """Run the exact alternation from a matching until it repeats, on the range of the moment."""
    for _ in range(ROUGH_STEPS):
        u, s, vt = np.linalg.svd(x.T @ y[match], full_matrices=False)
        known = s > 1e-6 * s[0]
        found = assign(x @ (u[:, known] @ vt[known]) @ y.T)
        if np.array_equal(found, match):
            break
        match = found
    return match


def _compact(points: Floats) -> Floats:
    """Return the same points in as few coordinates as possible; the score does not depend on them."""
    u, s, _ = np.linalg.svd(points, full_matrices=False)
    return np.asarray(u * s)
