"""Align clouds whose rows are cut over ranks: search on a sample that every rank has, solve on all rows."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Any

import numpy as np

from ..alignment.candidate import Found
from ..alignment.history import StartRecord, Step
from ..alignment.improve.improve import improve, keep_rivals
from ..alignment.improve.sharpen import sharpen
from ..alignment.judging.hints import add_next_step
from ..alignment.judging.judge import judge
from ..alignment.loop.alternate import alternate, continue_from, make_candidate
from ..alignment.loop.stages import solve_in_stages
from ..alignment.options import Rotations, Schatten, Search, Sinkhorn
from ..alignment.package import describe_options, package
from ..alignment.problem import Observer, Problem, pose
from ..alignment.result import Alignment
from ..alignment.search.asked import Asked, check_asked
from ..alignment.search.search import search as run_search
from ..alignment.verdict import SOUND
from ..arrays import Array, as_like, device, namespace, view_bits
from ..checks import check_choice, check_count, check_flag, check_points, check_range, check_same_library
from ..errors import InputError, NotAligned
from ..rows import ALL, Rows
from ..threads import own_threads
from .checkpoint import Checkpoint
from .shards import Copies, Shards, exchange, round_sums
from .tensors import open_tensors

CHECKED_ROWS = 1 << 16  # rows at a time
SAMPLE_ROWS = 5000  # rows of x that every rank gets: as many as signatures look at, and more than are judged
TARGETS = 200_000  # rows of y that every rank gets for search and verdict, where y is cut


def align(
    x: Any,
    y: Any,
    *,
    group: Any = None,
    cut_y: bool = False,
    p: float | Schatten | Rotations = math.inf,
    translate: bool = False,
    scale: bool = False,
    start: Any = "auto",
    n_starts: int | None = None,
    effort: str | None = None,
    require: str | None = None,
    rng: int = 0,
    on_step: Observer | None = None,
    solver: Sinkhorn | None = None,
    ordered: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Alignment:
    """Align two clouds, the rows of x cut over the ranks of a torch.distributed group; every rank calls this.

    Rows are updated where they are. A Sinkhorn sweep sums m column sums over the ranks, a map step sums dx × dy numbers. The search
    and the verdict use a sample of at most 5,000 rows of x and all of y, alike on every rank; a given ``start`` is solved on
    all rows from the beginning. Where y is cut too, blocks of it pass through all ranks, twice in a sweep and once for the map,
    and search and verdict use at most 200,000 of its rows.

    Parameters
    ----------
    x : (n_local, dx) array or tensor, or a DTensor of placement Shard(0)
        The rows of this rank; those of all ranks, in the order of the ranks, are the source cloud.
    y : (m, dy) array or tensor, or a DTensor of placement Replicate() or Shard(0)
        All target points, the same on every rank; with ``cut_y``, or as Shard(0), the rows of this rank.
    group : torch.distributed.ProcessGroup, optional
        By default the group of the mesh of a DTensor, else the default group. NumPy arrays and CPU tensors need gloo, CUDA
        tensors NCCL.
    cut_y : bool
        Whether y is cut over the ranks as x is, for targets that do not fit on one.
    rng : int
        The same on every rank.
    ordered : bool
        As in :class:`invarot.Search`.
    checkpoint : path, optional
        File of the first rank that holds the state after every step on all rows. A call that finds it goes on from there,
        with any number of ranks. It is removed at the end.
    p, translate, scale, start, n_starts, effort, require, on_step, solver
        As in :func:`invarot.align`; ``solver`` is a Sinkhorn. Weights are uniform.

    Returns
    -------
    Alignment
        Map, offset, history and verdict are the same on every rank; the plan has the rows of this one. Where y is cut, every
        rank has to call a method of the plan.
    """
    solver = Sinkhorn() if solver is None else solver
    x, y, group, cut_y = open_tensors(x, y, group, check_flag(cut_y, "cut_y"))
    x, y = _check_on_every_rank(x, y, group, cut_y, solver, p, translate, scale, require, rng)
    shards = Shards.of(x.shape[0], group)
    targets = Shards.of(y.shape[0], group) if cut_y else ALL
    xp = namespace(x)
    a = xp.ones_like(x[:, 0]) / shards.count(x)
    b = xp.ones_like(y[:, 0]) / targets.count(y)
    maps = p if isinstance(p, (Schatten, Rotations)) else Schatten(p)
    generator = np.random.default_rng(rng)
    with own_threads():
        problem = pose(
            x, y, a, b, maps=maps, solver=solver, translate=translate, scale=scale, ordered=ordered, on_step=on_step,
            rows=round_sums(shards), columns=round_sums(targets),
        )  # fmt: skip
        problem = replace(problem, rows=shards, columns=targets)
        sample = draw_sample(problem, generator)
        asked = check_asked(sample, start, n_starts, effort, None, Search(ordered=ordered), None)
        keeper = None
        if checkpoint is not None:
            facts = {
                "rows": sum(shards.sizes), "targets": _check_all(y, targets, group), "rng": rng, "maps": repr(maps), "solver": repr(solver),
                "translate": translate, "scale": scale, "start": asked.name,
            }  # fmt: skip
            keeper = Checkpoint(checkpoint, problem, facts, writes=shards.rank == 0)
        found = solve_all_rows(problem, sample, shards, asked, generator, keeper)
        verdict = judge(sample, found, generator)
    verdict = exchange(verdict, group)[0]
    verdict = add_next_step(verdict, sample, found.best.map, searched=asked.name == "auto", effort=effort)
    settings = describe_options(
        maps, solver, Search(ordered=ordered), translate=translate, scale=scale, start=asked.name, effort=effort,
        n_starts=n_starts, seeds=0,
    )  # fmt: skip
    result = package(problem, found, verdict, x, y, a, b, maps, settings)
    if keeper is not None:
        keeper.drop()
    if require is not None and not result.verdict.meets(require):
        raise NotAligned(f'require="{require}": the verdict is {result.verdict}', result)
    result.status.warn()
    return result


def draw_sample(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return the problem of a sample of x and of y, or all of y where every rank has it; the same on every rank."""
    parts = []
    for points, weights, cut, most in (
        (problem.x, problem.a, problem.rows, SAMPLE_ROWS),
        (problem.y, problem.b, problem.columns, TARGETS),
    ):
        if isinstance(cut, Shards):
            n = cut.count(points)
            size = min(n, most)
            chosen = np.arange(size) if problem.ordered or size == n else np.sort(rng.choice(n, size, replace=False))
            points, weights = cut.bring(points, weights, chosen)
            weights = weights / float(namespace(points).sum(weights))
        parts.append((points, weights))
    (x, a), (y, b) = parts
    rows: Rows = ALL
    if (
        isinstance(problem.rows, Shards) and problem.rows.count(problem.x) > SAMPLE_ROWS
    ):  # else each rank improves all of them
        rows = Copies(problem.rows)
    return replace(problem, x=x, a=a, y=y, b=b, rows=rows, columns=ALL)


