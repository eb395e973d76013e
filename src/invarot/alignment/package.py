"""Build the result in the original coordinates: map and offset, the plan over all points, the options."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace, on_cuda, svd, transpose
from ..geometry.frames import best_scale
from ..transport.entropic import correct
from ..transport.plan import EntropicPlan, extend
from ..transport.sparse_plan import SparsePlan
from .candidate import Candidate, Found
from .history import Status
from .options import Maps, Rotations, Search, Solver
from .problem import Problem
from .result import Alignment
from .verdict import Verdict


def package(
    problem: Problem, found: Found, verdict: Verdict, x: Array, y: Array, a: Array, b: Array, maps: Maps,
    settings: dict[str, Any],
) -> Alignment:  # fmt: skip
    """Return the alignment of the original points."""
    best = found.best
    w = inner = best.map
    shift = None
    if problem.affine:  # the last row of the map is its offset, in the frame of y
        w = inner = best.map[:-1]
        shift = best.map[-1] @ problem.frame_y.inverse
    if problem.scale and problem.overlap is None:
        moment = problem.rows.sum(transpose(problem.x) @ best.plan.apply(problem.y))
        inner = best_scale(moment, problem.second_moment, w) * w
    matrix = _complete_map(problem, problem.frame_x.linear @ inner @ problem.frame_y.inverse, maps)
    offset = problem.frame_y.origin - problem.frame_x.origin @ matrix
    plan = _extend_to_all_points(_correct_rounding(problem, best), problem, x, y, a, b, best.map)
    # a part of the rows has no column sums of its own
    if isinstance(plan, EntropicPlan) and problem.overlap is None and problem.rows.whole and not on_cuda(x):
        plan = plan.measured()
    status = best.status
    # sums of the whole plan round differently from those of the solve: a tenth more is not another outcome
    if isinstance(plan, EntropicPlan) and problem.overlap is None and plan.error > 1.1 * problem.budgets.solve.plan_tol:
        status = Status.MARGINALS if status is Status.SETTLED else status
    matched = None if best.matched is None else _spread_out(best.matched, a, b)
    return Alignment(
        map=matrix,
        offset=offset if shift is None else offset + shift,
        plan=plan,
        objective=best.objective,
        history=best.history,
        status=status,
        starts=found.starts,
        verdict=verdict,
        settings=settings,
        notes=found.notes,
        matched_x=None if matched is None else matched[0],
        matched_y=None if matched is None else matched[1],
        overlap=None if matched is None else (float(a @ matched[0]), float(b @ matched[1])),
        source=x,
        target=y,
    )


def _complete_map(problem: Problem, matrix: Array, maps: Maps) -> Array:
    """Return the map (dx, dy) that agrees with the matrix on the spans of the clouds, and is of the family.

    Orthogonal maps keep the lengths of all other vectors too; other maps send them to 0.
    """
    orthogonal = math.isinf(maps.p) and problem.objective == "simplified" and not maps.whiten
    if not (problem.restricted and orthogonal):
        return matrix
    xp = namespace(matrix)
    u, s, vt = svd(matrix)
    rank = min(problem.frame_x.linear.shape[1], problem.frame_y.linear.shape[1])
    s = xp.concat([s[:rank], xp.ones_like(s[rank:]) * s[0]])
    if isinstance(maps, Rotations) and float(xp.linalg.det(u) * xp.linalg.det(vt)) < 0:
        s[-1] = -s[-1]
    return (u * s) @ vt


def describe_options(
    maps: Maps, solver: Solver, search: Search, *, translate: bool, scale: bool, start: str, effort: str | None,
    n_starts: int | None, seeds: int, overlap: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the options as plain values that can be saved."""
    return {
        "p": float(maps.p),
        "maps": {"family": type(maps).__name__, **_to_plain_values(maps)},
        "translate": translate,
        "scale": scale,
        "start": start,
        "effort": effort,
        "n_starts": _to_plain_values(n_starts),
        "seeds": seeds,
        "overlap": _to_plain_values(overlap),
        "objective": solver.objective,
        "solver": {"kind": type(solver).__name__, **_to_plain_values(solver)},
        "search": _to_plain_values(search, side=search.side is not None),
    }


def _to_plain_values(value: Any, **instead: Any) -> Any:
    """Convert to dicts, lists and Python numbers, as read back from a file; ``instead`` replaces fields by name."""
    if is_dataclass(value):
        return {one.name: _to_plain_values(instead.get(one.name, getattr(value, one.name))) for one in fields(value)}
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str):
        return [_to_plain_values(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def _spread_out(matched: tuple[Array, Array], a: Array, b: Array) -> list[Array]:
    """Return the matched shares of all points: 0 for those of weight zero."""
    found = []
    for shares, weights in zip(matched, (a, b), strict=True):
        whole = namespace(weights).zeros_like(weights)
        whole[weights > 0] = shares
        found.append(whole)
    return found


def _correct_rounding(problem: Problem, best: Candidate) -> EntropicPlan | SparsePlan:
    """Return the plan of the points as they are: kernels on a GPU may have rounded them during the solve."""
    if problem.overlap is not None or not isinstance(best.plan, EntropicPlan) or not on_cuda(problem.x):
        return best.plan
    budget = problem.budgets.solve
    limits: dict[str, Any] = {"tol": budget.plan_tol, "max_iter": budget.plan_max_iter, "memory": budget.memory}
    return correct(best.plan, best.history[-1].mode, rows=problem.rows, **limits)


def _extend_to_all_points(
    plan: EntropicPlan | SparsePlan, problem: Problem, x: Array, y: Array, a: Array, b: Array, w: Array
) -> EntropicPlan | SparsePlan:
    """Extend the plan to points of weight zero, which the solve left out."""
    xp = namespace(x)
    used_x, used_y = xp.nonzero(a > 0)[0], xp.nonzero(b > 0)[0]
    whole = used_x.shape[0] == x.shape[0] and used_y.shape[0] == y.shape[0]
    if whole and isinstance(plan, EntropicPlan):
        return plan
    inside = problem.frame_x.enter(x)
    if problem.affine:
        inside = xp.concat([inside, xp.ones_like(inside[:, :1])], axis=1)
    z, inside_y = inside @ w, problem.frame_y.enter(y)
    if isinstance(plan, SparsePlan):  # its entries do not depend on z, so its cost is that of the last map
        rows, columns = used_x[plan.rows], used_y[plan.columns]
        return SparsePlan(z, inside_y, rows, columns, plan.mass, plan.epsilon, plan.error, plan.iterations)
    z[used_x] = plan.z  # the potentials belong to the map the plan was solved for
    return extend(plan, z, inside_y, a, b, used_x, used_y)
