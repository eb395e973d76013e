"""Save and load a translation."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ..alignment.history import Step
from ..alignment.verdict import WORDS
from ..checks import check_choice
from ..errors import InputError
from ..folders import ABOUT_FILE, TRANSLATION, building, read_folder, write_folder
from ..retrieval.refine import Round
from ..schema import build, check, check_arrays, check_rows
from ..words.preprocessing import Preprocessing
from ..words.spelling import SPELLING_COORDINATES
from ..words.vectors import Vectors
from .model import Translation
from .pipeline import PIPELINE
from .steps.pooling import POOLING
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
    >>> again.verdict == model.verdict, again.source.words == model.source.words
    (True, True)
    """
    arrays, facts = read_folder(path, TRANSLATION)
    with building(path, TRANSLATION):
        return _build(arrays, facts)


# -- checking what a file says ---------------------------------------------------------------------------------------

# What a step that was applied keeps: its values, and the kinds and shapes of its arrays (n source and m target words).
VALUES: dict[str, dict[str, Any]] = {
    "prepare": {"prepare": list[str]},
    "local centring": {"share": float},
    "spelling": {"weight": float, "size": int},
    "penalties": {"match_penalty": float, "rank_penalty": float},
}
SHAPES = {
    "solve": {"source_map": "f dx solved", "target_map": "f dy solved"},
    "refine": {"source_map": "f dx refined", "target_map": "f dy refined"},
    "pooling": {"source_added": "f n refined", "target_added": "f m refined"},
    "local centring": {"source_neighbours": "i n near", "target_neighbours": "i m far"},
}
NEEDED = {"prepare", "solve"}  # steps that are always applied


def _build(arrays: Arrays, facts: dict[str, Any]) -> Translation:
    facts = {name: value for name, value in facts.items() if name not in ABOUT_FILE}
    records = check(list[dict[str, Any]], facts.pop("steps", None), "steps")
    steps = tuple(build(StepRecord, step, "steps", arrays=_select(arrays, step.get("name"))) for step in records)
    names, pooled = [step.name for step in PIPELINE], [step.name for step in steps]
    if POOLING.name in pooled[:4]:  # of a pair of a hub: after the refinement
        names.insert(3, POOLING.name)
    if pooled != names:
        raise InputError(f"steps: expected {', '.join(names)}, got others; learn it again")
    shapes = {"source.vectors": "h n dx", "target.vectors": "h m dy", "source.words": "i nw", "target.words": "i mw"}
    for step in steps:
        shapes.update({f"{step.name}.{name}": shape for name, shape in _find_shapes(step).items()})
    sizes = check_arrays(arrays, shapes)
    _check_neighbours(arrays, sizes)
    for row in check(list[dict[str, Any]], facts.get("history"), "history"):
        _check_row(row)
    sides = {side: _build_side(arrays, facts.pop(side, None), side) for side in SIDES}
    model = build(Translation, facts, "translation", steps=steps, **sides)
    check_choice(model.verdict.word, "verdict.word", WORDS)
    return model


def _build_side(arrays: Arrays, facts: Any, side: str) -> Vectors:
    source = check(dict[str, Any], facts, side).get("from")
    words = check(tuple[str, ...], json.loads(arrays[f"{side}.words"].tobytes()), f"{side}.words")
    if len(set(words)) != len(words):
        raise InputError(f"{side}.words: expected different words, got one twice; learn it again")
    return Vectors(words, arrays[f"{side}.vectors"], check(str, source, f"{side}.from"))


def _find_shapes(step: StepRecord) -> dict[str, str]:
    """Check the values of a step, and return the kinds and shapes of its arrays."""
    where = f"steps.{step.name}"
    if not step.applied and step.name not in NEEDED:
        return {}
    hints = VALUES.get(step.name, {})
    if step.values.keys() != hints.keys() or not step.applied:
        raise InputError(
            f"{where}: expected it applied, with {sorted(hints)}, got {sorted(step.values)}; learn it again"
        )
    for name, hint in hints.items():
        check(hint, step.values[name], f"{where}.{name}")
    if step.name == "prepare":
        means = Preprocessing(tuple(step.values["prepare"])).steps.count("center")
        sides = (("source", "dx"), ("target", "dy"))
        return {f"{side}_mean_{number}": f"f {width}" for side, width in sides for number in range(means)}
    if step.name == "spelling" and step.values["size"] not in range(8, SPELLING_COORDINATES + 1, 8):
        raise InputError(
            f"{where}.size: expected a multiple of 8 up to {SPELLING_COORDINATES}, got {step.values['size']}"
        )
    if step.name == "penalties":
        return {"source_best": "f n", "target_best": "f m"} if step.values["match_penalty"] else {}
    return SHAPES.get(step.name, {})


def _check_neighbours(arrays: Arrays, sizes: dict[str, int]) -> None:
    for side, count in (("source", "n"), ("target", "m")):
        name = f"local centring.{side}_neighbours"
        if name in arrays:
            check_rows(arrays[name], sizes[count], name)


def _check_row(row: dict[str, Any]) -> None:
    """Check a row of the history: a step of the solver, a round of refinement, or an accuracy."""
    rest = dict(row)
    check(float | None, rest.pop("right" if "objective" in row else "precision@1", None), "history")
    if "objective" in row:
        build(Step, rest, "history")
    elif "pairs" in row:
        check(str, rest.pop("stage", None), "history.stage")
        build(Round, rest, "history")
    else:
        check(str, rest.pop("stage", None), "history.stage")


def _select(arrays: Arrays, name: Any) -> Arrays:
    """Return the arrays of one step."""
    prefix = f"{name}."
    return {full.removeprefix(prefix): array for full, array in arrays.items() if full.startswith(prefix)}
