"""Groups of options of :func:`invarot.align`. Each group checks its values when it is created."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..checks import check_choice, check_count, check_flag, check_number
from ..errors import InputError
from ..geometry.orthogonal import RotationGroup
from ..geometry.schatten import SchattenBall
from ..transport.choice import parse_memory
from ..transport.schedule import Schedule

Objective = Literal["simplified", "transport"]


@dataclass(frozen=True)
class Schatten:
    """Maps with ‖W‖_{S_p} ≤ radius: the family behind ``p=``, with its other choices.

    Parameters
    ----------
    p : float in [1, inf]
        inf: (semi-)orthogonal maps; 2: Gromov–Wasserstein with inner products; towards 1: low rank.
    radius : float, optional
        Of the ball; by default the smallest that contains the identity.
    whiten : bool
        Whiten both clouds first, which is undone in ``map`` and ``offset``.

    Examples
    --------
    >>> Schatten(2, whiten=True)
    Schatten(p=2, radius=None, whiten=True)
    """

    p: float = math.inf
    radius: float | None = None
    whiten: bool = False

    def __post_init__(self) -> None:
        check_number(self.p, "p", low=1)
        _check_family(self.radius, self.whiten)

    @property
    def ball(self) -> SchattenBall:
        return SchattenBall(float(self.p), _to_python_number(self.radius))


@dataclass(frozen=True)
class Rotations:
    """Rotations without reflection (as many columns in x as in y), as the family of maps: ``p=Rotations()``."""

    radius: float | None = None
    whiten: bool = False

    def __post_init__(self) -> None:
        _check_family(self.radius, self.whiten)

    @property
    def p(self) -> float:
        return math.inf

    @property
    def ball(self) -> RotationGroup:
        return RotationGroup(_to_python_number(self.radius))


Maps = Schatten | Rotations


def _to_python_number(number: float | None) -> float | None:
    """Convert to a Python number: a NumPy float32 would reduce the precision of results."""
    return None if number is None else float(number)


def _check_family(radius: float | None, whiten: bool) -> None:
    if radius is not None:
        check_number(radius, "radius", low=0, high=1e300, open_low=True)
    check_flag(whiten, "whiten")


@dataclass(frozen=True)
class Stages:
    """The number of points per cloud in each stage before the one with all points.

    Parameters
    ----------
    sizes : int or growing ints
        Such as ``(2000, 10000)``; ``()`` for no stages.
    of : {"points", "clusters"}
        Points of the cloud (the first if rows are ordered, else random ones), or the centroids of k-means with the
        weights of their clusters.
    """

    sizes: int | Sequence[int]
    of: Literal["points", "clusters"] = "points"

    def __post_init__(self) -> None:
        check_choice(self.of, "of", ("points", "clusters"))
        sizes = self.as_tuple()
        object.__setattr__(self, "sizes", sizes)  # an iterator is read once
        for size in sizes:
            check_count(size, "sizes")
        if list(sizes) != sorted(set(sizes)):
            raise InputError(
                f"sizes: expected growing numbers of points such as (2000, 10000), got {self.sizes!r}; sort them"
            )

    def as_tuple(self) -> tuple[int, ...]:
        try:
            return tuple(self.sizes)  # type: ignore[arg-type]
        except TypeError:
            return (self.sizes,)  # type: ignore[return-value]


@dataclass(frozen=True)
class Sinkhorn:
    """Entropic plans with decreasing epsilon: the default solver.

    Parameters
    ----------
    schedule : Schedule, float or None
        How epsilon decreases; a number is a fixed relative epsilon; None adapts to the data.
    tol, max_iter : float, int
        Stop when the objective changes by less than ``tol`` of the score scale at the last epsilon (and, for orthogonal maps, by
        a hundred times that in the later half of the steps there); maximal number of outer steps in each part of the solve (a
        race, a stage, the solve of all points, its sharpening).
    plan_tol, plan_max_iter : float, int
        Tolerance of the plan's marginals in the l_1 norm; maximal number of Sinkhorn sweeps per step.
    objective : {"simplified", "transport"}
        Maximise the score ⟨xᵀΓy, W⟩ in closed form, or minimise the transport cost by Frank–Wolfe (for maps that change
        norms).
    refit : bool
        Fit the map at the end to mutual nearest neighbours only. Better if part of a cloud has no counterpart, since the
        plan must match those points too. Translation and verdict are those of all points.
    stages : Stages, optional
        By default 1,500 points for more than 3,000, then ten times as many; none if ``schedule`` is given.
    memory : str or int, optional
        Memory limit such as "2GiB", which decides dense or streamed. By default half of the free memory.

    Examples
    --------
    >>> Sinkhorn(schedule=0.05).schedule
    0.05
    """

    schedule: Schedule | float | None = None
    tol: float = 1e-5
    max_iter: int = 500
    plan_tol: float = 1e-3
    plan_max_iter: int = 50
    objective: Objective = "simplified"
    refit: bool = False
    stages: Stages | None = None
    memory: str | int | None = None

    def __post_init__(self) -> None:
        _check_solver(self)
        check_number(self.plan_tol, "plan_tol", low=0, high=1)
        check_count(self.plan_max_iter, "plan_max_iter")
        schedule = self.schedule
        if schedule is None or isinstance(schedule, Schedule):
            return
        if not isinstance(schedule, (int, float, np.integer, np.floating)) or isinstance(schedule, bool):
            raise InputError(
                f"schedule: expected a Schedule, a positive number (a fixed epsilon) or None, got {schedule!r}; write 0.05"
            )
        check_number(schedule, "schedule", low=0, high=1e300, open_low=True)


@dataclass(frozen=True)
class Exact:
    """Exact plans in every step: an assignment if n = m and weights are uniform, else the network simplex (extra: exact).

    The options are those of :class:`Sinkhorn` that do not concern epsilon.
    """

    tol: float = 1e-5
    max_iter: int = 500
    objective: Objective = "simplified"
    refit: bool = False
    stages: Stages | None = None
    memory: str | int | None = None

    def __post_init__(self) -> None:
        _check_solver(self)


Solver = Sinkhorn | Exact


def _check_solver(solver: Solver) -> None:
    check_number(solver.tol, "tol", low=0, high=1)
    check_count(solver.max_iter, "max_iter")
    check_choice(solver.objective, "objective", ("simplified", "transport"))
    check_flag(solver.refit, "refit")
    if solver.stages is not None and not isinstance(solver.stages, Stages):
        raise InputError(f"stages: expected Stages(sizes) or None, got {solver.stages!r}; write Stages((2000, 10000))")
    if solver.refit and solver.objective == "transport":
        raise InputError("refit: expected objective='simplified', got 'transport'; leave refit=False")
    parse_memory(solver.memory)


@dataclass(frozen=True)
class Search:
    """What is known besides the coordinates, and the number of processes.

    Parameters
    ----------
    ordered : bool
        Rows are sorted by importance (a frequency-ranked vocabulary): subsamples are then the first rows.
    side : (fx, fy), optional
        Side information, one row per point, that should agree between matched points; used by signature starts.
    side_weight : float
        Its weight relative to the profiles of the signature.
    seed_weight : float
        Weight of the known pairs (``seeds=``) in the objective, beside that of the whole plan; 0: they only start the solve.
        By default 1 while a map is sought, and in the last fit what the points of the pairs weigh. Not with ``overlap``.
    n_jobs : int
        Number of processes for many starts (extra: jobs); −1: one per core. The result is the same for any number. Inside
        ``joblib.parallel_config(backend="dask")`` or ``"ray"`` they are tasks of that cluster; −1: one per worker.
    """

    ordered: bool = False
    side: tuple[Any, Any] | None = field(default=None, compare=False)
    side_weight: float | None = None
    seed_weight: float | None = None
    n_jobs: int = 1

    def __post_init__(self) -> None:
        check_flag(self.ordered, "ordered")
        if self.side is not None and (not isinstance(self.side, (tuple, list)) or len(self.side) != 2):
            raise InputError(
                f"side: expected a pair (fx, fy), one row per point of x and of y, got {type(self.side).__name__}; write side=(fx, fy)"
            )
        if self.seed_weight is not None:
            check_number(self.seed_weight, "seed_weight", low=0, high=1e6)
        if self.side_weight is not None:  # side information of weight 0 would have no effect
            check_number(self.side_weight, "side_weight", low=0, high=1e6, open_low=True)
        if self.side_weight is not None and self.side is None:
            raise InputError(
                f"side_weight: expected together with side, got {self.side_weight!r} and no side; leave it out"
            )
        if not (isinstance(self.n_jobs, int) and self.n_jobs == -1):
            check_count(self.n_jobs, "n_jobs")
