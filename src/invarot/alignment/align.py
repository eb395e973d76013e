"""The entry point: check, pose, search, improve, judge, package."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array, is_torch, place
from ..checks import (
    check_choice,
    check_flag,
    check_points,
    check_range,
    check_rng,
    check_same_library,
    check_weights,
    common_dtype,
)
from ..errors import InputError, NotAligned
from ..logs import Watch, combine, log_line, run
from ..threads import own_threads
from .improve.improve import improve
from .judging.hints import advise
from .judging.judge import judge
from .options import Exact, Maps, Rotations, Schatten, Search, Sinkhorn, Solver
from .overlap import check_overlap
from .package import describe_options, package
from .problem import Observer, Problem, add_seeds, pose, weigh_seeds_as_points
from .ranks import Ranks, align_over_ranks, spans_ranks
from .result import Alignment
from .search.asked import check_asked, keep_pairs, keep_rows
from .search.partial import search_partial
from .search.search import search as run_search
from .together import check_partial
from .unmatched import allow_unmatched
from .verdict import SOUND

if TYPE_CHECKING:
    from typing_extensions import Unpack


def align(
    x: Any,
    y: Any,
    *,
    a: Any = None,
    b: Any = None,
    p: float | Schatten | Rotations = math.inf,
    translate: bool = False,
    scale: bool = False,
    overlap: str | float | tuple[float, float] | None = None,
    seeds: Any = None,
    start: Any = "auto",
    n_starts: int | None = None,
    effort: str | None = None,
    require: str | None = None,
    device: str | None = None,
    rng: int | np.random.Generator = 0,
    on_step: Observer | None = None,
    solver: Sinkhorn | Exact | None = None,
    search: Search | None = None,
    **ranks: Unpack[Ranks],
) -> Alignment:
    """Align two clouds of points when nothing is paired and their coordinates are unrelated.

    Minimises Σ Γij ‖xᵢW − yⱼ‖² over couplings Γ of the weights a, b and maps W of the Schatten ball ‖W‖_p ≤ radius.

    Parameters
    ----------
    x, y : (n, dx) and (m, dy) arrays, tensors, lists or DataFrames
        Source points, which move, and target points, which stay. NumPy in, NumPy out; torch in, torch out.
    a, b : (n,) and (m,), optional
        Weights; non-negative, each sums to 1. Uniform by default.
    p : float in [1, inf], Schatten or Rotations
        The family of maps. inf: (semi-)orthogonal; 2: Gromov–Wasserstein with inner products; towards 1: low rank.
        :class:`Schatten` adds a radius and whitening; :class:`Rotations` excludes reflections.
    translate, scale : bool
        Allow a translation, allow a scale.
    overlap : {"auto"}, float, pair of floats or None
        How much of the clouds corresponds. None: all mass is matched. "auto": points may stay unmatched, and the shares are
        estimated. A number: the share of x that has a counterpart; a pair: the shares of x and of y. Translation and scale are
        then those of the matched points.
    seeds : (k, 2) integers, optional
        Known pairs (row of x, row of y). They start the solve and stay in it as a linear term.
    start : str or array
        "auto" (tries many kinds of start, in waves), "random", "gaussian", "identity", "seeds", "axes", "signature", "leading", "fused",
        "relaxation", "clusters", or a map (dx, dy) or a batch of maps (s, dx, dy).
    n_starts : int, optional
        Number of random starts (and no others); all are solved together and the best objective is kept.
    effort : {"quick", "normal", "high", "max"}, optional
        How many waves of starts "auto" may try; "normal" by default. Two solves that agree end the search, but for "max".
    require : {"aligned", "coarse"}, optional
        Raise NotAligned instead of returning an alignment with a worse verdict.
    device : {"cpu", "cuda", "cuda:1", "auto"}, optional
        Where NumPy points are solved ("auto": on a CUDA device if there is one); the result is NumPy again. Tensors are
        solved where they are.
    rng : int or numpy.random.Generator
        Same rng, same answer.
    on_step : callable, optional
        Called with each :class:`Step` as it is done. :func:`invarot.show_progress` shows the steps as they come.
    solver : Sinkhorn or Exact, optional
        How a start is solved: schedule of epsilon, tolerances, objective, stages, memory.
    search : Search, optional
        What is known besides the coordinates (order of rows, side information), its weight, and the number of processes.
    group, cut_y, checkpoint : optional
        The rows of x are cut over the ranks of this torch.distributed group, and every rank calls this with its own: see
        :func:`invarot.distributed.align`, which it calls (and which DTensors are passed on to without a group).

    Returns
    -------
    Alignment

    Examples
    --------
    >>> import numpy as np, invarot
    >>> rng = np.random.default_rng(1)
    >>> x = rng.gamma(2.0, size=(100, 3))
    >>> turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    >>> result = invarot.align(x, x[::-1] @ turn)
    >>> bool(np.allclose(result.map, turn, atol=1e-3)), result.matches()[:3].tolist()
    (True, [99, 98, 97])
    """
    maps, solver, search = _check_groups(p, solver, search)
    if spans_ranks(x, y, ranks):
        return align_over_ranks(
            x, y, ranks, search=search, alone={"a": a, "b": b, "overlap": overlap, "seeds": seeds, "device": device}, p=p,
            translate=translate, scale=scale, start=start, n_starts=n_starts, effort=effort, require=require, rng=rng,
            on_step=on_step, solver=solver,
        )  # fmt: skip
    if on_step is not None and not callable(on_step):
        raise InputError(
            f"on_step: expected a function of one Step, got {type(on_step).__name__}; pass a function, or leave on_step out"
        )
    if require is not None:
        check_choice(require, "require", SOUND)
    translate, scale = check_flag(translate, "translate"), check_flag(scale, "scale")
    generator = check_rng(rng)
    came, x, y = _check_clouds(x, y, device)
    a, b = check_weights(a, "a", x), check_weights(b, "b", y)

    part = check_overlap(overlap)
    problem = pose(
        x, y, a, b, maps=maps, solver=solver, translate=translate, scale=scale, ordered=search.ordered,
        on_step=combine(on_step, Watch()), restrict=part is None,
    )  # fmt: skip
    if part is not None:
        check_partial(maps, solver, search)
    problem, seeds = _add_known_pairs(problem, seeds, search.seed_weight, a, b)
    side = None if search.side is None else keep_rows(search.side, a, b)
    asked = check_asked(problem, start, n_starts, effort, seeds, search, side)

    with run(), own_threads():
        log_line(f"align: {x.shape[0]:,} × {y.shape[0]:,} points, {x.shape[1]} and {y.shape[1]} dimensions")
        if part is None:
            found = run_search(problem, asked, generator)
            problem = weigh_seeds_as_points(problem)
            found = improve(problem, found, refitting=solver.refit)
        else:
            plain, problem = problem, allow_unmatched(problem, part, translate=translate, rng=generator)
            found = search_partial(problem, plain, asked, generator)
        log_line("judging: held-out points and reflected maps")
        verdict = judge(problem, found, generator)
    verdict = advise(
        verdict, problem, found.best.map, (x, y, a, b), maps, solver, translate=translate, scale=scale,
        searched=asked.name == "auto", effort=effort, agreed=found.agreed,
    )  # fmt: skip
    settings = describe_options(
        maps, solver, search, translate=translate, scale=scale, start=asked.name, effort=effort, n_starts=n_starts,
        seeds=0 if seeds is None else len(seeds), overlap=overlap,
    )  # fmt: skip
    result = package(problem, found, verdict, x, y, a, b, maps, settings)

    if is_torch(x) and not is_torch(came):
        result = result.on_host()
    if require is not None and not result.verdict.meets(require):
        raise NotAligned(f'require="{require}": the verdict is {result.verdict}', result)
    result.status.warn()
    return result


def _add_known_pairs(
    problem: Problem, seeds: Any, weight: float | None, a: Array, b: Array
) -> tuple[Problem, np.ndarray[Any, Any] | None]:
    """Return the problem with the known pairs in it, and these by their rows among the points with weight."""
    if seeds is None:
        if weight is not None:
            raise InputError(
                f"seed_weight: expected together with seeds, got {weight!r} and no seeds; pass seeds, or leave it out"
            )
        return problem, None
    pairs = keep_pairs(seeds, a, b)
    return add_seeds(problem, pairs, weight), pairs


def _check_groups(p: Any, solver: Solver | None, search: Search | None) -> tuple[Maps, Solver, Search]:
    """Check the grouped options and fill in defaults."""
    if solver is not None and not isinstance(solver, (Sinkhorn, Exact)):
        raise InputError(
            f"solver: expected Sinkhorn(...) or Exact(...), got {solver!r}; write solver=Sinkhorn(tol=1e-6)"
        )
    if search is not None and not isinstance(search, Search):
        raise InputError(f"search: expected Search(...), got {search!r}; write search=Search(ordered=True)")
    maps = p if isinstance(p, (Schatten, Rotations)) else Schatten(p)
    return maps, solver or Sinkhorn(), search or Search()


def _check_clouds(x: Any, y: Any, device: str | None) -> tuple[Array, Array, Array]:
    """Return the original source points, then both clouds, checked, of one dtype, on the device of the solve."""
    x, y = check_points(x, "x"), check_points(y, "y")
    check_same_library(x, y)
    x, y = common_dtype(x, y)
    check_range(x, "x")
    check_range(y, "y")
    if device is None:
        return x, x, y
    if is_torch(x):
        raise InputError(
            f"device: expected None with tensors, which are solved where they are, got {device!r}; move them first"
        )
    return x, place(x, device), place(y, device)
