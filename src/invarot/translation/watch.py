"""What is kept and told while a translation is learned: steps, times and, given a dictionary, accuracy."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ..alignment.history import Step
from ..arrays import Array
from ..retrieval.metrics import evaluate
from ..words.dictionaries import Gold
from ..words.vectors import Vectors

WATCHED = 20_000  # words of each side that accuracy is measured among

Event = dict[str, Any]
Listener = Callable[[Event], object]


class Watch(Protocol):
    """P@1 of two maps (None is the identity)."""

    def __call__(self, x_map: Array, y_map: Array | None) -> float: ...


def watcher(
    x: Array, y: Array, source: Vectors, target: Vectors, dictionary: Sequence[tuple[str, str]]
) -> Watch | None:
    """P@1 of two maps (None is the identity) among the first words of each side; nothing where none can be asked."""
    gold = Gold.from_pairs(dictionary, source.words[:WATCHED], target.words[:WATCHED])
    if not gold.queries:
        return None

    def watch(x_map: Array, y_map: Array | None) -> float:
        left, right = x[:WATCHED] @ x_map, y[:WATCHED] if y_map is None else y[:WATCHED] @ y_map
        return evaluate(left, right, gold.targets, at=(1,)).precision[1]

    return watch


def step_watcher(
    x: Array, y: Array, source: Sequence[str], target: Sequence[str], dictionary: Sequence[tuple[str, str]]
) -> Callable[[Array], float] | None:
    """P@1 of a map among the words of a stage, (n, dx) and (m, dy)."""
    gold = Gold.from_pairs(dictionary, source, target)
    if not gold.queries:
        return None

    def right(found: Array) -> float:
        return evaluate(x @ found, y, gold.targets, at=(1,)).precision[1]

    return right


@dataclass
class Clock:
    """Keeps the history and the time of each stage, and tells the listener."""

    listener: Listener | None

    def __post_init__(self) -> None:
        self.history: list[Event] = []
        self.laps: dict[str, float] = {}
        self.last = time.perf_counter()

    def observer(self, stage: str, right: Callable[[Array], float] | None = None) -> Callable[[Step], None]:
        """To be told of the steps of a stage. ``right`` measures the map of a step, where the step carries one."""

        def observe(step: Step) -> None:
            event = {**asdict(step), "stage": stage if step.stage == "solve" else f"{stage}, {step.stage}"}
            shown = event.pop("map", None)
            if right is not None and shown is not None and step.stage != "race":  # the race has many steps
                event["right"] = right(shown)
            self.tell(event)

        return observe

    def tell(self, event: Event) -> None:
        self.history.append(event)
        if self.listener is not None:
            self.listener(event)

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round(now - self.last, 3)
        self.last = now
