"""Pairs of vocabularies whose translation is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from invarot.words import Vectors


def rotated_pair(
    n: int = 300, d: int = 12, extra: int = 0, seed: int = 0
) -> tuple[Vectors, Vectors, list[tuple[str, str]]]:
    """Make a vocabulary and its noisy, rotated, shuffled copy in ``d + extra`` dimensions."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(1.0, size=(n, d)) * np.linspace(0.5, 2, d)
    turn = np.linalg.qr(rng.standard_normal((d + extra, d + extra)))[0][:d]
    order = rng.permutation(n)
    y = (x @ turn)[order] + 0.01 * rng.standard_normal((n, d + extra))
    words = [f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(n)]
    source = Vectors(tuple(words), x.astype(np.float32))
    target = Vectors(tuple("T" + words[i] for i in order), y.astype(np.float32))
    return source, target, [(word, "T" + word) for word in words]


def unit(z: Any) -> Any:
    """Scale rows to length one."""
    return z / np.linalg.norm(z, axis=1, keepdims=True)
