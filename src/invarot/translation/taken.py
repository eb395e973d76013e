"""Words that are taken: a word with a near match of its own is held back from all others.

CSLS holds back words that are near to many. A word that is very near to one other is most likely its translation and so
not another's. That belongs to the pair of languages, not to a way of looking up, so it is put into the vectors: two
coordinates more, after which any cosine between the languages is lower by what both words are held back.
"""

from __future__ import annotations

from ..arrays import Array, as_like, namespace
from ..retrieval.scores import mean_similarities, unit_rows

FEWEST = 10_000  # words a side: among fewer it gained nothing
CONSTANT = 0.3  # what meets the other side's penalty; small, so that it changes little inside a language


def best_matches(x: Array, y: Array, *, count: int = 1) -> tuple[Array, Array] | None:
    """The mean cosine of each row of ``x`` (n, d) and of ``y`` (m, d) to the ``count`` nearest of the other: (n,), (m,).

    One does best: the mean of more says how crowded it is around a word, which CSLS sees to. None where words are few.
    """
    if min(x.shape[0], y.shape[0]) < FEWEST:
        return None
    return mean_similarities(unit_rows(x), unit_rows(y), count)


def hold_back(z: Array, best: Array | None, share: float, typical: float, *, target: bool) -> Array:
    """Rows of unit length and two coordinates, (n, d + 2): what they are held back by, and a constant.

    The product of a source and a target row is that of ``z`` less ``share`` times how far ``best`` of each is above what is
    ``typical`` of its side. ``z`` itself without ``best`` or ``share``.

    Examples
    --------
    >>> import numpy as np
    >>> x = hold_back(np.eye(2), np.array([0.9, 0.5]), 0.3, 0.7, target=False)
    >>> y = hold_back(np.eye(2), np.array([0.7, 0.7]), 0.3, 0.7, target=True)
    >>> (x @ y.T).round(2)
    array([[ 0.94, -0.06],
           [ 0.06,  1.06]])
    """
    if best is None or not share:
        return z
    xp = namespace(z)
    lower = (as_like(best, z)[:, None] - typical) * (-share / CONSTANT)
    constant = CONSTANT * xp.ones_like(lower)
    return xp.concat([unit_rows(z), *((constant, lower) if target else (lower, constant))], axis=1)
