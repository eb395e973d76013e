"""Anderson acceleration of Sinkhorn sweeps, with a safeguard.

A sweep is a fixed-point map v → G(v) that, near the solution, is linear and self-adjoint in the inner product weighted by
b. Plain sweeps converge by a factor λ per sweep, the second eigenvalue; slow problems have λ near 1. The combination of the
last few iterates with the smallest residual G(v) − v converges at a rate of about √(1 − λ): ten times fewer sweeps at
λ = 0.99. Each start of a batch has its own combination.

Its weights solve a system that is nearly singular. With all digits they would pass on the rounding of a sum enlarged, sweep after sweep,
until maps differ by the tolerance of a solve where only the order of a sum does (other ranks, other threads). So they are
regularised and rounded.
"""

from __future__ import annotations

from ..arrays import Array, device, namespace

PLAIN_SWEEPS = 4  # plain sweeps before the first combination: an inexact solve rarely needs more
DIFFERENCES = 5  # differences kept
GROWTH = 2.0  # a combination whose error exceeds this times the least error so far is undone
LEAP = 5.0  # largest accepted step of a log-potential: for longer steps a sweep is far from linear
COMBINATION_RIDGE = 1e-5  # relative to the trace of the normal equations
WEIGHT_STEP = 2.0**-6  # weights are multiples of it: what a combination leaves of a residual is larger than that


class Anderson:
    """Proposes the next v after each sweep, from every v and its G(v)."""

    def __init__(self, b: Array) -> None:
        self.b = b
        self.moves: list[Array] = []  # differences of successive G(v), (…, m)
        self.bends: list[Array] = []  # differences of their residuals
        self.last: tuple[Array, Array] | None = None  # the G(v) of the last good sweep, and its residual
        self.least: Array  # (…): the smallest error so far
        self.rest: Array  # (…): plain sweeps left to do
        self.penalty: Array  # (…): plain sweeps after the next undone combination

    def propose(self, v: Array, fresh: Array, error: Array, tol: float, *, last: bool = False) -> Array:
        """Return the next v, from the last v, its G(v) = ``fresh`` and its error (…); no combination in the ``last`` sweep."""
        xp = namespace(v)
        residual = fresh - v
        if self.last is None:
            self.last, self.least = (fresh, residual), error
            self.rest, self.penalty = xp.full_like(error, PLAIN_SWEEPS - 1.0), xp.full_like(error, 2.0 * PLAIN_SWEEPS)
            return fresh
        # NaN is bad too; the result of a plain sweep is kept whatever its error
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
        """Add a difference; a start whose combination was bad drops all of its differences."""
        xp = namespace(move)
        nothing = xp.zeros_like(move)
        keep = slice(-DIFFERENCES + 1, None)
        self.moves = [xp.where(good, one, nothing) for one in (*self.moves[keep], move)]
        self.bends = [xp.where(good, one, nothing) for one in (*self.bends[keep], bend)]

    def _combine(self, when: Array) -> Array:
        """Return the last G(v) minus the combination of moves that best cancels its residual, for the starts ``when``."""
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
        normal = normal + (COMBINATION_RIDGE * trace + xp.finfo(wide).tiny ** 0.5) * ridge
        pull = weighted @ xp.astype(residual, wide)[..., None]
        weights = xp.round(xp.linalg.solve(normal, pull) / WEIGHT_STEP) * WEIGHT_STEP
        step = xp.sum(weights * xp.astype(xp.stack(self.moves, axis=-2), wide), axis=-2)
        accepted = when & (xp.max(xp.abs(step), axis=-1) <= LEAP)  # False for NaN
        return xp.where(accepted[..., None], fresh - xp.astype(step, fresh.dtype), fresh)
