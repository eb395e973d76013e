"""The epsilon schedule: how epsilon decreases from one outer step to the next."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..checks import check_flag
from ..errors import InputError


@dataclass(frozen=True)
class Schedule:
    """Epsilon starts at ``epsilon``, is multiplied by ``decay`` each outer step and stays at ``floor``.

    Values are relative to the cost scale, which is fixed once per run: the mean cost 2·rms(x)·rms(y) of unmatched points
    (times radius over the identity's radius), so that one schedule fits any units. ``absolute=True`` takes them in units
    of the squared distance. ``adaptive=True`` decreases faster, by up to the eighth power of ``decay`` per step, while the map hardly changes.

    Examples
    --------
    >>> Schedule(epsilon=1.0, decay=0.5, floor=0.2).values()
    [1.0, 0.5, 0.25, 0.2]
    """

    epsilon: float = 1.0
    decay: float = 0.95
    floor: float = 0.01
    absolute: bool = False
    adaptive: bool = False

    def __post_init__(self) -> None:
        for name in ("epsilon", "floor"):
            value = getattr(self, name)
            if not (_is_number(value) and math.isfinite(value) and value > 0):
                raise InputError(f"{name}: expected a number > 0, got {value!r}; try {name}=0.01")
        if not (_is_number(self.decay) and 0 < self.decay < 1):
            raise InputError(f"decay: expected a number > 0 and < 1, got {self.decay!r}; try decay=0.95")
        for name in ("absolute", "adaptive"):
            check_flag(getattr(self, name), name)
        if self.floor > self.epsilon:
            raise InputError(
                f"floor: expected at most epsilon={self.epsilon!r}, got {self.floor!r}; lower floor or raise epsilon"
            )

    @classmethod
    def fixed(cls, epsilon: float, *, absolute: bool = False) -> Schedule:
        """Return a schedule with one constant epsilon."""
        return cls(epsilon=epsilon, floor=epsilon, absolute=absolute)

    def last(self) -> Schedule:
        """Return a schedule that stays at the last epsilon of this one."""
        return Schedule.fixed(self.floor, absolute=self.absolute)

    def starting_at(self, epsilon: float) -> Schedule:
        """Return the same schedule from ``epsilon`` on, or from its floor if that is larger."""
        return replace(self, epsilon=max(epsilon, self.floor))

    def ending_at(self, floor: float) -> Schedule:
        """Return the same schedule down to ``floor``, which is its only epsilon if it starts lower."""
        return replace(self, floor=floor, epsilon=max(self.epsilon, floor))

    def between(self, low: float, high: float) -> Schedule:
        """Return the same schedule with every epsilon in [low, high]."""
        return replace(self, epsilon=min(max(self.epsilon, low), high), floor=min(max(self.floor, low), high))

    def after(self, epsilon: float, moved: float) -> float:
        """Return the next epsilon, given ``moved``, the relative change of the map in the last step."""
        power = 1.0
        if self.adaptive:
            power = min(8.0, max(1.0, 0.05 / max(moved, 1e-9)))
        return float(max(epsilon * self.decay**power, self.floor))

    def values(self) -> list[float]:
        """Return every epsilon of a non-adaptive run, from the first to the floor."""
        found = [self.epsilon]
        while found[-1] > self.floor:
            found.append(max(found[-1] * self.decay, self.floor))
        return found


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
