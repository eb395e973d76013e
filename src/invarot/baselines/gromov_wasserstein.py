"""Entropic Gromov–Wasserstein on similarities, then Procrustes on its matches (Alvarez-Melis & Jaakkola 2018)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..alignment.history import History, Step
from ..alignment.result import Alignment
from ..arrays import Array, as_like, namespace, to_numpy, transpose
from ..checks import check_map, check_number, check_rng
from ..errors import InputError
from ..geometry.orthogonal import polar
from ..starts.signature import signature
from ..transport.entropic import entropic_plan
from ..transport.plan import EntropicPlan
from ..transport.sinkhorn import Potentials
from ..transport.sparse_plan import SparsePlan
from .outcome import as_alignment, change, check_pair, record

AUTHORS = 2.5e-4  # epsilon of the authors' program, in the units used here


def gromov_wasserstein(
    x: Any,
    y: Any,
    *,
    a: Any = None,
    b: Any = None,
    epsilon: float = 0.01,
    start: Any = "signature",
    size: int = 5000,
    max_iter: int = 100,
    tol: float = 1e-4,
    plan_tol: float = 1e-4,
    plan_max_iter: int = 500,
    rng: int | np.random.Generator = 0,
) -> Alignment:
    """Minimise Σ (⟨xᵢ, xₖ⟩ − ⟨yⱼ, yₗ⟩)² Γij Γkl − ε·H(Γ) over plans of the first ``size`` rows; Procrustes on the matches.

    With rows of unit length this is the paper's cosine matrix, and the n×n matrices are never formed: their product
    with a plan is x (xᵀΓy) yᵀ.

    Parameters
    ----------
    epsilon : float
        Relative to 4·E‖x‖²·E‖y‖², the upper bound of the linearised cost. The authors' program takes 5e-4 for half the
        square loss of cosine distances divided by their means, about 1 for centred vectors: 2.5e-4 here (`AUTHORS`).
    start : {"signature", "product"} or map (dx, dy)
        The first cost: from the moment xᵀΓy of a signature match, of the product plan a bᵀ (as in the paper), or from
        the given map.

    Departures: the product plan is a stationary point of the problem whenever a cloud is centred, so a signature match
    is the default; Procrustes is fitted to the plan's mutual matches, equally weighted.
    """
    x, y, a, b = check_pair(x, y, a, b)
    xp = namespace(x)
    xs, ys = x[:size], y[:size]
    a_s, b_s = a[:size] / xp.sum(a[:size]), b[:size] / xp.sum(b[:size])
    unit = 4 * float(xp.sum(a_s[:, None] * xs**2)) * float(xp.sum(b_s[:, None] * ys**2)) or 1.0
    absolute = check_number(epsilon, "epsilon", low=0, open_low=True) * unit
    moment = _first_moment(xs, ys, a_s, b_s, start, check_rng(rng))
    plan, steps, settled = solve(xs, ys, a_s, b_s, moment, epsilon=absolute, max_iter=max_iter, tol=tol,
                                 plan_tol=plan_tol, plan_max_iter=plan_max_iter)  # fmt: skip
    rows, columns = mutual_matches(plan)
    w = polar(transpose(xs[rows]) @ ys[columns])
    whole = x.shape[0] <= size and y.shape[0] <= size
    return as_alignment(
        x, y, a, b, w, name="gromov-wasserstein", plan=plan if whole else None, history=History(steps), settled=settled,
        options={"epsilon": epsilon, "size": size},
    )  # fmt: skip


def solve(
    x: Array, y: Array, a: Array, b: Array, moment: Array, *, epsilon: float, max_iter: int, tol: float,
    plan_tol: float, plan_max_iter: int,
) -> tuple[EntropicPlan, list[Step], bool]:  # fmt: skip
    """Run projected gradient in the KL geometry (Peyré et al. 2016): repeat the plan for −4 x M yᵀ, M its moment."""
    xp = namespace(x)
    steps: list[Step] = []
    warm: Potentials | None = None
    plan: EntropicPlan | None = None
    settled = False
    for step in range(max_iter):
        plan = entropic_plan(2 * x @ moment, y, a, b, epsilon=epsilon, tol=plan_tol, max_iter=plan_max_iter, warm=warm)
        warm = Potentials(plan.u[None], plan.v[None], xp.zeros_like(a[:1]), 0)
        following = transpose(x) @ plan.apply(y)
        moved = change(following, moment)
        score = float(xp.sum(following**2))
        steps.append(record(step, objective=score, mode="gromov-wasserstein", epsilon=epsilon, map_change=moved,
                            error=plan.error, inner=plan.iterations))  # fmt: skip
        moment = following
        if moved <= tol and plan.error <= plan_tol:
            settled = True
            break
    assert plan is not None
    return plan, steps, settled


def mutual_matches(plan: EntropicPlan | SparsePlan) -> tuple[Array, Array]:
    """Return rows and columns that are each other's largest entry; every row with its largest if there are too few."""
    there, back = to_numpy(plan.matches()), to_numpy(plan.transposed().matches())
    rows = np.flatnonzero(back[there] == np.arange(len(there)))
    if len(rows) < 2 * plan.y.shape[1]:
        rows = np.arange(len(there))
    integer = namespace(plan.z).int64
    return as_like(rows, plan.z, dtype=integer), as_like(there[rows], plan.z, dtype=integer)


def _first_moment(x: Array, y: Array, a: Array, b: Array, start: Any, rng: np.random.Generator) -> Array:
    xp = namespace(x)
    if isinstance(start, str) and start == "product":
        moment = (a @ x)[:, None] * (b @ y)[None, :]
        size = float(xp.sum(a[:, None] * x**2)) * float(xp.sum(b[:, None] * y**2))
        if float(xp.sum(moment**2)) < 1e-12 * size:
            raise InputError("start: expected 'signature' or a map for centred clouds, got 'product', a stationary "
                             "point; use start='signature'")  # fmt: skip
        return moment
    if isinstance(start, str):
        if start != "signature":
            raise InputError(f"start: expected 'signature', 'product' or a map, got {start!r}")
        w = signature(x, y, a, b, rng=rng, powers=(0.5,), standardise=False)[0]
    else:
        w = check_map(start, "start", x.shape[1], y.shape[1], x)[0]
    # scaled like the moment of clouds matched along w
    spread = xp.sqrt(xp.sum((transpose(x * a[:, None]) @ x) ** 2) * xp.sum((transpose(y * b[:, None]) @ y) ** 2)) ** 0.5
    return w * (spread / xp.sqrt(xp.sum(w**2)))
