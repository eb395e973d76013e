"""History of a solve: its steps, its final status, and the starts that were tried."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any, overload

from ..arrays import Array
from ..checks import check_choice
from ..errors import NotConverged


@dataclass(frozen=True)
class Step:
    """One outer step: a plan, then a map.

    ``epsilon`` is relative to the cost scale; ``energy`` is the entropic objective, which decreases at a fixed epsilon;
    ``map_change`` is ‖W − W'‖_F/‖W‖_F; ``plan_change`` the rms change of the images under the plan, of x or, if that has fewer
    dimensions, of y, relative to the other cloud; ``gap`` the duality gap of the map step. Only steps passed to ``on_step``
    carry the ``map`` of the leading start, in the coordinates of the solve (with fewer points than dimensions, those of their
    span), and ``left``, about how many steps are left in the stage.
    """

    step: int
    epsilon: float
    objective: float
    energy: float
    map_change: float
    plan_change: float
    marginal_error: float
    inner_iterations: int
    gap: float
    mode: str
    stage: str = "solve"
    map: Array | None = field(default=None, repr=False, compare=False)
    left: int | None = field(default=None, repr=False, compare=False)


PASSING = ("map", "left")  # fields of a step that only its observer sees


class History(Sequence[Step]):
    """The steps of the chosen start; ``history["objective"]`` is one column of them."""

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self._steps = tuple(steps)

    @overload
    def __getitem__(self, key: int) -> Step: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Step]: ...
    @overload
    def __getitem__(self, key: str) -> list[float]: ...
    def __getitem__(self, key: int | slice | str) -> Step | Sequence[Step] | list[float]:
        if isinstance(key, str):
            check_choice(key, "history", [one.name for one in fields(Step)])
            return [getattr(step, key) for step in self._steps]
        return self._steps[key]

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, History) and self._steps == other._steps

    def __hash__(self) -> int:
        return hash(self._steps)

    def __repr__(self) -> str:
        return f"History of {len(self)} steps: {', '.join(one.name for one in fields(Step) if one.repr)}"

    def __add__(self, other: History) -> History:
        return History([*self._steps, *other._steps])

    def rows(self) -> list[dict[str, float | str]]:
        """One dict per step, ready for a DataFrame or JSON."""
        rows = [asdict(step) for step in self._steps]
        return [{key: value for key, value in row.items() if key not in PASSING} for row in rows]

    def plot(self) -> Any:
        """Draw objective, epsilon, and the change of map and plan against the steps; return a matplotlib Figure."""
        from ..report.pictures import draw_history

        return draw_history(self)


class Status(Enum):
    """How the solve ended, as a sentence."""

    SETTLED = "The objective settled at the last epsilon and the marginals are within tolerance."
    NOT_SETTLED = "The objective was still changing when max_iter was reached: raise max_iter, or tol."
    MARGINALS = (
        "The marginals are not within plan_tol where the solve ended: "
        "raise max_iter or plan_max_iter, or the schedule's floor."
    )

    def warn(self) -> None:
        if self is not Status.SETTLED:
            warnings.warn(self.value, NotConverged, stacklevel=3)


@dataclass(frozen=True)
class StartRecord:
    """One start that was tried, and the objective it reached at the end or when it was dropped."""

    name: str
    objective: float
    finished: bool
