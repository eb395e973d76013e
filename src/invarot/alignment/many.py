"""Several spaces at once: every pair aligned, then one map per space into a common space."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from os import PathLike
from typing import Any

import numpy as np

from ..arrays import Array, as_like, keep_dtype, namespace, to_numpy, transpose
from ..checks import (
    check_choice,
    check_flag,
    check_new_points,
    check_points,
    check_rng,
    check_same_library,
    check_weights,
)
from ..errors import InputError, NotConverged
from ..geometry.frames import Frame, make_frame
from ..geometry.generalised import generalised_procrustes
from ..jobs import count_jobs, run_tasks
from .align import align
from .history import Status
from .judging.judge import judge_map
from .options import Exact, Schatten, Search, Sinkhorn, Solver
from .problem import pose
from .verdict import Verdict


@dataclass(frozen=True)
class Pair:
    """Two spaces and the verdict on the map between them.

    ``direct``: the verdict is that of their own solve, which is part of the common space; else that solve failed, and the
    verdict is that of the map through the other spaces.
    """

    first: str
    second: str
    verdict: Verdict
    direct: bool
    status: Status


@dataclass(frozen=True, eq=False, repr=False)
class ManyAlignment:
    """The result of :func:`invarot.align_many`.

    Attributes
    ----------
    maps, offsets : dict of name to (di, d) and (d,) arrays
        ``x @ maps[name] + offsets[name]`` lies in the common space. Spaces that are unrelated have none.
    pairs : tuple of Pair
        Every two spaces, with the verdict on the map between them.
    unrelated : tuple of str
        Spaces that correspond to none of those with a map.
    """

    maps: dict[str, Array]
    offsets: dict[str, Array]
    pairs: tuple[Pair, ...]
    unrelated: tuple[str, ...]

    def transform(self, points: Any, space: str) -> Array:
        """Map points of ``space``, seen or new, into the common space; in their library, device, dtype and graph."""
        matrix, offset = self.maps[self._known(space)], self.offsets[space]
        found = check_new_points(points, matrix.shape[0], matrix, f"{space} has")
        return keep_dtype(found @ as_like(matrix, found) + as_like(offset, found), points)

    def between(self, first: str, second: str) -> tuple[Array, Array]:
        """Return the map (d1, d2) and offset (d2,) from one space into another, through the common space."""
        there = self.relative_to(second)
        return there.maps[self._known(first)], there.offsets[first]

    def relative_to(self, reference: str) -> ManyAlignment:
        """Return the same alignment with the coordinates of one of the spaces as the common space."""
        back = namespace(self.maps[self._known(reference)]).linalg.pinv(self.maps[reference])
        origin = self.offsets[reference]
        maps = {name: one @ back for name, one in self.maps.items()}
        return replace(self, maps=maps, offsets={name: (one - origin) @ back for name, one in self.offsets.items()})

    def verdict(self, first: str, second: str) -> Verdict:
        """Return the verdict on the map between two spaces."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair.verdict
        raise InputError(f"first, second: expected two of the spaces, got {first!r} and {second!r}")

    def save(self, path: str | PathLike[str]) -> None:
        """Write the maps and verdicts to a folder; :func:`invarot.load_many` reads them back."""
        from ..storage import save_many

        save_many(self, path)

    def _known(self, space: str) -> str:
        if space in self.unrelated:
            raise InputError(f"space: expected one with a map, got {space!r}, which is unrelated to the others")
        return check_choice(space, "space", self.maps)

    def __repr__(self) -> str:
        lines = [f"ManyAlignment of {len(self.maps)} spaces: {', '.join(self.maps)}"]
        lines += [f"  {pair.first}–{pair.second}  {pair.verdict.word}{'' if pair.direct else ' (through the others)'}"
                  for pair in self.pairs]  # fmt: skip
        return "\n".join([*lines, *(f"  {name}  unrelated" for name in self.unrelated)])


