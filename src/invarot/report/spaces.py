"""Both spaces in the plane: each in its own principal directions before, both in those of the pairs after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..words.preprocessing import unit_rows
from ..words.vocabulary import looks_like_word

SAMPLE = 140  # pairs that are drawn
SKIPPED = 100  # of the most frequent words, at most: articles and prepositions, which say little

Floats = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Spaces:
    """The points of each picture, a row a pair: a source word and its best translation.

    ``shares`` are the parts of these points' variance that their plane holds: source, target, common.
    """

    words: tuple[tuple[str, str], ...]
    before: tuple[Floats, Floats]  # (s, 2) each, in unrelated coordinates
    after: tuple[Floats, Floats]  # (s, 2) each, in one system
    shares: tuple[float, float, float]


def project(
    prepared: tuple[Floats, Floats],
    common: tuple[Floats, Floats],
    words: tuple[Sequence[str], Sequence[str]],
    matched: Floats,
) -> Spaces:
    """Points in the plane for frequent source words and their best translations.

    Parameters
    ----------
    prepared : (n, dx), (m, dy), each side after its preprocessing
    common : (n, d), (m, d), both sides in the common space
    words : of both sides
    matched : (r,), the target row of each of the first r source words
    """
    rows = np.flatnonzero(looks_like_word(words[0][: len(matched)]))
    rows = rows if 2 * len(rows) >= len(matched) else np.arange(len(matched))
    skipped = min(SKIPPED, len(rows) // 10)
    rows = rows[skipped : skipped + SAMPLE]
    chosen = rows, matched[rows]
    left, right = (side[few] for side, few in zip(prepared, chosen, strict=True))
    frames = principal_plane(left), principal_plane(right)
    both = [unit_rows(side[few]) for side, few in zip(common, chosen, strict=True)]
    frame = principal_plane(both[0] + both[1])
    shares = variance_share(left, frames[0]), variance_share(right, frames[1])
    return Spaces(
        words=tuple((words[0][i], words[1][j]) for i, j in zip(*(few.tolist() for few in chosen), strict=True)),
        before=(left @ frames[0], right @ frames[1]),
        after=(both[0] @ frame, both[1] @ frame),
        shares=(*shares, variance_share(np.concatenate(both), frame)),
    )


def principal_plane(x: Floats) -> Floats:
    """The two directions of largest variance of x (n, d), as (d, 2).

    Signs are arbitrary, so the largest entry of each is made positive: the same data, the same picture.
    """
    centred = np.asarray(x, dtype=np.float64) - np.mean(x, axis=0, dtype=np.float64)
    top = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :2]
    plane = np.zeros((x.shape[1], 2))
    plane[:, : top.shape[1]] = top * np.sign(top[np.abs(top).argmax(axis=0), np.arange(top.shape[1])])
    return plane


def variance_share(x: Floats, plane: Floats) -> float:
    """The part of the variance of x (n, d) that lies in the plane (d, 2)."""
    centred = np.asarray(x, dtype=np.float64) - np.mean(x, axis=0, dtype=np.float64)
    return float(((centred @ plane) ** 2).sum() / ((centred**2).sum() or 1.0))
