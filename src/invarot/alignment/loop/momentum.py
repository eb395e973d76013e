"""Momentum of the maps at a fixed epsilon.

A step of the alternation maximises a linear bound of a convex function of the map. Where that function is flat, many small
steps follow each other in nearly one direction. A plan step at a map ahead of the last one, in the direction of the
last step, covers them faster (Nesterov): the k-th step goes k/(k + 3) of the last one ahead. Where the map found there goes
back, momentum begins again at zero (O'Donoghue and Candès).
"""

from __future__ import annotations

from ...arrays import Array, namespace


class Momentum:
    """The direction of the last steps of s starts, each with its own momentum."""

    def __init__(self, maps: Array) -> None:
        self.last = maps  # (s, dx, dy): before the last step
        self.steps = maps[:, :1, :1] * 0  # (s, 1, 1): since momentum was zero

    def look_ahead(self, w: Array) -> Array:
        """Return the maps (s, dx, dy) at which to couple the clouds, ahead of w."""
        return w + self.steps / (self.steps + 3) * (w - self.last)

    def follow(self, w: Array, ahead: Array, found: Array) -> None:
        """Learn that the plans of the maps ``ahead`` of w led to the maps ``found``."""
        xp = namespace(w)
        onward = xp.sum((found - ahead) * (found - w), axis=(-2, -1), keepdims=True) > 0
        self.last = w
        self.steps = xp.where(onward, self.steps + 1, xp.zeros_like(self.steps))
