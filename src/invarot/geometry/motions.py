"""Rigid motions as maps w (d + 1, d), an orthogonal matrix times a scale above an offset, and the steps that improve them."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from scipy.linalg import expm

Floats = np.ndarray[Any, Any]

FARTHER = 5.0  # longest extrapolation, in steps


def move_back(y: Floats, w: Floats) -> Floats:
    """Return the points whose images under w are y: w is orthogonal up to a scale."""
    return np.asarray((y - w[-1]) @ w[:-1].T / measure_size(w) ** 2)


def measure_size(w: Floats) -> float:
    """Return the scale of a map that is orthogonal but for it."""
    return float(np.linalg.norm(w[:-1])) / w.shape[1] ** 0.5 or 1.0


def compose(w: Floats, move: Floats) -> Floats:
    """Return the map w followed by another, both (d + 1, d)."""
    return np.concatenate([w[:-1] @ move[:-1], (w[-1] @ move[:-1] + move[-1])[None]])


def turn_about(turn: Floats, centre: Floats) -> Floats:
    """Return z ↦ (z − centre) turn + centre as (d + 1, d)."""
    return np.concatenate([turn, (centre - centre @ turn)[None]])


def make_turns(d: int) -> list[Floats]:
    """Return the turns of each pair of axes, to first order."""
    skew = []
    for p, q in combinations(range(d), 2):
        one = np.zeros((d, d))
        one[p, q], one[q, p] = 1.0, -1.0
        skew.append(one)
    return skew


def make_moves(z: Floats, skew: list[Floats]) -> Floats:
    """Return how points z (k, d) move under each turn and each shift, to first order: (k, d, parameters)."""
    k, d = z.shape
    return np.concatenate([np.stack([z @ one for one in skew], axis=2), np.broadcast_to(np.eye(d), (k, d, d))], axis=2)


def leave_out_motion(turn: Floats, shift: Floats) -> Floats:
    """Return the motions (parameters, parameters − 1) without z ↦ z turn + shift, to first order."""
    pairs = combinations(range(len(turn)), 2)
    fixed = np.concatenate([[turn[p, q] for p, q in pairs], shift])
    return np.linalg.svd(fixed[None])[2][1:].T


def find_step(
    z: Floats, y: Floats, factor: Floats, free: Floats | None, *, scale: bool = False
) -> tuple[Floats, Floats]:
    """Return the turn (d, d) and shift (d,) of one Gauss–Newton step for z @ turn + shift ≈ y (k, d), within ``free`` motions.

    ``factor`` F (k, d, d): F'F is the precision of a difference. With ``scale`` the turn has a size, which only a step without ``free``
    can change.
    """
    skew = make_turns(z.shape[1])
    sized = scale and free is None
    moves = make_moves(z, skew)
    moves = flatten(factor @ (np.concatenate([moves, z[..., None]], axis=2) if sized else moves))
    moves = moves if free is None else moves @ free
    wanted = (factor @ (y - z)[..., None]).ravel()
    # two products are faster than one tall problem
    found = np.linalg.lstsq(moves.T @ moves, moves.T @ wanted, rcond=1e-10)[0]
    found = found if free is None else free @ found
    turn = expm(sum(angle * one for angle, one in zip(found, skew, strict=False)))
    size, shift = (math.exp(found[-1]), found[len(skew) : -1]) if sized else (1.0, found[len(skew) :])
    return size * turn, shift


def flatten(moves: Floats) -> Floats:
    """Return moves (k, d, parameters) as the rows of one matrix: its products are faster than sums over two axes."""
    return moves.reshape(-1, moves.shape[2])


def extrapolate(tried: list[tuple[Floats, Floats]], frame: Floats, *, scale: bool = False) -> Floats:
    """Return the map that the last steps lead to (Anderson acceleration): nearest points creep along flat parts of a surface.

    Its size is that of the last map, unless ``scale``.
    """
    w, step = tried[-1]
    if len(tried) < 2:
        return np.asarray(w + step)
    moves = np.stack([(frame @ (one - w)).ravel() for one, _ in tried[:-1]], axis=1)
    changes = np.stack([(frame @ (one - step)).ravel() for _, one in tried[:-1]], axis=1)
    share = np.linalg.lstsq(changes, (frame @ step).ravel(), rcond=1e-3)[0]
    farther = -((moves + changes) @ share)
    farther *= min(1.0, FARTHER * np.linalg.norm(frame @ step) / max(float(np.linalg.norm(farther)), 1e-300))
    found = w + step + np.linalg.solve(frame, farther.reshape(w.shape))
    u, _, vt = np.linalg.svd(found[:-1])
    linear = measure_size(found if scale else w) * (u @ vt)
    centre = frame.mean(axis=0)
    return np.concatenate([linear, (centre @ found - centre[:-1] @ linear)[None]])


def turn_axes(d: int, *, proper: bool) -> list[Floats]:
    """Return the maps of axes onto axes, either way round: signed permutations (d, d) but the first; rotations only if ``proper``."""
    found = [
        np.diag(signs)[list(order)] for order in permutations(range(d)) for signs in product([1.0, -1.0], repeat=d)
    ]
    return [one for one in found[1:] if not proper or np.linalg.det(one) > 0]
