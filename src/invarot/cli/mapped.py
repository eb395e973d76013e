"""The mapped vectors of both sides, as two files."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..files import find_descriptor
from ..translation import Translation
from ..words import write_vectors


def name_mapped(stem: Path, format: str) -> list[Path]:
    """Return the files of both sides: STEM.source.vec and STEM.target.vec."""
    if find_descriptor(stem, 1) is not None:
        raise InputError(
            f"--output: expected the stem of two files for {format}, got {stem}; only a dictionary is one file"
        )
    return [stem.with_name(f"{stem.name}.{side}.{format}") for side in ("source", "target")]


def write_mapped(model: Translation, stem: Path, format: str, *, overwrite: bool = True) -> list[Path]:
    """Write both sides in the common space, and return where."""
    paths = name_mapped(stem, format)
    for path, side in zip(paths, model.mapped(), strict=True):
        write_vectors(path, side.words, side.vectors, format=format, overwrite=overwrite)
    return paths
