"""Both spaces in the plane: each along its own principal directions before, both along those of the pairs after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import to_numpy, unit_rows
from ..words.vocabulary import looks_like_word

PAIRS_DRAWN = 140  # pairs drawn
SKIPPED = 100  # at most, of the most frequent words: articles and prepositions, which are not informative

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Spaces:
    """The points of each picture, one row per pair: a source word and its best translation.

    ``shares`` are the shares of variance explained by the plane: source, target, common.
    """

    words: tuple[tuple[str, str], ...]
    before: tuple[Floats, Floats]  # (s, 2) each, in unrelated coordinates
    after: tuple[Floats, Floats]  # (s, 2) each, in one system
    shares: tuple[float, float, float]


def sample_rows(words: Sequence[str]) -> Floats:
    """Return which frequent words to draw: those that look like words, without the most frequent ones."""
    rows = np.flatnonzero(looks_like_word(words))
    rows = rows if 2 * len(rows) >= len(words) else np.arange(len(words))
    skipped = min(SKIPPED, len(rows) // 10)
    return rows[skipped : skipped + PAIRS_DRAWN]


def project(words: Iterable[tuple[str, str]], prepared: tuple[Floats, Floats], common: tuple[Floats, Floats]) -> Spaces:
    """Project pairs of words to the plane.

    Parameters
    ----------
    words : s pairs
    prepared : (s, dx), (s, dy), each side after its preprocessing
    common : (s, d), (s, d), both sides in the common space
    """
    frames = principal_plane(prepared[0]), principal_plane(prepared[1])
    both = to_numpy(unit_rows(common[0], safe=True)), to_numpy(unit_rows(common[1], safe=True))
    frame = principal_plane(both[0] + both[1])
    shares = variance_share(prepared[0], frames[0]), variance_share(prepared[1], frames[1])
    return Spaces(
        words=tuple(words),
        before=(prepared[0] @ frames[0], prepared[1] @ frames[1]),
        after=(both[0] @ frame, both[1] @ frame),
        shares=(*shares, variance_share(np.concatenate(both), frame)),
    )


def principal_plane(x: Floats) -> Floats:
    """Return the two directions of largest variance of x (n, d), as (d, 2).

    The largest entry of each is made positive, so that the same data give the same picture.
    """
    centred = np.asarray(x, dtype=np.float64) - np.mean(x, axis=0, dtype=np.float64)
    top = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :2]
    plane = np.zeros((x.shape[1], 2))
    plane[:, : top.shape[1]] = top * np.sign(top[np.abs(top).argmax(axis=0), np.arange(top.shape[1])])
    return plane


def variance_share(x: Floats, plane: Floats) -> float:
    """Return the share of the variance of x (n, d) in the plane (d, 2)."""
    centred = np.asarray(x, dtype=np.float64) - np.mean(x, axis=0, dtype=np.float64)
    return float(((centred @ plane) ** 2).sum() / ((centred**2).sum() or 1.0))
