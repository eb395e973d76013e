"""Step 5, spelling: additional coordinates for the letters of a word, for languages that share an alphabet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...arrays import Array
from ...words.spelling import SPELLING_COORDINATES, add_spelling, usable_weight
from .shape import SIDES, Side, Step, StepRecord, Work

NAME = "spelling"


def fit_spelling(work: Work) -> tuple[StepRecord, Work]:
    """Use the spelling weight of the recipe, if the two vocabularies share an alphabet."""
    if not work.recipe.spelling:
        return StepRecord(NAME, False, "spelling is 0 in the recipe"), work
    weight = usable_weight(work.recipe.spelling, work.source.words, work.target.words)
    if not weight:
        return StepRecord(NAME, False, "the two vocabularies do not share an alphabet"), work
    detail = f"weight {weight:g}, {SPELLING_COORDINATES} coordinates"
    record = StepRecord(NAME, True, detail, values={"weight": weight, "size": SPELLING_COORDINATES})
    sides = ((work.x, work.source.words), (work.y, work.target.words))
    x, y = (apply_spelling(record, z, side, words) for side, (z, words) in zip(SIDES, sides, strict=True))
    return record, replace(work, x=x, y=y)


def apply_spelling(record: StepRecord, z: Array, side: Side, words: Sequence[str]) -> Array:
    """Append the spelling coordinates of each word to its row, (n, d + size)."""
    return add_spelling(z, words, record.values["weight"], size=record.values["size"])


SPELLING = Step(NAME, ("spelling",), fit_spelling, apply_spelling)
