"""The mapped vectors of both sides, as two files or one .npz."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..files import find_descriptor, write_file
from ..translation import Translation
from ..words import write_vectors


def name_mapped(stem: Path, format: str) -> list[Path]:
    """Return the files of both sides: STEM.source.vec and STEM.target.vec; one file if it is to be an .npz."""
    if find_descriptor(stem, 1) is not None:
        raise InputError(
            f"--output: expected the stem of two files for {format}, got {stem}; only a dictionary is one file"
        )
    if stem.suffix == f".{format}":
        if format == "npz":
            return [stem]
        stem = stem.with_suffix("")
    return [stem.with_name(f"{stem.name}.{side}.{format}") for side in ("source", "target")]


def write_mapped(model: Translation, stem: Path, format: str, *, overwrite: bool = True) -> list[Path]:
    """Write both sides in the common space, and return where."""
    paths = name_mapped(stem, format)
    if len(paths) == 1:
        arrays: dict[str, Any] = {}
        for name, side in zip(("source", "target"), model.mapped(), strict=True):
            arrays |= {f"{name}_words": np.asarray(side.words), f"{name}_vectors": side.vectors}
        with write_file(paths[0], overwrite=overwrite, name="--output") as stream:
            np.savez(stream, **arrays)
        return paths
    for path, side in zip(paths, model.mapped(), strict=True):
        write_vectors(path, side.words, side.vectors, format=format, overwrite=overwrite)
    return paths
