"""Finished stages on disk, so that a run that was stopped can resume."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from ..alignment.result import Alignment
from ..errors import InputError
from ..storage import load, save
from ..words.vectors import Vectors
from .recipe import Recipe


class Checkpoint:
    """A folder with one alignment per finished stage, for one pair of vocabularies, one recipe and one seed."""

    def __init__(
        self, folder: str | os.PathLike[str], source: Vectors, target: Vectors, recipe: Recipe, seed: int
    ) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(repr((recipe, seed)).encode())
        for side in (source, target):
            digest.update("\n".join(side.words).encode("utf-8", "surrogatepass"))
            digest.update(side.vectors.tobytes())
        self._claim(digest.hexdigest())

    def _claim(self, digest: str) -> None:
        """Mark the folder as belonging to this run, or check that it does."""
        note = self.folder / "run.txt"
        if not note.exists():
            if any(self.folder.iterdir()):
                raise InputError(
                    f"checkpoint: expected a new folder or a checkpoint of this run, got {self.folder}, which holds "
                    "something else; choose another folder"
                )
            part = note.with_suffix(".new")
            part.write_text(digest, encoding="ascii")
            os.replace(part, note)
        elif note.read_text(encoding="ascii") != digest:
            raise InputError(
                f"checkpoint: expected a checkpoint of this run, got {self.folder}, which belongs to a run with other "
                "vectors or other settings; use the same ones to continue it, or choose another folder"
            )

    def load(self, stage: str) -> Alignment | None:
        """Return the alignment of the stage; None if it did not finish."""
        path = self.folder / _file_name(stage)
        return load(path) if path.is_dir() else None

    def save(self, stage: str, found: Alignment) -> None:
        """Save the alignment of the stage."""
        save(found, self.folder / _file_name(stage))


def _file_name(stage: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", stage.lower())
