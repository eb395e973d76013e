"""Several spaces at once: every pair aligned, then one map per space into a common space."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ..arrays import Array, align_memory, as_like, namespace, to_numpy, transpose
from ..checks import (
    check_flag,
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
from .many_result import ManyAlignment, Pair
from .options import Exact, Schatten, Search, Sinkhorn, Solver
from .problem import pose
from .verdict import Verdict


@dataclass(frozen=True)
class _Solved:
    """What is kept of the solve of one pair."""

    moment: Array  # (di, dj)
    verdict: Verdict
    status: Status
    notes: tuple[str, ...]


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
    options = {"effort": effort, "device": device, "solver": solver, "search": Search(ordered=search.ordered)}
    tasks = [
        partial(_solve_pair, inside[i], inside[j], int(seed), options)
        for (i, j), seed in zip(numbers, seeds[0], strict=True)
    ]
    jobs = count_jobs(search.n_jobs)
    solved = dict(zip(numbers, run_tasks(tasks, jobs), strict=True))
    kept = _largest_group(len(names), solved)
    turns = _fit_maps(kept, solved, inside)
    maps = {names[k]: frames[k].linear @ turn for k, turn in turns.items()}
    pairs, notes = [], []
    if jobs > len(numbers):
        used = "no effect" if len(numbers) == 1 else f"only {len(numbers)} used"
        notes.append(f"n_jobs: {used}, since {len(names)} spaces make {len(numbers)} pair{'s' * (len(numbers) > 1)}")
    for number, (i, j) in enumerate(numbers):
        one = solved[i, j]
        verdict, direct = one.verdict, True
        if i in turns and j in turns and not verdict.meets("coarse"):
            problem = pose(inside[i], inside[j], *(check_weights(None, "a", inside[k]) for k in (i, j)), maps=Schatten(), solver=solver)  # fmt: skip
            through = turns[i] @ transpose(turns[j])
            verdict, direct = judge_map(problem, through, np.random.default_rng(int(seeds[1, number]))), False
        pairs.append(Pair(names[i], names[j], verdict, direct, one.status))
        notes += [f"{names[i]}–{names[j]}: {note}" for note in one.notes]
    _warn(pairs)
    order = [name for name in clouds if name in maps]
    return ManyAlignment(
        maps={name: maps[name] for name in order},
        offsets={name: -frames[names.index(name)].origin @ maps[name] for name in order},
        pairs=tuple(pairs),
        unrelated=tuple(name for name in clouds if name not in maps),
        notes=tuple(notes),
    )


def _check_options(solver: Solver | None, search: Search | None) -> tuple[Solver, Search]:
    solver, search = Sinkhorn() if solver is None else solver, Search() if search is None else search
    if not isinstance(solver, (Sinkhorn, Exact)) or solver.objective != "simplified":
        raise InputError(
            f"solver: expected Sinkhorn(...) or Exact(...) with objective='simplified', got {solver!r}; leave solver out"
        )
    if not isinstance(search, Search) or search.side is not None or search.seed_weight is not None:
        raise InputError(
            f"search: expected Search(...) with ordered and n_jobs only, got {search!r}; align pairs one by one"
        )
    return solver, search


def _check_spaces(spaces: Any) -> dict[str, Array]:
    """Return the checked clouds by name, all of one library and dtype."""
    if not isinstance(spaces, (Sequence, Mapping)) or isinstance(spaces, str) or len(spaces) < 2:
        shown = type(spaces).__name__ if not hasattr(spaces, "__len__") else f"{len(spaces)} of them"
        raise InputError(f"spaces: expected a list or a dict of at least two arrays, got {shown}; pass [x, y, z]")
    named = spaces if isinstance(spaces, Mapping) else {str(k): one for k, one in enumerate(spaces)}
    found = {str(name): check_points(one, f"spaces[{name!r}]") for name, one in named.items()}
    if len(found) < len(named):
        raise InputError(f"spaces: expected names that differ as text, got {list(named)}; rename one")
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
    x, y = align_memory(x), align_memory(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # told once for all pairs
        found = align(x, y, rng=seed, **options)
    return _Solved(
        transpose(x) @ as_like(found.plan.apply(as_like(y, found.map)), x), found.verdict, found.status, found.notes
    )


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