@dataclass(frozen=True)
class _Solved:
    """What is kept of the solve of one pair."""

    moment: Array  # (di, dj)
    verdict: Verdict
    status: Status


def align_many(
    spaces: Sequence[Any] | Mapping[str, Any],
    *,
    translate: bool = False,
    scale: bool = False,
    effort: str | None = None,
    device: str | None = None,
    rng: int | np.random.Generator = 0,
    solver: Sinkhorn | Exact | None = None,
    search: Search | None = None,
) -> ManyAlignment:
    """Align several spaces at once: one orthogonal map per space into a common space.

    Every pair is aligned on its own. The moments of the pairs that were found right then determine all maps together, by
    generalised Procrustes: they maximise Σ ⟨xᵢᵀ Γij xⱼ, Qi Qjᵀ⟩. Going around a cycle of spaces of one dimension leads back to
    where it began. The order of the spaces does not matter.

    Parameters
    ----------
    spaces : list or dict of (n, d) arrays
        At least two; names are the keys, or "0", "1", … The dimensions may differ: the common space has the largest.
    translate, scale : bool
        Centre each space, bring each to the same size.
    effort, device, rng, solver
        As in :func:`invarot.align`, for every pair.
    search : Search, optional
        As in :func:`invarot.align`; ``n_jobs`` is the number of pairs at a time.

    Returns
    -------
    ManyAlignment

    Examples
    --------
    >>> import numpy as np, invarot
    >>> rng = np.random.default_rng(1)
    >>> x = rng.gamma(2.0, size=(100, 3))
    >>> turn, other = (np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2))
    >>> found = invarot.align_many({"a": x, "b": x[::-1] @ turn, "c": x @ other})
    >>> bool(np.allclose(found.between("b", "c")[0], turn.T @ other, atol=1e-3)), found.unrelated
    (True, ())
    """
    solver, search = _check_options(solver, search)
    flags = {"translate": check_flag(translate, "translate"), "scale": check_flag(scale, "scale")}
    generator = check_rng(rng)
    clouds = _check_spaces(spaces)
    names = sorted(clouds, key=lambda name: _fingerprint(clouds[name]))  # so that no order of theirs matters
    frames = [_make_frame(clouds[name], **flags) for name in names]
    inside = [frame.enter(clouds[name]) for frame, name in zip(frames, names, strict=True)]
    numbers = list(combinations(range(len(names)), 2))
    seeds = generator.integers(1 << 62, size=(2, len(numbers)))
    options = {"effort": effort, "device": device, "solver": solver, "search": replace(search, n_jobs=1)}
    tasks = [
        partial(_solve_pair, inside[i], inside[j], int(seed), options)
        for (i, j), seed in zip(numbers, seeds[0], strict=True)
    ]
    solved = dict(zip(numbers, run_tasks(tasks, count_jobs(search.n_jobs)), strict=True))
    kept = _largest_group(len(names), solved)
    turns = _fit_maps(kept, solved, inside)
    maps = {names[k]: frames[k].linear @ turn for k, turn in turns.items()}
    pairs = []
    for number, (i, j) in enumerate(numbers):
        one = solved[i, j]
        verdict, direct = one.verdict, True
        if i in turns and j in turns and not verdict.meets("coarse"):
            problem = pose(inside[i], inside[j], *(check_weights(None, "a", inside[k]) for k in (i, j)), maps=Schatten(), solver=solver)  # fmt: skip
            through = turns[i] @ transpose(turns[j])
            verdict, direct = judge_map(problem, through, np.random.default_rng(int(seeds[1, number]))), False
        pairs.append(Pair(names[i], names[j], verdict, direct, one.status))
    _warn(pairs)
    order = [name for name in clouds if name in maps]
    return ManyAlignment(
        maps={name: maps[name] for name in order},
        offsets={name: -frames[names.index(name)].origin @ maps[name] for name in order},
        pairs=tuple(pairs),
        unrelated=tuple(name for name in clouds if name not in maps),
    )


