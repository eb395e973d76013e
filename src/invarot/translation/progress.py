"""Record and report the progress of learning: steps and, given a dictionary, accuracy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from ..alignment.history import Step
from ..arrays import Array
from ..retrieval.metrics import evaluate
from ..words.dictionaries import Gold

MEASURED = 20_000  # words per side that accuracy is measured on

Event = dict[str, Any]
Listener = Callable[[Event], object]
Scorer = Callable[[Array, Array], float]  # rows of x and of y in one space -> share right at 1


class Progress:
    """The history of a run; ``listener`` is called with every event.

    The ``dictionary`` is only used to measure.
    """

    def __init__(self, listener: Listener | None = None, dictionary: Sequence[tuple[str, str]] | None = None) -> None:
        self.listener = listener
        self.dictionary = dictionary
        self.history: list[Event] = []

    def report(self, event: Event) -> None:
        """Record ``event`` and pass it to the listener."""
        self.history.append(event)
        if self.listener is not None:
            self.listener(event)

    def make_scorer(self, source: Sequence[str], target: Sequence[str]) -> Scorer | None:
        """Return a function that measures precision at 1 by CSLS on the first words of each side.

        None without a dictionary, or if none of its pairs is in the vocabularies.
        """
        source, target = source[:MEASURED], target[:MEASURED]
        gold = None if self.dictionary is None else Gold.from_pairs(self.dictionary, source, target)
        if gold is None or not gold.queries:
            return None
        targets = gold.targets

        def score(x: Array, y: Array) -> float:
            return evaluate(x[:MEASURED], y[:MEASURED], targets, at=(1,)).precision[1]

        return score

    def record_score(self, stage: str, score: Scorer | None, x: Array, y: Array) -> None:
        """Record the precision at 1 after ``stage``, if there is a scorer."""
        if score is not None:
            self.history.append({"stage": stage, "precision@1": score(x, y)})

    def watch_solver(self, stage: str, measure: Callable[[Array], float] | None = None) -> Callable[[Step], None]:
        """Return a function that records the solver's steps; ``measure`` scores the map of those that carry one."""

        def watch(step: Step) -> None:
            event = {**asdict(step), "stage": stage if step.stage == "solve" else f"{stage}, {step.stage}"}
            shown = event.pop("map", None)
            event.pop("left", None)
            if measure is not None and shown is not None and step.stage != "race":  # a race has many steps
                event["right"] = measure(shown)
            self.report(event)

        return watch
