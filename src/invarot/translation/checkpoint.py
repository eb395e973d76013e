"""Finished stages on disk, so that a run that was stopped can resume."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from ..alignment.result import Alignment
from ..errors import InputError
from ..files import reading, write_file
from ..folders import ALIGNMENT, decode, encode, holds_model
from ..parts import PART
from ..schema import check
from ..storage import load, save
from ..words.vectors import Vectors
from .recipe import Recipe


class Checkpoint:
    """A folder with one alignment per finished stage, for one pair of vocabularies, one recipe and one seed."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        source: Vectors,
        target: Vectors,
        recipe: Recipe,
        seed: int,
        seeds: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(repr((recipe, seed, seeds) if seeds else (recipe, seed)).encode())
        for side in (source, target):
            digest.update("\n".join(side.words).encode("utf-8", "surrogatepass"))
            digest.update(side.vectors.tobytes())
        self._claim(digest.hexdigest())

    def _claim(self, digest: str) -> None:
        """Mark the folder as belonging to this run, or check that it does."""
        note = self.folder / "run.txt"
        if not note.exists():
            if any(not PART.fullmatch(entry.name) and entry.name != "run.new" for entry in self.folder.iterdir()):
                raise InputError(
                    f"checkpoint: expected a new folder or a checkpoint of this run, got {self.folder}, which holds "
                    "something else; choose another folder"
                )
            with write_file(note) as stream:  # two equal runs may both write it
                stream.write(digest.encode("ascii"))
            (self.folder / "run.new").unlink(missing_ok=True)  # left by an earlier version that was killed
        if note.read_bytes() != digest.encode("ascii"):
            raise InputError(
                f"checkpoint: expected a checkpoint of this run, got {self.folder}, which belongs to a run with other "
                "vectors or other settings; use the same ones to continue it, or choose another folder"
            )

    def load(self, stage: int) -> tuple[Alignment, list[dict[str, Any]]] | None:
        """Return the alignment of the stage, counted from 0, and what was reported on the way; None if it did not finish."""
        path = self._find(stage)
        if not holds_model(path, ALIGNMENT):
            return None
        told = path.with_suffix(".json")
        with reading(told):
            rows = decode(json.loads(told.read_bytes())) if told.exists() else []
            return load(path), check(list[dict[str, Any]], rows, "history")

    def save(self, stage: int, found: Alignment, told: list[dict[str, Any]]) -> None:
        """Save the alignment of the stage, which ends it, after what was reported on the way."""
        path = self._find(stage)
        with write_file(path.with_suffix(".json")) as stream:
            stream.write(json.dumps(encode(told, "history"), allow_nan=False).encode("ascii"))
        save(found, path)

    def _find(self, stage: int) -> Path:
        return self.folder / f"stage-{stage + 1}"