def _check_options(solver: Solver | None, search: Search | None) -> tuple[Solver, Search]:
    solver, search = solver or Sinkhorn(), search or Search()
    if not isinstance(solver, (Sinkhorn, Exact)) or solver.objective != "simplified":
        raise InputError(f"solver: expected Sinkhorn(...) or Exact(...) with objective='simplified', got {solver!r}")
    if not isinstance(search, Search) or search.side is not None or search.seed_weight is not None:
        raise InputError(
            f"search: expected Search(...) with ordered and n_jobs only, got {search!r}; align pairs one by one"
        )
    return solver, search


def _check_spaces(spaces: Any) -> dict[str, Array]:
    """Return the checked clouds by name, all of one library and dtype."""
    if not isinstance(spaces, (Sequence, Mapping)) or isinstance(spaces, str) or len(spaces) < 2:
        shown = type(spaces).__name__ if not hasattr(spaces, "__len__") else f"{len(spaces)} of them"
        raise InputError(f"spaces: expected a list or a dict of at least two arrays, got {shown}")
    named = spaces if isinstance(spaces, Mapping) else {str(k): one for k, one in enumerate(spaces)}
    found = {str(name): check_points(one, f"spaces[{name!r}]") for name, one in named.items()}
    first = next(iter(found.values()))
    for one in found.values():
        check_same_library(first, one)
    if len({one.dtype for one in found.values()}) > 1:
        xp = namespace(*found.values())
        found = {name: xp.astype(one, xp.float64) for name, one in found.items()}
    return found


def _fingerprint(points: Array) -> tuple[int, int, bytes]:
    host = np.ascontiguousarray(to_numpy(points))
    return host.shape[1], host.shape[0], hashlib.sha256(host.data).digest()


def _make_frame(points: Array, *, translate: bool, scale: bool) -> Frame:
    return make_frame(points, check_weights(None, "a", points), center=translate, whiten=False, unit=scale)


def _solve_pair(x: Array, y: Array, seed: int, options: dict[str, Any]) -> _Solved:
    """Align two clouds and return the moment of their plan."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # told once for all pairs
        found = align(x, y, rng=seed, **options)
    return _Solved(transpose(x) @ as_like(found.plan.apply(as_like(y, found.map)), x), found.verdict, found.status)


def _largest_group(count: int, solved: Mapping[tuple[int, int], _Solved]) -> list[int]:
    """Return the spaces of the largest group that sound pairs connect; of equal ones the surest; none if no pair is sound."""
    groups = [{k} for k in range(count)]
    for (i, j), one in solved.items():
        if one.verdict.meets("coarse"):
            left, right = (next(group for group in groups if k in group) for k in (i, j))
            if left is not right:
                groups.remove(right)
                left |= right

    def surety(group: set[int]) -> float:
        return math.fsum(one.verdict.probability for pair, one in solved.items() if set(pair) <= group)

    best = max(groups, key=lambda group: (len(group), surety(group)))
    return sorted(best) if len(best) > 1 else []


def _fit_maps(kept: list[int], solved: Mapping[tuple[int, int], _Solved], clouds: Sequence[Array]) -> dict[int, Array]:
    """Return the map of each space that is kept, from the moments of the sound pairs among them."""
    if not kept:
        return {}
    moments = {
        (a, b): solved[i, j].moment
        for (a, i), (b, j) in combinations(enumerate(kept), 2)
        if solved[i, j].verdict.meets("coarse")
    }
    return dict(zip(kept, generalised_procrustes(moments, [clouds[k].shape[1] for k in kept]), strict=True))


def _warn(pairs: Sequence[Pair]) -> None:
    open_ones = [f"{pair.first}–{pair.second}" for pair in pairs if pair.status is not Status.SETTLED]
    if open_ones:
        warnings.warn(
            f"{len(open_ones)} of {len(pairs)} pairs had not settled: {', '.join(open_ones)}; raise max_iter or tol",
            NotConverged, stacklevel=3,
        )  # fmt: skip
