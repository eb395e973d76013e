"""Step 1, prepare: rows of both sides to one scale, by default length one, centred, length one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...arrays import Array, place, to_numpy
from ...words.preprocessing import Preprocessing
from .shape import SIDES, Side, Step, StepRecord, Work

NAME = "prepare"


def fit_prepare(work: Work) -> tuple[StepRecord, Work]:
    """Fit the preprocessing of each side to all its words."""
    arrays, rows = {}, []
    for side, vectors in zip(SIDES, (work.source, work.target), strict=True):
        fitted, z = Preprocessing(work.recipe.prepare).fit_apply(
            np.ascontiguousarray(vectors.vectors, dtype=np.float32)
        )
        arrays.update({f"{side}_{name}": mean for name, mean in fitted.arrays().items()})
        rows.append(place(to_numpy(z), work.device))
    detail = ", ".join(work.recipe.prepare)
    record = StepRecord(NAME, True, detail, values={"prepare": list(work.recipe.prepare)}, arrays=arrays)
    return record, replace(work, x=rows[0], y=rows[1])


def apply_prepare(record: StepRecord, z: Array, side: Side, words: Sequence[str]) -> Array:
    """Preprocess rows (n, d) with the means that were fitted."""
    means = {name.removeprefix(f"{side}_"): array for name, array in record.arrays.items() if name.startswith(side)}
    return Preprocessing.from_dict({"steps": record.values["prepare"], "fitted": True}, means).apply(z)


PREPARE = Step(NAME, ("prepare",), fit_prepare, apply_prepare)
