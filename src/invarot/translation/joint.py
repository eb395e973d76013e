"""Refinement of the maps of several spaces into a common one: what `refine` does for two, with the pairs of all of them.

Each space is whitened and turned so that matched rows of all pairs agree best (generalised Procrustes). The eigenvalues of the
mean correlation in these coordinates weigh the directions. For two spaces this is `common_space`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..arrays import Array, namespace, transpose
from ..geometry.generalised import generalised_procrustes
from ..retrieval.pairs import choices, matches
from ..retrieval.refine import KEPT, KEPT_FIRST, rank_weights

Index = tuple[int, int]


@dataclass(frozen=True)
class Matched:
    """Matched rows of two spaces, with their weights."""

    left: Array  # (p,) rows of the first
    right: Array  # (p,) rows of the second
    weights: Array  # (p,)


def common_spaces(
    clouds: Sequence[Array],
    matched: Mapping[Index, Matched],
    *,
    power: float = 1.0,
    dewhiten: float = 0.5,
    ridge: float = 2.0,
) -> tuple[list[Array], Array]:
    """Return maps (di, d) into one space that bring matched rows together, and the correlations (d,) of its directions.

    Parameters as in :func:`~invarot.retrieval.common_space.common_space`; the second moment of a space is over all its matched rows.
    """
    xp = namespace(*clouds)
    wide = xp.float64
    sizes = [int(cloud.shape[1]) for cloud in clouds]
    second = [xp.zeros((d, d), dtype=wide, device=getattr(clouds[0], "device", None)) for d in sizes]
    effective = [0.0] * len(clouds)
    cross: dict[Index, Array] = {}
    for (i, j), one in matched.items():
        w = one.weights / xp.sum(one.weights)
        x, y = xp.take(clouds[i], one.left, axis=0), xp.take(clouds[j], one.right, axis=0)
        cross[i, j] = xp.astype(transpose(x * w[:, None]) @ y, wide)
        for k, rows in ((i, x), (j, y)):
            second[k] = second[k] + xp.astype(transpose(rows * w[:, None]) @ rows, wide)
            effective[k] += 1 / float(xp.sum(w * w))
    sides = []
    for k, d in enumerate(sizes):
        pairs = sum(k in index for index in matched)
        values, basis = xp.linalg.eigh((second[k] + transpose(second[k])) / (2 * pairs))
        noise = (float(xp.mean(values)) or 1.0) * max(ridge * d * pairs / effective[k], 1e-10)
        sides.append((xp.where(values > 0, values, xp.zeros_like(values)) + noise, basis))
    white = {
        (i, j): (sides[i][1] / xp.sqrt(sides[i][0]))
        @ (transpose(sides[i][1]) @ block @ sides[j][1])
        @ transpose(sides[j][1] / xp.sqrt(sides[j][0]))
        for (i, j), block in cross.items()
    }
    turns = generalised_procrustes(white, sizes)
    shared: Any = sum(transpose(turns[i]) @ block @ turns[j] for (i, j), block in white.items()) / len(white)
    values, axes = xp.linalg.eigh((shared + transpose(shared)) / 2)
    s, axes = xp.clip(xp.flip(values), 0.0, 1.0), xp.flip(axes, axis=1)
    maps = []
    for (spread, basis), turn, cloud in zip(sides, turns, clouds, strict=True):
        inner = transpose(basis) @ turn @ axes
        back = transpose(inner) @ (inner * spread[:, None] ** (dewhiten / 2))
        maps.append(xp.astype(((basis / xp.sqrt(spread)) @ inner * s**power) @ back, cloud.dtype))
    return maps, xp.astype(s, clouds[0].dtype)


def refine_many(
    clouds: Sequence[Array],
    maps: Sequence[Array],
    *,
    rounds: int,
    trust: Sequence[Array],
    loose: float = 0.0,
    tol: float = 0.02,
) -> tuple[list[Array], int]:
    """Improve maps (di, d) of several spaces with the mutual neighbours of every two; return them and the number of rounds.

    Ends when fewer than ``tol`` of the pairs are new, or when a round loses pairs (and is undone). ``trust`` and ``loose`` as in
    :func:`~invarot.retrieval.refine.refine`.
    """
    current, previous = list(maps), list(maps)
    known: dict[Index, set[tuple[int, int]]] = {}
    count = 0
    indices = [(i, j) for i in range(len(clouds)) for j in range(i + 1, len(clouds))]
    for number in range(rounds):
        placed = [cloud @ one for cloud, one in zip(clouds, current, strict=True)]
        found, now = {}, {}
        for i, j in indices:
            left, right, score = matches(placed[i], placed[j])
            weights = trust[i][left] * trust[j][right] * namespace(score).sqrt(rank_weights(score))
            found[i, j] = Matched(left, right, weights)
            now[i, j] = set(zip(left.tolist(), right.tolist(), strict=True))  # type: ignore[attr-defined]
        total, before = (sum(map(len, one.values())) for one in (now, known))
        if min(map(len, now.values())) < max(cloud.shape[1] for cloud in clouds) / 2:
            return previous, count
        if known and total < (KEPT if number > 1 else KEPT_FIRST) * before:
            return previous, count
        new = 1 - sum(len(now[index] & known.get(index, set())) for index in indices) / total
        previous, known = current, now
        current, _ = common_spaces(clouds, found)
        count += 1
        if new < tol:
            break
    if loose and count:
        placed = [cloud @ one for cloud, one in zip(clouds, current, strict=True)]
        current, _ = common_spaces(clouds, {(i, j): _choose(placed, trust, i, j, loose) for i, j in indices})
        count += 1
    return current, count


def _choose(placed: Sequence[Array], trust: Sequence[Array], i: int, j: int, loose: float) -> Matched:
    """Return the choices of both sides, those that are not mutual at the weight ``loose``."""
    left, right, score, both = choices(placed[i], placed[j])
    xp = namespace(score)
    weights = xp.where(both, xp.ones_like(score), loose * xp.ones_like(score)) * rank_weights(score)
    return Matched(left, right, weights * trust[i][left] * trust[j][right])
