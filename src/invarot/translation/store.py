"""Save and load a translation."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ..alignment.evidence import Evidence
from ..alignment.verdict import Verdict
from ..errors import InputError
from ..folders import Kind, read_folder, write_folder
from ..words.preprocessing import Preprocessing
from ..words.vectors import Vectors
from .model import Translation

TRANSLATION = Kind("invarot translation", 2, "translation")
SIDES = ("source", "target")
PARTS = ("near", "best")  # which a model may lack


def save_translation(model: Translation, path: str | os.PathLike[str]) -> None:
    """Write ``model`` to the folder ``path``, all of it or nothing."""
    arrays: dict[str, np.ndarray[Any, Any]] = {"source_map": model.source_map, "target_map": model.target_map}
    facts: dict[str, Any] = {
        "verdict": model.verdict.as_dict(),
        "history": model.history,
        "settings": model.settings,
    }
    for side in SIDES:
        vectors: Vectors = getattr(model, side)
        prepare: Preprocessing = getattr(model, f"prepare_{side}")
        for part in PARTS:
            held = getattr(model, f"{side}_{part}")
            if held is not None:
                arrays[f"{side}_{part}"] = held
        arrays[f"{side}_vectors"] = vectors.vectors
        arrays[f"{side}_words"] = np.frombuffer(json.dumps(vectors.words).encode("ascii"), dtype=np.uint8)
        arrays.update({f"{side}_prepare.{name}": array for name, array in prepare.arrays().items()})
        facts[side] = {"from": vectors.source, "prepare": prepare.to_dict(), "count": len(vectors)}
    write_folder(path, TRANSLATION, arrays, facts)


def load_translation(path: str | os.PathLike[str]) -> Translation:
    """The translation that was saved to the folder ``path``."""
    arrays, facts = read_folder(path, TRANSLATION)
    try:
        return _build(arrays, facts)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"path: expected every part of a translation in {path}, got none for {error}; learn it again"
        ) from error


def _build(arrays: dict[str, np.ndarray[Any, Any]], facts: dict[str, Any]) -> Translation:
    parts: dict[str, Any] = {}
    for side in SIDES:
        words = json.loads(arrays[f"{side}_words"].tobytes())
        prefix = f"{side}_prepare."
        fitted = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
        parts[side] = Vectors(tuple(words), arrays[f"{side}_vectors"], facts[side]["from"])
        parts.update({f"{side}_{part}": arrays.get(f"{side}_{part}") for part in PARTS})
        parts[f"prepare_{side}"] = Preprocessing.from_dict(facts[side]["prepare"], fitted)
    verdict = facts["verdict"]
    return Translation(
        **parts,
        source_map=arrays["source_map"],
        target_map=arrays["target_map"],
        verdict=Verdict(
            **{**verdict, "evidence": Evidence(**verdict["evidence"]), "reasons": tuple(verdict["reasons"])}
        ),
        history=facts["history"],
        settings=facts["settings"],
    )
