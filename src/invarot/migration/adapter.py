"""The adapter: a linear map between two models, in one safetensors file."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as dump_arrays

from ..checks import check_points
from ..errors import InputError
from ..files import write_file
from ..folders import decode, encode

FORMAT, VERSION = "invarot adapter", "1"


@dataclass(frozen=True, repr=False)
class Adapter:
    """A map from one model's vectors to another's.

    Attributes
    ----------
    map : (dx, dy) float32 array
        ``vectors @ map`` lies in the other model's space.
    facts : dict
        Where it comes from: stores, verdict, recall.

    Examples
    --------
    >>> Adapter(np.eye(2, 3, dtype=np.float32)).apply([[3.0, 4.0]])
    array([[3., 4., 0.]], dtype=float32)
    """

    map: np.ndarray[Any, Any]
    facts: dict[str, Any] = field(default_factory=dict)

    def apply(self, vectors: Any) -> np.ndarray[Any, Any]:
        """Map rows (n, dx) to (n, dy), as float32; each keeps its length."""
        rows = np.asarray(check_points(vectors, "vectors", least=1), dtype=np.float32)
        if rows.shape[1] != self.map.shape[0]:
            raise InputError(
                f"vectors: expected {self.map.shape[0]} columns, as the adapter has, got {rows.shape[1]}; pass vectors of its model"
            )
        mapped = rows @ self.map
        before, after = (np.linalg.norm(one, axis=1, keepdims=True) for one in (rows, mapped))
        found: np.ndarray[Any, Any] = mapped * (before / np.where(after > 0, after, 1))
        return found

    def inverse(self) -> Adapter:
        """Return the adapter in the other direction, the transpose: ⟨q, xW⟩ = ⟨qWᵀ, x⟩, so that a search finds the same."""
        return Adapter(np.ascontiguousarray(self.map.T), self.facts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one safetensors file, whole or not at all: the tensor ``map``, and the facts in its metadata."""
        target = Path(path)
        if not target.parent.is_dir():
            raise InputError(
                f"path: expected a file in a folder that exists, got {target}; create {target.parent} first"
            )
        table = np.ascontiguousarray(self.map, dtype=np.float32)
        facts = {name: encode(value, name) for name, value in self.facts.items()}
        metadata = {
            "format": FORMAT,
            "format_version": VERSION,
            "sha256": _digest(table),
            "facts": json.dumps(facts, ensure_ascii=False, allow_nan=False),
        }
        with write_file(target) as stream:
            stream.write(dump_arrays({"map": table}, metadata=metadata))

    def __repr__(self) -> str:
        return f"Adapter from {self.map.shape[0]} to {self.map.shape[1]} dimensions"


def load(path: str | os.PathLike[str]) -> Adapter:
    """Load the adapter that :meth:`Adapter.save` wrote."""
    target = Path(path)
    if not target.is_file():
        raise InputError(f"path: expected an adapter, got {target}, which is not a file; check the path")
    try:
        with safe_open(str(target), framework="np") as file:
            about, table = file.metadata() or {}, file.get_tensor("map")
    except (SafetensorError, ValueError) as error:
        raise InputError(
            f"path: expected an adapter, got {target}, which is truncated, altered or another kind of file ({error}); copy it again"
        ) from error
    if about.get("format") != FORMAT or about.get("format_version") != VERSION:
        raise InputError(
            f"path: expected an {FORMAT} of version {VERSION}, got {target}, "
            f"{about.get('format') or 'which this library did not write'} {about.get('format_version', '')}; make it again"
        )
    if about.get("sha256") != _digest(table):
        raise InputError(
            f"path: expected the map in {target} to match its checksum, got an altered file; make it again"
        )
    return Adapter(table, decode(json.loads(about["facts"])))


def _digest(table: np.ndarray[Any, Any]) -> str:
    return hashlib.sha256(table.tobytes()).hexdigest()
