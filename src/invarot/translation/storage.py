"""Save and load a translation."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ..alignment.verdict import Verdict
from ..errors import InputError
from ..folders import TRANSLATION, read_folder, write_folder
from ..words.vectors import Vectors
from .model import Translation
from .recipe import Recipe
from .steps.shape import SIDES, StepRecord

Arrays = dict[str, np.ndarray[Any, Any]]


def save(model: Translation, path: str | os.PathLike[str]) -> None:
    """Write ``model`` to the folder ``path``, atomically.

    An existing translation is replaced; a file, or a folder with anything else in it, raises an error.
    """
    arrays: Arrays = {}
    facts: dict[str, Any] = {
        "verdict": model.verdict.as_dict(),
        "recipe": model.recipe.as_dict(),
        "steps": [step.as_dict() for step in model.steps],
        "history": model.history,
        "settings": model.settings,
    }
    for side in SIDES:
        vectors: Vectors = getattr(model, side)
        arrays[f"{side}.vectors"] = vectors.vectors
        arrays[f"{side}.words"] = np.frombuffer(json.dumps(vectors.words).encode("ascii"), dtype=np.uint8)
        facts[side] = {"from": vectors.source, "count": len(vectors)}
    for step in model.steps:
        arrays.update({f"{step.name}.{name}": array for name, array in step.arrays.items()})
    write_folder(path, TRANSLATION, arrays, facts)


def load(path: str | os.PathLike[str]) -> Translation:
    """Load the translation saved in the folder ``path``.

    Examples
    --------
    >>> import tempfile
    >>> from invarot import translation, words
    >>> english, spanish, gold = words.load_core_pair()
    >>> how = translation.recipe("fast", start="signature")
    >>> model = translation.learn(english.first(300), spanish.first(300), how=how)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(folder + "/en-es")
    ...     again = translation.load(folder + "/en-es")
    >>> again.translate("commission") == model.translate("commission")
    True
    """
    arrays, facts = read_folder(path, TRANSLATION)
    try:
        return _build(arrays, facts)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"path: expected a complete translation in {path}, got a missing or unknown part ({error}); learn it again"
        ) from error


def _build(arrays: Arrays, facts: dict[str, Any]) -> Translation:
    sides = {}
    for side in SIDES:
        words = tuple(json.loads(arrays[f"{side}.words"].tobytes()))
        sides[side] = Vectors(words, arrays[f"{side}.vectors"], facts[side]["from"])
    return Translation(
        **sides,
        steps=tuple(StepRecord(**step, arrays=_select(arrays, step["name"])) for step in facts["steps"]),
        verdict=Verdict.from_dict(facts["verdict"]),
        recipe=Recipe.from_dict(facts["recipe"]),
        history=facts["history"],
        settings=facts["settings"],
    )


def _select(arrays: Arrays, name: str) -> Arrays:
    """Return the arrays of one step."""
    prefix = f"{name}."
    return {full.removeprefix(prefix): array for full, array in arrays.items() if full.startswith(prefix)}
