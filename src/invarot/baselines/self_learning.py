"""Self-learning (Artetxe, Labaka & Agirre 2018, VecMap): alternate a dictionary and the map fitted to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..alignment.history import History, Step
from ..alignment.result import Alignment
from ..arrays import Array, as_like, device, namespace, svd, transpose, unit_rows
from ..checks import check_count, check_number, check_rng
from ..geometry.orthogonal import polar
from ..retrieval.common_space import common_space
from ..retrieval.neighbours import neighbours
from .best import find_best
from .outcome import as_alignment, change, check_pair, record

DEEPEST = 64  # neighbours used for a stochastic dictionary: keeping 1 in 10, all 64 are dropped once in 850


@dataclass(frozen=True)
class Learned:
    """Two maps into a common space, the rotation before them, and the steps."""

    x_map: Array  # (dx, d)
    y_map: Array  # (dy, d)
    rotation: Array  # (dx, dy)
    history: History

    @property
    def map(self) -> Array:
        """One map into y's space, with the norm of a rotation; retrieval with both maps is a little more accurate."""
        both = self.x_map @ transpose(self.y_map)
        return both * (min(both.shape) / float(namespace(both).sum(both * both))) ** 0.5


def self_learning(x: Any, y: Any, *, a: Any = None, b: Any = None, **options: Any) -> Alignment:
    """Run VecMap's unsupervised mode; return one map into y's space. Options as in :func:`learn_maps`, which returns both."""
    x, y, a, b = check_pair(x, y, a, b)
    found = learn_maps(x, y, **options)
    return as_alignment(x, y, a, b, found.map, name="self-learning", history=found.history)


def learn_maps(
    x: Any,
    y: Any,
    *,
    start_words: int = 4000,
    cutoff: int = 20_000,
    csls_k: int = 10,
    keep: float = 0.1,
    growth: float = 2.0,
    patience: int = 50,
    threshold: float = 1e-6,
    reweight: float = 0.5,
    max_iter: int = 5000,
    rng: int | np.random.Generator = 0,
    on_step: Callable[[Step], object] | None = None,
) -> Learned:
    """Alternate dictionary and orthogonal map, dropping fewer and fewer random candidates, then whiten and re-weight.

    Parameters
    ----------
    x, y : (n, dx) and (m, dy)
        Most frequent first, preprocessed (unit, centre, unit).
    start_words : int
        Rows whose sorted square-root-of-Gram profiles give the first dictionary.
    cutoff : int
        Rows used for the dictionary.
    keep, growth : float
        Probability that a candidate pair is kept; multiplied by ``growth`` whenever nothing improved for ``patience``
        iterations, until it is 1.
    reweight : float
        Power of the correlations on each side at the end.

    Departures: the best of the randomly kept candidates is drawn as the r-th best, r geometric, which has the same
    distribution without an n × m mask (truncated at the 64th); the objective is the mean cosine of the CSLS-best
    pairs where the original takes the best cosine of each word. The last step fits both maps on the union of both
    directions' pairs, as the original does.
    """
    x, y, _, _ = check_pair(x, y)
    for name, value in (("start_words", start_words), ("cutoff", cutoff), ("csls_k", csls_k), ("patience", patience)):
        check_count(value, name)
    kept = check_number(keep, "keep", low=0, high=1, open_low=True)
    generator = check_rng(rng)
    pairs = first_dictionary(x[:start_words], y[:start_words], csls_k)
    few_x, few_y = x[:cutoff], y[:cutoff]
    steps: list[Step] = []
    highest, improved, w = -100.0, 0, None
    for iteration in range(1, max_iter + 1):
        if iteration - improved > patience:
            if kept >= 1:
                break
            kept, improved = min(1.0, growth * kept), iteration
        found = polar(transpose(x[pairs[0]]) @ y[pairs[1]])
        moved = float("nan") if w is None else change(found, w)
        w = found
        pairs, objective = _draw_both(few_x @ w, few_y, csls_k, kept, generator)
        steps.append(record(iteration, objective=objective, mode="self-learning", epsilon=kept, map_change=moved))
        if on_step is not None:
            on_step(steps[-1])
        if objective - highest >= threshold:
            highest, improved = objective, iteration
    assert w is not None
    space = common_space(x[pairs[0]], y[pairs[1]], power=reweight, dewhiten=1.0, ridge=0.0)
    return Learned(space.x_map, space.y_map, w, History(steps))


def first_dictionary(x: Array, y: Array, csls_k: int) -> tuple[Array, Array]:
    """Return pairs whose sorted similarity profiles, rows of (xxᵀ)^½, are nearest by CSLS, in both directions."""
    size = min(x.shape[0], y.shape[0])
    xp = namespace(x)
    profiles = []
    for points in (x[:size], y[:size]):
        u, s, _ = svd(points)
        rows = xp.sort((u * s) @ transpose(u), axis=1)
        rows = unit_rows(rows, safe=True)
        profiles.append(unit_rows(rows - xp.mean(rows, axis=0), safe=True))
    there, _ = neighbours(profiles[0], profiles[1], k=1, csls_k=csls_k)
    back, _ = neighbours(profiles[1], profiles[0], k=1, csls_k=csls_k)
    return _union(there[:, 0], back[:, 0])


def _draw_both(
    x: Array, y: Array, csls_k: int, keep: float, rng: np.random.Generator
) -> tuple[tuple[Array, Array], float]:
    """Draw a dictionary in both directions by CSLS; also return the mean cosine of the best candidates."""
    x, y = unit_rows(x, safe=True), unit_rows(y, safe=True)
    near_x, near_y = (_csls_penalty(one, other, csls_k) for one, other in ((x, y), (y, x)))
    there, forth = _draw(x, y, near_y, keep, rng)
    back, hither = _draw(y, x, near_x, keep, rng)
    return _union(there, back), (forth + hither) / 2


def _csls_penalty(x: Array, y: Array, csls_k: int) -> Array:
    """Return half the mean cosine to the nearest few: the CSLS penalty."""
    xp = namespace(x)
    return xp.mean(find_best(x, y, min(csls_k, y.shape[0]))[1], axis=1) / 2


def _draw(x: Array, y: Array, lowered: Array, keep: float, rng: np.random.Generator) -> tuple[Array, float]:
    """Return the best row of y among randomly kept ones for each row of x, and the mean cosine of the best of all."""
    xp = namespace(x)
    ranks = np.minimum(rng.geometric(keep, x.shape[0]), min(DEEPEST, y.shape[0])) - 1
    found, _ = find_best(x, y, int(ranks.max()) + 1, lowered=lowered)
    cosine = float(xp.mean(xp.sum(x * y[found[:, 0]], axis=1)))
    if int(ranks.max()) == 0:
        return found[:, 0], cosine
    rows = xp.arange(found.shape[0], device=device(found))
    return found[rows, as_like(ranks, x, dtype=xp.int64)], cosine


def _union(there: Array, back: Array) -> tuple[Array, Array]:
    """Return the pairs of both directions; those found twice count twice."""
    xp = namespace(there)
    ahead = xp.arange(there.shape[0], device=device(there))
    return xp.concat([ahead, back]), xp.concat([there, xp.arange(back.shape[0], device=device(there))])
