"""Words set off from their surroundings: a part of the mean of a word's neighbours in its own language is taken away.

Related words lie in crowds, and what two crowds have in common does not tell their members apart. Taking some of the
local mean away leaves more of what does, and makes hubs rarer (localised centring, Hara et al. 2015).
"""

from __future__ import annotations

from ..arrays import Array, as_like, device, namespace
from ..retrieval.neighbours import neighbours
from ..retrieval.scores import unit_rows

AROUND = 50  # neighbours of a word that make up its surroundings, or a hundredth of a small vocabulary
FEWEST = 5  # a mean of fewer is no surroundings


def surroundings(z: Array, among: Array | None = None) -> Array | None:
    """Rows of ``among`` (m, d) nearest to each row of ``z`` (n, d): (n, k). None where ``among`` is too small.

    ``among`` None is ``z`` itself; a row is then not its own neighbour.
    """
    own = among is None
    pool = z if among is None else among
    count = min(AROUND, pool.shape[0] // 100)
    if count < FEWEST:
        return None
    found, _ = neighbours(z, pool, method="cosine", k=count + own)
    if not own:
        return found
    xp = namespace(found)
    itself = xp.astype(found == xp.arange(found.shape[0], device=device(found))[:, None], xp.int64)
    order = xp.argsort(itself, axis=1, stable=True)  # itself last: it is not always found first, or at all
    return xp.take_along_axis(found, order, axis=1)[:, :count]


def set_off(z: Array, near: Array | None, share: float, among: Array | None = None) -> Array:
    """Rows of unit length less ``share`` times the mean of the rows ``near`` (n, k) them; ``z`` itself without any.

    Examples
    --------
    >>> import numpy as np
    >>> set_off(np.eye(3), np.array([[1, 2], [0, 2], [0, 1]]), 0.5)[0]
    array([ 1.  , -0.25, -0.25])
    """
    if near is None or not share:
        return z
    xp = namespace(z)
    z = unit_rows(z)
    pool = z if among is None else unit_rows(among)
    rows = as_like(near, z, dtype=xp.int64)
    total = xp.zeros_like(z)
    for column in range(rows.shape[1]):  # one neighbour at a time: (n, k, d) at once would be large
        total = total + xp.take(pool, rows[:, column], axis=0)
    return z - total * (share / rows.shape[1])
