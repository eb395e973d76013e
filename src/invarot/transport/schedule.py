"""How epsilon falls from one outer step to the next."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import InputError


@dataclass(frozen=True)
class Schedule:
    """Epsilon starts at ``epsilon``, is multiplied by ``decay`` each outer step and stays at ``floor``.

    Values are relative to the cost scale, which is fixed once a run: the mean cost 2·rms(x)·rms(y) of points that are
    not matched (times radius over the identity's radius), so that one schedule fits any units. ``absolute=True``
    takes them in units of the squared distance instead. ``adaptive=True`` falls faster, down to ``decay``⁸ a step,
    while the map hardly moves.

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
                raise InputError(f"Schedule: {name} must be a positive number, got {value!r}; try {name}=0.01")
        if not (_is_number(self.decay) and 0 < self.decay < 1):
            raise InputError(f"Schedule: decay must lie strictly between 0 and 1, got {self.decay!r}; try decay=0.95")
        if self.floor > self.epsilon:
            raise InputError(
                f"Schedule: floor must not exceed epsilon, got floor={self.floor!r} and epsilon={self.epsilon!r}"
            )

    @classmethod
    def fixed(cls, epsilon: float, *, absolute: bool = False) -> Schedule:
        """One epsilon throughout."""
        return cls(epsilon=epsilon, floor=epsilon, absolute=absolute)

    def last(self) -> Schedule:
        """The last epsilon of this schedule throughout."""
        return Schedule.fixed(self.floor, absolute=self.absolute)

    def after(self, epsilon: float, moved: float) -> float:
        """The next epsilon, ``moved`` being the relative change of the map in the last step."""
        power = 1.0
        if self.adaptive:
            power = min(8.0, max(1.0, 0.05 / max(moved, 1e-9)))
        return float(max(epsilon * self.decay**power, self.floor))

    def values(self) -> list[float]:
        """Every epsilon of a plain (not adaptive) run, first to floor."""
        found = [self.epsilon]
        while found[-1] > self.floor:
            found.append(max(found[-1] * self.decay, self.floor))
        return found


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
