"""The front door: check, pose, start, solve, judge."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from ..arrays import Array, as_like, is_torch, namespace, place, transpose
from ..checks import (
    check_choice,
    check_flag,
    check_known,
    check_number,
    check_points,
    check_range,
    check_rng,
    check_same_library,
    check_weights,
    common_dtype,
)
from ..errors import InputError, NotAligned
from ..geometry.frames import best_scale
from ..starts.seeds import check_pairs
from ..threads import own_threads
from ..transport.plan import EntropicPlan, SparsePlan, extend
from ..transport.schedule import Schedule
from .alternate import Observer
from .hints import with_hints
from .options import check_settings, kept_pairs, kept_rows
from .outcome import Outcome
from .polish import polished
from .problem import Problem, pose
from .result import Alignment, StartRecord
from .search import search
from .settings import Settings

SHARPEST = 1e-4  # of the cost scale: no default epsilon is smaller
COARSEST_FLOOR = 3e-3  # where the search for a map ends; below it only the winner's plan is sharpened


def align(
    x: Any,
    y: Any,
    *,
    a: Any = None,
    b: Any = None,
    p: float = math.inf,
    radius: float | None = None,
    proper: bool = False,
    objective: str = "simplified",
    plan: str = "sinkhorn",
    translate: bool = False,
    scale: bool = False,
    whiten: bool = False,
    schedule: Schedule | float | None = None,
    start: Any = "auto",
    n_starts: int | None = None,
    seeds: Any = None,
    seed_weight: float = 1.0,
    side: tuple[Any, Any] | None = None,
    side_weight: float = 0.3,
    ordered: bool = False,
    stages: Any = None,
    coarse: str = "points",
    effort: str = "normal",
    polish: bool = False,
    require: str | None = None,
    tol: float = 1e-5,
    max_iter: int = 500,
    plan_tol: float = 1e-3,
    plan_max_iter: int = 50,
    memory: str | int | None = None,
    n_jobs: int = 1,
    device: str | None = None,
    rng: int | np.random.Generator = 0,
    on_step: Observer | None = None,
    **unknown: Any,
) -> Alignment:
    """Align two clouds of points when nothing is paired and their coordinates are unrelated.

    Minimises Σ Γij ‖xᵢW − yⱼ‖² over couplings Γ of the weights a, b and maps W of the Schatten ball ‖W‖_p ≤ radius.

    Parameters
    ----------
    x, y : (n, dx) and (m, dy) arrays, tensors, lists or DataFrames
        Source points, which move, and target points, which stay. NumPy in, NumPy out; torch in, torch out.
    a, b : (n,) and (m,), optional
        Weights; non-negative, each sums to 1. Uniform by default.
    p : float in [1, inf]
        inf: (semi-)orthogonal maps; 2: Gromov–Wasserstein with inner products; towards 1: low rank.
    radius : float, optional
        Of the ball; by default the identity just fits.
    proper : bool
        Rotations without reflection (p = inf, dx = dy).
    objective : {"simplified", "transport"}
        Maximise the score ⟨xᵀΓy, W⟩, or minimise the true transport cost (Frank–Wolfe; for maps that change norms).
    plan : {"sinkhorn", "exact"}
        Entropic plans with annealed epsilon, or exact ones.
    translate, scale, whiten : bool
        Allow a translation, allow a scale, whiten both clouds first; all undone in ``map`` and ``offset``.
    schedule : Schedule, float or None
        How epsilon falls; a number is a fixed relative epsilon; None adapts to the data.
    start : str or array
        "auto" (a raced portfolio), "random", "identity", "seeds", "axes", "signature", "fused", "relaxation", "clusters",
        or a map (dx, dy) or a batch of maps (s, dx, dy).
    n_starts : int, optional
        How many random starts (and no others, unless ``start`` says so); all are solved together and the best objective
        is kept.
    seeds : (k, 2) integers, optional
        Known pairs (row of x, row of y). They start the solve and stay in it as a linear term, of weight
        ``seed_weight``.
    side, side_weight :
        Side information (fx, fy), one row a point, that should agree between matched points; used by signature starts.
    ordered : bool
        Rows come most important first (a frequency-ranked vocabulary): subsamples are then the first rows.
    stages : ints, optional
        Points of each stage before the one of all points, growing, such as ``(2000, 10000)``; ``()`` for none. By
        default 1500 for more than 3000 points, then seven times as many; none where ``schedule`` is given.
    coarse : {"points", "clusters"}
        What stands for a cloud in a stage: points of it (the first where ``ordered``, else random ones), or the
        centroids of k-means with the weights of their clusters.
    effort : {"quick", "normal", "high", "max"}
        How many waves of starts "auto" may try while the verdict is not sure.
    polish : bool
        Fit the map at last to the pairs of points that choose each other, alone: better where part of a cloud has no
        counterpart in the other (words without a translation), which the plan has to send somewhere all the same. The
        plan is then that of the new map, and the objective is less than it was; translation and verdict are those of all
        points. Where pairs are fewer than two a dimension the map is left as it was.
    require : {"aligned"}, optional
        Raise NotAligned rather than return an alignment with another verdict.
    tol, max_iter : float, int
        Stop when the objective changes by less than ``tol`` of the score scale at the last epsilon; outer steps, at
        most, of each part of the solve (a race of starts, a stage, the solve of all points, its sharpening).
    plan_tol, plan_max_iter : float, int
        l_1 error allowed of the plan's marginals; Sinkhorn sweeps a step, at most.
    memory : str or int, optional
        Bound such as "2GiB"; decides dense or streamed. By default half of what is free.
    n_jobs : int
        Processes that share many starts (extra: jobs); −1: one a core. The answer does not depend on it.
    device : {"cpu", "cuda", "cuda:1", "auto"}, optional
        Where NumPy points are solved ("auto": on a CUDA device if there is one); the result is NumPy again. Tensors are
        solved where they are.
    rng : int or numpy.random.Generator
        Same rng, same answer.
    on_step : callable, optional
        Called with each :class:`Step` as it is done.

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
    check_known(unknown, _defaults(), "align")
    if on_step is not None and not callable(on_step):
        raise InputError(f"on_step: expected a function of one Step, got {type(on_step).__name__}")
    x, y = check_points(x, "x"), check_points(y, "y")
    check_same_library(x, y)
    x, y = common_dtype(x, y)
    check_range(x, "x")
    check_range(y, "y")
    came = x
    if device is not None:
        x, y = _moved(x, y, device)
    a, b = check_weights(a, "a", x), check_weights(b, "b", y)
    settings = check_settings(
        x.shape[1], y.shape[1], p=p, radius=radius, proper=proper, objective=objective, plan=plan, translate=translate,
        scale=scale, whiten=whiten, schedule=schedule, tol=tol, max_iter=max_iter, plan_tol=plan_tol,
        plan_max_iter=plan_max_iter, memory=memory, n_jobs=n_jobs, stages=stages, coarse=coarse,
        polish=polish,
    )  # fmt: skip
    if require is not None:
        check_choice(require, "require", ("aligned",))
    generator = check_rng(rng)
    problem = pose(x, y, a, b, settings)
    if schedule is None:
        settings = adapt(settings, problem)
    for name, weight, of in (("seed_weight", seed_weight, seeds), ("side_weight", side_weight, side)):
        if of is None and weight != _defaults()[name]:
            raise InputError(f"{name}: expected together with what it weighs, got {weight!r} and none of those")
    if seeds is not None:
        problem = with_seeds(problem, x, y, seeds, check_number(seed_weight, "seed_weight", low=0))
        seeds = kept_pairs(seeds, a, b)
    if side is not None:
        side = kept_rows(side, a, b)
    with own_threads():
        outcome = search(problem, settings, start, n_starts, seeds, side, side_weight,
                         check_flag(ordered, "ordered"), effort, generator, on_step)  # fmt: skip
        if settings.polish:
            outcome = replace(outcome, winner=polished(problem, settings, outcome.winner, on_step))
    result = _conclude(problem, x, y, a, b, settings, outcome)
    if is_torch(x) and not is_torch(came):
        result = result.on_host()
    if require is not None and result.verdict.word != require:
        raise NotAligned(f'require="{require}": the verdict is {result.verdict}', result)
    result.status.warn()
    return result