def solve_all_rows(
    problem: Problem,
    sample: Problem,
    shards: Shards,
    asked: Asked,
    rng: np.random.Generator,
    keeper: Checkpoint | None = None,
) -> Found:
    """Return the answer on all rows, with the rivals and starts of the search; with a ``keeper``, from where it was left."""
    saved = None if keeper is None else keeper.load_on_all(shards.group)
    if keeper is not None:
        problem = replace(problem, on_step=_both(keeper.watch, problem.on_step))
    if keeper is not None and saved is not None:
        begin, others = as_like(saved.map, problem.x), as_like(saved.rivals, problem.x)
        run = alternate(problem, begin[None], problem.budgets.solve.from_epsilon(saved.epsilon))
        best = make_candidate(problem, run, 0, "checkpoint")
        rivals = tuple(replace(best, map=one) for one in others)
        found = Found((best, *rivals), (StartRecord(best.name, best.objective, True),), better=saved.better)
        keeper.rivals, keeper.better = others, saved.better
        return replace(found, candidates=(sharpen(problem, best) or best, *rivals))
    if asked.name == "given" and asked.maps is not None and asked.maps.shape[0] == 1:
        run = solve_in_stages(problem, shards.share(asked.maps), problem.budgets.solve, rng=rng)
        best = make_candidate(problem, run, 0, asked.name)
        found = Found((best,), (StartRecord(asked.name, best.objective, True),))
    else:
        found = run_search(sample, asked, rng)
        # a part of the rows needs no better answer: all of them are solved next
        found = improve(sample, found) if sample.rows is ALL else keep_rivals(sample, found, found.best)
        begun = found.best
        if keeper is not None and len(found.candidates) > 1:
            keeper.rivals = namespace(begun.map).stack([one.map for one in found.candidates[1:]])
        if keeper is not None:
            keeper.better = found.better
        best = continue_from(problem, begun, shards.share(begun.map), problem.budgets.solve.at_floor(), stage="solve")
    best = sharpen(problem, best) or best
    return replace(found, candidates=(best, *found.candidates[1:]))


