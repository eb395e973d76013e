"""The English–Spanish pair included in the package."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from .vectors import Vectors

CODE_LIMIT = 31  # six bits, which cost no accuracy (results/core_pair.md)


def load_core_pair() -> tuple[Vectors, Vectors, list[tuple[str, str]]]:
    """Load 5,000 English and 5,000 Spanish words with 100-dimensional vectors, and a gold list of everyday pairs.

    The vectors were trained on the proceedings of the European Parliament (© European Union; see ``data/README.md``),
    English on even months and Spanish on odd ones, so that no text is parallel.

    Examples
    --------
    >>> english, spanish, gold = load_core_pair()
    >>> len(english), spanish.dimension, ("house", "casa") in gold
    (5000, 100, True)
    """
    text = files("invarot.data").joinpath("gold.txt").read_text(encoding="utf-8")
    pairs = [(left, right) for left, right in (line.split() for line in text.splitlines() if line)]
    return _load("core_en.npz"), _load("core_es.npz"), pairs


def _load(name: str) -> Vectors:
    with (
        files("invarot.data").joinpath(name).open("rb") as stream,
        np.load(stream, allow_pickle=False) as archive,
    ):
        vectors = decode_vectors(archive["codes"], archive["scales"])
        return Vectors(tuple(archive["words"].tolist()), vectors, f"invarot core pair, {name}")


def encode_rows(vectors: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Quantise rows to integers times a scale per row: ``(codes, scales)``, (n, d) int8 and (n,) float32."""
    peak = np.abs(vectors).max(axis=1)
    scales = (np.where(peak > 0, peak, 1) / CODE_LIMIT).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


def decode_vectors(codes: np.ndarray[Any, Any], scales: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the vectors, (n, d) float32."""
    vectors: np.ndarray[Any, Any] = codes.astype(np.float32) * scales[:, None]
    return vectors