def _moved(x: Array, y: Array, where: str) -> tuple[Array, Array]:
    if is_torch(x):
        raise InputError(
            f"device: expected None with tensors, which are solved where they are, got {where!r}; move them first"
        )
    return place(x, where), place(y, where)


def _defaults() -> dict[str, Any]:
    return align.__kwdefaults__ or {}


def adapt(settings: Settings, problem: Problem) -> Settings:
    """The default schedule with its floor below the spacing of the points.

    n points of variance v spread over d dimensions lie about v·n^(−2/d) apart, d being (tr C)²/tr C² of the
    covariance C.
    """
    xp = namespace(problem.x)
    mean = problem.a @ problem.x
    covariance = problem.second_moment - mean[:, None] * mean
    variance = max(float(xp.linalg.trace(covariance)), 0.0)
    shares = covariance / (variance or 1.0)  # before they are squared: float32 has no 1e-40
    spread = max(1 / max(float(xp.sum(shares**2)), 1e-30), 1.0)
    count = max(problem.x.shape[0], problem.y.shape[0])
    spacing = 2 * variance / problem.cost_scale * count ** (-2 / spread)
    floor = min(max(0.1 * spacing, SHARPEST), 0.02)
    return replace(settings, schedule=replace(settings.schedule, floor=max(floor, COARSEST_FLOOR)), sharpest=floor)


