"""Words that are held back: those that are taken, having a near match of their own, and those that are rare.

CSLS holds back words that are near to many. A word that is very near to one other is most likely its translation and so
not another's; and of two words that are equally near the more frequent one is more often meant. That belongs to the
languages, not to a way of looking up, so it is put into the vectors: two coordinates more, after which any cosine between
the languages is lower by what both words are held back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, as_like, namespace
from ..retrieval.scores import mean_similarities, unit_rows

FEWEST = 10_000  # words a side: among fewer it gained nothing
CONSTANT = 0.3  # what meets the other side's penalty; small, so that it changes little inside a language
RANKED = 1.0  # the same where rank counts: the first words have much in their favour, which would make them long


def enough(n: int, m: int) -> bool:
    """Whether so many words of either side are enough for some to be held back."""
    return min(n, m) >= FEWEST


def best_matches(x: Array, y: Array, *, count: int = 1) -> tuple[Array, Array] | None:
    """The mean cosine of each row of ``x`` (n, d) and of ``y`` (m, d) to the ``count`` nearest of the other: (n,), (m,).

    One does best: the mean of more says how crowded it is around a word, which CSLS sees to. None where words are few.
    """
    if not enough(x.shape[0], y.shape[0]):
        return None
    return mean_similarities(unit_rows(x), unit_rows(y), count)


def rarity(count: int, rows: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
    """The log of the rank of ``count`` words, most frequent first, less its mean: (count,), of a spread of about one.

    Of the ``rows`` (n,) only, if they are given; one that is not less than ``count`` is a rarer word.

    Examples
    --------
    >>> rarity(3).round(2)
    array([-0.6,  0.1,  0.5])
    """
    logs = np.log(np.arange(1, count + 1))
    asked = logs if rows is None else np.log(rows + 1)
    return np.asarray(asked - logs.mean())


def hold_back(z: Array, held: Array, *, target: bool, constant: float = CONSTANT) -> Array:
    """Rows of unit length and two coordinates, (n, d + 2): what they are ``held`` (n,) back by, and a ``constant``.

    The product of a source and a target row is that of ``z`` less what each of them is held back.

    Examples
    --------
    >>> import numpy as np
    >>> x = hold_back(np.eye(2), np.array([0.06, -0.06]), target=False)
    >>> y = hold_back(np.eye(2), np.array([0.0, 0.01]), target=True)
    >>> (x @ y.T).round(2)
    array([[ 0.94, -0.07],
           [ 0.06,  1.05]])
    """
    xp = namespace(z)
    lower = as_like(held, z)[:, None] * (-1 / constant)
    met = constant * xp.ones_like(lower)
    return xp.concat([unit_rows(z), *((met, lower) if target else (lower, met))], axis=1)
