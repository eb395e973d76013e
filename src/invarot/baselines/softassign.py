"""Softassign Procrustes (Rangarajan, Chui & Bookstein 1997): annealed soft matches with outliers, and a rigid map."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..alignment.history import History, Step
from ..alignment.result import Alignment
from ..arrays import Array, logsumexp, namespace, to_numpy, transpose
from ..checks import check_map, check_number
from ..geometry.orthogonal import RotationGroup
from ..starts.matching import squared_distances
from ..transport.sparse_plan import SparsePlan
from .outcome import as_alignment, change, check_registered, record


def softassign(
    x: Any,
    y: Any,
    *,
    start: Any = None,
    outlier: float | None = None,
    epsilon: float = 0.5,
    floor: float = 0.002,
    decay: float = 0.9,
    steps: int = 2,
    sweeps: int = 20,
) -> Alignment:
    """Alternate rotation, translation and soft matches, while the temperature decreases.

    Parameters
    ----------
    start : map (d, d), optional
        The first rotation; the identity by default, as in the paper.
    outlier : float or None
        The squared distance, in units of E‖x − mean‖² + E‖y − mean‖², beyond which a point stays unmatched (the paper's
        α); None matches every point.
    epsilon, floor, decay : float
        First and last temperature 1/β, in the same units, and its factor per step.
    steps, sweeps : int
        Rounds of match and map per temperature; Sinkhorn sweeps per match.

    Departures: any dimension (the paper's angle in the plane is Kabsch's rotation here), no scale, and the sweeps run
    in the log domain.
    """
    x, y, a, b = check_registered(x, y)
    xp = namespace(x)
    check_number(epsilon, "epsilon", low=check_number(floor, "floor", low=0, open_low=True))
    w = check_map(np.eye(x.shape[1]) if start is None else start, "start", x.shape[1], y.shape[1], x)[0]
    mean_x, mean_y = xp.mean(x, axis=0), xp.mean(y, axis=0)
    unit = float(xp.mean(xp.sum((x - mean_x) ** 2, axis=1)) + xp.mean(xp.sum((y - mean_y) ** 2, axis=1))) or 1.0
    offset = mean_y - mean_x @ w
    reward = None if outlier is None else check_number(outlier, "outlier", low=0, open_low=True) * unit
    history: list[Step] = []
    temperature = epsilon
    while True:
        for _ in range(steps):
            match = soft_matches(squared_distances(x @ w + offset, y), temperature * unit, reward, sweeps)
            found, offset = _fit_rigid(x, y, match)
            moved, w = change(found, w), found
        score = float(xp.sum(match * (x @ w @ transpose(y)))) / x.shape[0]
        history.append(record(len(history), objective=score, mode="softassign", epsilon=temperature, map_change=moved))
        if temperature <= floor:
            break
        temperature = max(temperature * decay, floor)
    plan = _as_plan(x @ w + offset, y, match)
    return as_alignment(x, y, a, b, w, name="softassign", plan=plan, offset=offset, history=History(history),
                        options={"outlier": outlier, "epsilon": epsilon, "floor": floor})  # fmt: skip


def soft_matches(cost: Array, temperature: float, reward: float | None, sweeps: int) -> Array:
    """Return matches whose rows and columns sum to one, or to at most one with an outlier row and column."""
    xp = namespace(cost)
    z = -cost / temperature
    if reward is not None:  # one more row and column: the reward of staying unmatched
        z = xp.concat([z, xp.full_like(z[:, :1], -reward / temperature)], axis=1)
        z = xp.concat([z, xp.full_like(z[:1, :], -reward / temperature)], axis=0)
    n, m = cost.shape
    more = max(n, m) / min(n, m)  # without outliers, points of the smaller cloud are matched several times
    rows, columns = xp.zeros_like(z[:, 0]), xp.zeros_like(z[0, :])
    for _ in range(sweeps):
        rows = -logsumexp(z + columns[None, :], 1) + (np.log(more) if reward is None and n < m else 0.0)
        if reward is not None:
            rows[-1] = 0.0  # the outlier row may take any number of points
        columns = -logsumexp(z + rows[:, None], 0) + (np.log(more) if reward is None and m < n else 0.0)
        if reward is not None:
            columns[-1] = 0.0
    return xp.exp(z + rows[:, None] + columns[None, :])[:n, :m]


def _fit_rigid(x: Array, y: Array, match: Array) -> tuple[Array, Array]:
    """Fit rotation and translation to soft matches."""
    xp = namespace(x)
    total = xp.sum(match)
    mean_x, mean_y = xp.sum(match, axis=1) @ x / total, xp.sum(match, axis=0) @ y / total
    w = RotationGroup().best_map(transpose(x - mean_x) @ match @ (y - mean_y))
    return w, mean_y - mean_x @ w


def _as_plan(z: Array, y: Array, match: Array) -> SparsePlan:
    """Return the matches above 0.001 as a plan; ``error``: deviation of its rows from uniform (outliers)."""
    xp = namespace(z)
    rows, columns = xp.nonzero(match > 1e-3)
    mass = match[rows, columns]
    mass = mass / xp.sum(mass)
    sums = np.bincount(to_numpy(rows), weights=to_numpy(mass), minlength=z.shape[0])
    return SparsePlan(z, y, rows, columns, mass, error=float(np.abs(sums - 1 / z.shape[0]).sum()))