def with_seeds(problem: Problem, x: Array, y: Array, seeds: Any, weight: float) -> Problem:
    """Known pairs as a linear term: weight·(mean over the pairs of xᵢᵀ yⱼ), added to the plan's moment."""
    try:
        rows, columns, _ = check_pairs(seeds, None, x.shape[0], y.shape[0])
    except InputError as error:
        raise InputError(f"seeds: {error}") from error
    integer = namespace(x).int64
    left = problem.frame_x.enter(x[as_like(rows, x, dtype=integer)])
    right = problem.frame_y.enter(y[as_like(columns, y, dtype=integer)])
    return replace(problem, seeds=weight * transpose(left) @ right / len(rows))


def _conclude(
    problem: Problem, x: Array, y: Array, a: Array, b: Array, settings: Settings, outcome: Outcome
) -> Alignment:
    """Out of the frames: the composite map and offset, the plan over all points."""
    w, plan = outcome.winner.map, outcome.winner.plan
    inner = w
    if settings.scale:
        moment = transpose(problem.x) @ plan.apply(problem.y)
        inner = best_scale(moment, problem.second_moment, w) * w
    matrix = problem.frame_x.linear @ inner @ problem.frame_y.inverse
    offset = problem.frame_y.origin - problem.frame_x.origin @ matrix
    return Alignment(
        map=matrix,
        offset=offset,
        plan=_over_all_points(plan, problem, x, y, a, b, w),
        objective=outcome.winner.history[-1].objective,
        history=outcome.winner.history,
        status=outcome.winner.status,
        starts=_sharpened(outcome),
        verdict=with_hints(outcome.verdict, settings, x, y, a, b),
        settings=asdict(settings),
    )


def _sharpened(outcome: Outcome) -> tuple[StartRecord, ...]:
    """The records of the starts, the winner's with the objective it ended at."""
    winner, records = outcome.winner, list(outcome.starts)
    found = StartRecord(winner.name, winner.objective, True)
    records[records.index(found)] = replace(found, objective=winner.history[-1].objective)
    return tuple(records)


def _over_all_points(
    plan: EntropicPlan | SparsePlan, problem: Problem, x: Array, y: Array, a: Array, b: Array, w: Array
) -> EntropicPlan | SparsePlan:
    """Points of no weight, left out of the solve, back in their rows and columns."""
    xp = namespace(x)
    used_x, used_y = xp.nonzero(a > 0)[0], xp.nonzero(b > 0)[0]
    whole = used_x.shape[0] == x.shape[0] and used_y.shape[0] == y.shape[0]
    if whole and isinstance(plan, EntropicPlan):
        return plan
    z, inside_y = problem.frame_x.enter(x) @ w, problem.frame_y.enter(y)
    if isinstance(plan, SparsePlan):  # its entries do not depend on z: it may as well cost what the last map makes it
        return SparsePlan(z, inside_y, used_x[plan.rows], used_y[plan.columns], plan.mass)
    z[used_x] = plan.z  # the potentials belong to the map the plan was made for
    return extend(plan, z, inside_y, a, b, used_x, used_y)
