"""Anderson acceleration of Sinkhorn sweeps, with a way back.

A sweep is a fixed-point map v → G(v) that, near the answer, is linear and self-adjoint in the inner product weighted by b.
Its plain iterates contract by a factor λ a sweep, the second eigenvalue, and a problem that is slow has λ near 1. The
combination of the last few iterates whose residual G(v) − v is smallest contracts about as √(1 − λ) says: ten times
fewer sweeps where λ = 0.99. Each start of a batch has its own combination.
"""

from __future__ import annotations

from ..arrays import Array, device, namespace

AFTER = 4  # plain sweeps before the first combination: an inexact solve rarely needs more
DEPTH = 5  # differences that are kept
GROWTH = 2.0  # a combination whose error is larger than this times the least so far is undone
LEAP = 5.0  # the largest step of a log-potential that is believed: further away a sweep is far from linear
RIDGE = 1e-8  # of the trace of the normal equations


class Anderson:
    """Where to go after each sweep; fed with every v and the G(v) it led to."""

    def __init__(self, b: Array) -> None:
        self.b = b
        self.moves: list[Array] = []  # differences of successive G(v), (…, m)
        self.bends: list[Array] = []  # and of their residuals
        self.last: tuple[Array, Array] | None = None  # the G(v) of the last good sweep, and its residual
        self.least: Array  # (…): the smallest error so far
        self.rest: Array  # (…): plain sweeps still to do
        self.penalty: Array  # (…): how many the next undone combination will cost

    def propose(self, v: Array, fresh: Array, error: Array, tol: float, *, last: bool = False) -> Array:
        """The v to sweep next, from the last one, its G(v) = ``fresh`` and its error (…); nothing risky in the ``last``."""
        xp = namespace(v)
        residual = fresh - v
        if self.last is None:
            self.last, self.least = (fresh, residual), error
            self.rest, self.penalty = xp.full_like(error, AFTER - 1.0), xp.full_like(error, 2.0 * AFTER)
            return fresh
        # NaN is bad too, and fresh from a v that was not combined is kept whatever its error
        bad = ~(error <= GROWTH * self.least) & (self.rest <= 0)
        good = ~bad[..., None]
        before, residual_before = self.last
        self._remember(good, fresh - before, residual - residual_before)
        self.last = (xp.where(good, fresh, before), xp.where(good, residual, residual_before))
        self.least = xp.where(error < self.least, error, self.least)
        self.rest = xp.where(bad, self.penalty, self.rest - 1)
        self.penalty = xp.where(bad, 2 * self.penalty, self.penalty)
        return self.last[0] if last else self._combine((self.rest <= 0) & (error > tol))

    def _remember(self, good: Array, move: Array, bend: Array) -> None:
        """Add a difference; a start that went wrong forgets all of its own."""
        xp = namespace(move)
        nothing = xp.zeros_like(move)
        keep = slice(-DEPTH + 1, None)
        self.moves = [xp.where(good, one, nothing) for one in (*self.moves[keep], move)]
        self.bends = [xp.where(good, one, nothing) for one in (*self.bends[keep], bend)]

    def _combine(self, when: Array) -> Array:
        """The last G(v), less the combination of moves that takes most of its residual away, for the starts ``when``."""
        xp = namespace(when)
        assert self.last is not None
        fresh, residual = self.last
        if not bool(xp.any(when)):
            return fresh
        wide = xp.float64
        bends = xp.astype(xp.stack(self.bends, axis=-2), wide)
        weighted = bends * xp.astype(self.b, wide)
        normal = weighted @ xp.matrix_transpose(bends)
        trace = xp.sum(xp.linalg.diagonal(normal), axis=-1)[..., None, None]
        ridge = xp.eye(len(self.bends), dtype=wide, device=device(normal))
        normal = normal + (RIDGE * trace + xp.finfo(wide).tiny ** 0.5) * ridge
        pull = weighted @ xp.astype(residual, wide)[..., None]
        weights = xp.linalg.solve(normal, pull)
        step = xp.sum(weights * xp.astype(xp.stack(self.moves, axis=-2), wide), axis=-2)
        believed = when & (xp.max(xp.abs(step), axis=-1) <= LEAP)  # not NaN
        return xp.where(believed[..., None], fresh - xp.astype(step, fresh.dtype), fresh)
