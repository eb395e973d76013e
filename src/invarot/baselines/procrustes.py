"""Procrustes from a dictionary: the supervised baseline."""

from __future__ import annotations

from typing import Any

from ..alignment.result import Alignment
from ..arrays import Array, as_like, namespace, transpose
from ..geometry.orthogonal import polar
from ..starts.seeds import check_pairs
from .outcome import as_alignment, check_pair


def procrustes(x: Any, y: Any, pairs: Any, *, a: Any = None, b: Any = None) -> Alignment:
    """Fit the (semi-)orthogonal map to known pairs (k, 2) of rows: polar(Σ xᵢᵀ yⱼ), Schönemann 1966.

    "+ CSLS" concerns retrieval only: :func:`invarot.retrieval.neighbours` with ``method="csls"`` (cosine otherwise).
    Departures: none; if dx ≠ dy the map is semi-orthogonal.
    """
    x, y, a, b = check_pair(x, y, a, b)
    return as_alignment(x, y, a, b, procrustes_map(x, y, pairs), name="procrustes", options={"pairs": len(pairs)})


def procrustes_map(x: Array, y: Array, pairs: Any) -> Array:
    """Return only the map."""
    rows, columns, _ = check_pairs(pairs, None, x.shape[0], y.shape[0])
    integer = namespace(x).int64
    return polar(transpose(x[as_like(rows, x, dtype=integer)]) @ y[as_like(columns, y, dtype=integer)])
