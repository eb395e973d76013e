"""The interface of all steps, their records, and the data passed between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ...alignment.result import Alignment
from ...arrays import Array
from ...words.vectors import Vectors
from ..checkpoint import Checkpoint
from ..progress import Progress
from ..recipe import Recipe

Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")


@dataclass(frozen=True, eq=False)
class StepRecord:
    """The record of one step of the pipeline.

    Attributes
    ----------
    name : str
    applied : bool
    detail : str
        What was done, or why the step was not applied.
    seconds : float
    values : dict
        Numbers and names that the step is applied with.
    arrays : dict
        What the step fitted, as NumPy arrays.
    """

    name: str
    applied: bool
    detail: str
    seconds: float = 0.0
    values: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return f"{self.name}: {self.status}"

    @property
    def status(self) -> str:
        """The detail, after "not applied: " if the step was not applied."""
        return self.detail if self.applied else f"not applied: {self.detail}"

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the arrays."""
        names = ("name", "applied", "detail", "seconds")
        return {**{name: getattr(self, name) for name in names}, "values": dict(self.values)}


@dataclass(frozen=True, eq=False)
class Work:
    """The state of a run between two steps: the settings, and both vocabularies after the last step.

    Attributes
    ----------
    source, target : Vectors
        The words, with their vectors as they were read.
    x, y : arrays (n, dx) and (m, dy)
        The rows of these words after the steps so far, on the device.
    recipe : Recipe
    progress : Progress
    alignment : Alignment, optional
        What the solve found.
    rng, device, memory, keep, checkpoint, seeds
        As in :func:`invarot.translation.learn`.
    """

    source: Vectors
    target: Vectors
    x: Array
    y: Array
    recipe: Recipe
    progress: Progress
    alignment: Alignment | None = None
    rng: np.random.Generator | None = None
    device: str = "cpu"
    memory: str | int | None = None
    keep: int | None = None
    checkpoint: Checkpoint | None = None
    seeds: tuple[tuple[str, str], ...] = ()


Known = Mapping[Side, Array]  # the rows of both vocabularies before a step
Fit = Callable[[Work], tuple[StepRecord, Work]]
Apply = Callable[[StepRecord, Array, Side, Sequence[str]], Array]
ApplyNew = Callable[[StepRecord, Array, Side, Sequence[str] | None, Known, tuple[Vectors, Vectors]], Array]


@dataclass(frozen=True)
class Step:
    """One step of the pipeline.

    Attributes
    ----------
    name : str
    fields : tuple of str
        The fields of the recipe that only this step reads.
    fit : callable
        From the work before the step to its record and the work after it.
    apply : callable
        From rows of a vocabulary (n, d) before the step to rows after it; side and words say whose.
    apply_new : callable, optional
        The same for new words, if the step has to compare them with the vocabulary; by default `apply`.
    """

    name: str
    fields: tuple[str, ...]
    fit: Fit
    apply: Apply
    apply_new: ApplyNew | None = None


def find_obstacle(work: Work, fields: Sequence[str], fewest: int) -> str | None:
    """Say why a finishing step cannot be applied: switched off, too few words, or too many; None if it can."""
    if not any(getattr(work.recipe, name) for name in fields):
        return f"{' and '.join(fields)} {'is' if len(fields) == 1 else 'are'} 0 in the recipe"
    few, many = sorted((len(work.source), len(work.target)))
    if few < fewest:
        return f"{few:,} words, fewer than {fewest:,}"
    if many > work.recipe.refine_words:
        return f"{many:,} words, more than refine_words = {work.recipe.refine_words:,}"
    return None
