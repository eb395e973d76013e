"""Marginals that may be missed: what Sinkhorn does to a potential once it has matched its marginal.

With the dual potentials f = ε·u and g = ε·v of the plan Γij = aᵢ bⱼ exp((fᵢ + gⱼ − Cij)/ε), each update of Sinkhorn first finds the
potential that matches a marginal, then relaxes it:

- all mass: nothing to do;
- `Damped`, the marginal may be missed at the price τ·KL: f ← f·τ/(τ + ε);
- `Capped`, mass may stay unmatched at the price λ per unit: f ← min(f, λ). A pair that costs more than 2λ is never matched. With
  ``total`` the price is found such that this much mass is matched: partial transport.

Here the norms of the points do not cancel, so costs are given in coordinates that contain them (`with_norms`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..arrays import Array, namespace


@dataclass(frozen=True)
class Damped:
    """``ratio`` = τ/ε: both marginals may be missed at the price τ·KL."""

    ratio: float

    def relax(self, potential: Array) -> Array:
        return potential * (self.ratio / (1 + self.ratio))

    def bound(self, potential: Array) -> Array:
        """Return a proposed potential within its bounds."""
        return potential

    def holds(self, potential: Array) -> Array:
        """Return where a potential may be replaced by any larger one."""
        return namespace(potential).zeros_like(potential) > 0


@dataclass(frozen=True)
class Capped:
    """``limit`` = λ/ε (…, 1): mass may stay unmatched at the price λ; ``total``: the mass to match, which sets the price."""

    limit: Array
    total: float | None = None

    def relax(self, potential: Array) -> Array:
        return namespace(potential).minimum(potential, self.limit)

    def bound(self, potential: Array) -> Array:
        return self.relax(potential)

    def holds(self, potential: Array) -> Array:
        return potential >= self.limit

    def towards_total(self, share: Array, b: Array) -> Capped:
        """Return the marginals with the price moved to where the matched mass becomes ``total``.

        ``share`` (…, m) is the logarithm of the matched share of each weight of b (m,): the mass itself may be too small for
        the dtype.
        """
        if self.total is None:
            return self
        xp = namespace(share)
        top = xp.max(xp.where(b > 0, share, xp.full_like(share, -xp.inf)), axis=-1, keepdims=True)
        mass = top + xp.log(xp.sum(b * xp.exp(xp.minimum(share - top, xp.zeros_like(share))), axis=-1, keepdims=True))
        return Capped(self.limit + (math.log(self.total) - mass) / 2, self.total)


Marginals = Damped | Capped


def with_norms(z: Array, y: Array) -> tuple[Array, Array]:
    """Return z (…, n, d + 2) and y (m, d + 2) whose inner products are −‖zᵢ − yⱼ‖²/2."""
    xp = namespace(z)
    square_z, square_y = (-xp.sum(points**2, axis=-1)[..., None] / 2 for points in (z, y))
    return (
        xp.concat([z, square_z, xp.ones_like(square_z)], axis=-1),
        xp.concat([y, xp.ones_like(square_y), square_y], axis=-1),
    )