def _both(first: Observer, second: Observer | None) -> Observer:
    """Return an observer that calls both."""

    def watch(step: Step) -> None:
        first(step)
        if second is not None:
            second(step)

    return watch


def _check_on_every_rank(
    x: Any, y: Any, group: Any, cut_y: bool, solver: Any, p: Any, translate: Any, scale: Any, require: Any, rng: Any
) -> tuple[Array, Array]:
    """Check the arguments of every rank, so that what is wrong on one is raised on all and none waits for it."""
    try:
        if not isinstance(solver, Sinkhorn) or (solver.stages is not None and solver.stages.of == "clusters"):
            raise InputError(
                f"solver: expected Sinkhorn(...) without stages of clusters over many ranks, got {solver!r}"
            )
        if solver.refit:
            raise InputError("refit: expected False over many ranks, got True; refit on one")
        if require is not None:
            check_choice(require, "require", SOUND)
        check_flag(translate, "translate"), check_flag(scale, "scale"), check_count(rng, "rng", low=0)
        x, y = check_points(x, "x"), check_points(y, "y")
        check_same_library(x, y)
        if x.dtype != y.dtype:
            raise InputError(f"x, y: expected one dtype, got {x.dtype} and {y.dtype}; convert one of them")
        check_range(x, "x")
        check_range(y, "y")
        said: tuple[Any, ...] = (None, x.shape[1], y.shape[1], str(x.dtype), None if cut_y else checksum(y), rng, cut_y)
    except InputError as error:
        said = (str(error),)
    everyone = exchange(said, group)
    for rank, one in enumerate(everyone):
        if one[0] is not None:
            raise InputError(f"{one[0]} (rank {rank})")
        if one != everyone[0]:
            raise InputError(
                f"x, y, rng: expected the columns and dtype of x, all of y (unless cut_y) and rng to be the same on every rank, "
                f"got others on rank {rank} than on rank 0; pass the same y and rng, or cut_y=True for parts of y"
            )
    return x, y


def _check_all(y: Array, targets: Rows, group: Any) -> int:
    """Return the checksum of all targets, whether they are cut or not."""
    if not isinstance(targets, Shards):
        return checksum(y)
    return int(sum(exchange(checksum(y, targets.begin), group)) % (1 << 64))


def checksum(points: Array, first: int = 0) -> int:
    """Return the sum of the bits of all numbers, each times an odd number of its place: the same on every device.

    ``first`` is the place of the first row. Sums of parts add up to that of the whole.
    """
    xp, d = namespace(points), points.shape[1]
    total = 0
    for begin in range(0, points.shape[0], CHECKED_ROWS):
        bits = view_bits(points[begin : begin + CHECKED_ROWS])
        place = (first + begin) * d
        places = xp.arange(place, place + bits.shape[0] * d, device=device(points))
        total += int(xp.sum(xp.reshape(bits, (-1,)) * (2 * places + 1)))  # wraps around, alike everywhere
    return total % (1 << 64)
