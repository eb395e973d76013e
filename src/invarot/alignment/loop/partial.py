"""The two half-steps where only a part of the clouds corresponds.

Source points carry a last coordinate 1 where a translation is allowed: the last row of a map is then its offset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ...arrays import Array, machine_epsilon, namespace, to_numpy, transpose
from ...geometry.frank_wolfe import MapStep
from ...retrieval.nearest import nearest_distances
from ...transport.choice import make_cost
from ...transport.cost import Cost
from ...transport.exact import exact_partial_plan
from ...transport.marginals import Capped, with_norms
from ...transport.plan import EntropicPlan
from ...transport.sinkhorn import Potentials, sinkhorn
from ...transport.sparse import SPARE, PairList, SparseCost, can_list, find_reach, list_pairs
from ...transport.sparse_plan import SparsePlan
from ..budget import Budget
from ..overlap import Floats, choose_cut, share_near
from ..problem import Problem
from .steps import PlanStep


class PartialCoupler:
    """Plan steps in which mass may stay unmatched; one start. Epsilon is relative to the squared cut, which follows the residuals."""

    def __init__(self, problem: Problem, budget: Budget, *, moving: bool = True) -> None:
        self.problem, self.budget, self.moving = problem, budget, moving
        self.duals: Array | None = None  # g = ε·v (1, m)
        self.price: float | None = None  # where the mass is given
        self.masses: tuple[Array, Array]  # of the last step
        self.near: tuple[Array, Array] | None
        self.pairs: PairList | None = None  # near enough to be matched
        self._plan: Callable[[], EntropicPlan | SparsePlan]

    def couple(self, w: Array, epsilon: float, *, tol: float) -> PlanStep:
        """Solve the plan for the map w (1, dx, dy); row and column sums are at most the weights."""
        xp, problem = namespace(w), self.problem
        assert problem.overlap is not None
        z, y = problem.x @ w, problem.y
        apart, cut, square = self._measure(z[0], epsilon)
        residuals = to_numpy(apart[0]), to_numpy(apart[1])
        a, b, total = weigh(problem, residuals, cut)
        self.near = None if total is not None else (share_near(apart[0], cut), share_near(apart[1], cut))
        if self.budget.schedule is None:
            return self._couple_exactly(z[0], a, b, total, residuals[0] <= cut)
        epsilon = epsilon * cut
        price = cut / 2 if self.price is None or total is None else self.price
        marginals = Capped(xp.full_like(z[:, :1, 0], price / epsilon), total)
        warm = Potentials.zero(a, b)
        if self.duals is not None:
            warm = warm.with_columns(self.duals[0] / epsilon)
        cost: Cost
        if square is not None and self.pairs is not None:
            cost = self.pairs.make_cost(square, epsilon, a, b)
        else:
            cost = make_cost(*with_norms(z, y), 2 / epsilon, a, b, memory=self.budget.memory)
        size = float(xp.sum(b))  # errors are relative to the mass
        found = sinkhorn(cost, a, b, warm=warm, tol=tol * size, max_iter=self.budget.plan_max_iter, marginals=marginals)
        found = replace(found, error=found.error / size)
        self.duals = found.v * epsilon
        if total is not None and found.limit is not None:
            self.price = float(found.limit[0, 0]) * epsilon
        images, mass = cost.images(found.u, found.v)
        self.masses = a, b
        self._plan = partial(_make_plan, z[0], y, epsilon, a, b, cost, found)
        divergence = epsilon * xp.sum(mass * found.u, axis=-1)
        return PlanStep(images[..., : y.shape[1]], divergence, found.error, found.iterations, cost.mode, mass)

    def _measure(self, z: Array, epsilon: float) -> tuple[tuple[Array, Array], float, Floats | None]:
        """Return the squared distances of both sides to the other, the squared cut, and the distances of listed pairs.

        Without a list, or where points may be matched from afar, there are no listed pairs.
        """
        problem, least = self.problem, 64 * machine_epsilon(z) * self.problem.cost_scale
        assert problem.overlap is not None
        assert problem.scales is not None
        if self.pairs is not None:
            square = self.pairs.measure(to_numpy(z))
            apart: tuple[Array, Array] = self.pairs.nearest(square)
            cut = max(choose_cut(to_numpy(apart[0]), to_numpy(apart[1]), problem.scales), least)
            # points with nothing in reach are infinitely far: the cut is then NaN
            if np.isfinite(cut) and self.pairs.reaches(to_numpy(z)) >= find_reach(cut / 2, epsilon * cut):
                return apart, cut, square
        apart = nearest_distances(z, problem.y), nearest_distances(problem.y, z)
        cut = max(choose_cut(to_numpy(apart[0]), to_numpy(apart[1]), problem.scales), least)
        if problem.overlap.x is None and self.budget.schedule is not None and can_list(z):
            spare, reach = SPARE if self.moving else 1e-6, find_reach(cut / 2, epsilon * cut)
            self.pairs = list_pairs(to_numpy(z), to_numpy(problem.y), reach, spare=spare)
        return apart, cut, None if self.pairs is None else self.pairs.measure(to_numpy(z))

    def _couple_exactly(self, z: Array, a: Array, b: Array, total: float | None, near: Floats) -> PlanStep:
        """Match the given mass, or that of the points within the cut, at the least cost."""
        xp, y = namespace(z), self.problem.y
        mass = float(np.sum(to_numpy(a)[near])) if total is None else total
        plan = exact_partial_plan(z, y, a, b, mass, memory=self.budget.memory)
        self.masses, self._plan = (a, b), lambda: plan
        rows, nothing = plan.marginals()[0][None], xp.zeros_like(z[:1, 0])
        return PlanStep(plan.apply(y)[None], nothing, nothing, 1, "exact", rows)

    def plan(self, start: int) -> EntropicPlan | SparsePlan:
        return self._plan()

    def matched(self, start: int) -> tuple[Array, Array]:
        """Return the share of each point of x and of y that has a counterpart, in [0, 1].

        Where the mass is given, the share of its mass that is matched; else by the distance to the nearest target: two samples of
        one surface have places where one of them has fewer points, which a plan leaves unmatched.
        """
        if self.near is not None:
            return self.near
        rows, columns = (
            namespace(mass).clip(one / mass, 0.0, 1.0)
            for one, mass in zip(self._plan().marginals(), self.masses, strict=True)
        )
        return rows, columns


def _make_plan(
    z: Array, y: Array, epsilon: float, a: Array, b: Array, cost: Cost, found: Potentials
) -> EntropicPlan | SparsePlan:
    """Return the plan of potentials for the cost −‖z − y‖²/ε, as one for the scores 2⟨z, y⟩/ε, or its entries."""
    if isinstance(cost, SparseCost):
        entries = cost.entries(found.u, found.v)
        return SparsePlan(z, y, *entries, epsilon, float(found.error[0]), found.iterations)
    square_z, square_y = (namespace(y).sum(points**2, axis=1) / epsilon for points in (z, y))
    u, v = found.u[0] - square_z, found.v[0] - square_y
    return EntropicPlan(z, y, a, b, u, v, epsilon, float(found.error[0]), found.iterations)


def weigh(problem: Problem, residuals: tuple[Floats, Floats], cut: float) -> tuple[Array, Array, float | None]:
    """Return the masses of x and of y, and the mass to match (None: whatever is near enough).

    A point has mass 1 (with equal weights). Where one cloud is denser its points have less, such that the parts with a counterpart
    weigh the same: by the given shares, else by the points within the cut.
    """
    overlap = problem.overlap
    assert overlap is not None
    xp = namespace(problem.x)
    near = [
        float(np.sum(to_numpy(weights)[residual <= cut]))
        for weights, residual in zip((problem.a, problem.b), residuals, strict=True)
    ]
    share_x = near[0] if overlap.x is None else overlap.x
    share_y = near[1] if overlap.y is None else overlap.y
    ratio = share_x / share_y if min(share_x, share_y) > 0 else 1.0
    count = float(1 / xp.sum(problem.a**2))
    if overlap.x is None:
        return problem.a * count, problem.b * (count * ratio), None
    if overlap.y is None:
        ratio = max(ratio, share_x)
    return problem.a * count, problem.b * (count * ratio), count * share_x * (1 - 1e-9)


def fit_matched(problem: Problem, plan: PlanStep) -> tuple[MapStep, Array]:
    """Return the map step for the matched mass, and its moment (1, dx, dy) about the centres of that mass.

    The offset brings the centre of the matched mass of x onto that of y; a scale is the ratio of their spreads.
    """
    xp = namespace(plan.images)
    assert plan.mass is not None
    total = float(xp.sum(plan.mass)) or 1.0
    mass, images = plan.mass / total, plan.images / total
    x = problem.x[:, :-1] if problem.affine else problem.x
    if problem.affine:
        left, right = mass @ x, xp.sum(images, axis=-2)
        x, images = x - left[0], images - mass[..., None] * right[..., None, :]
    moment = transpose(x) @ images
    w = problem.maps.best_map(moment)
    if problem.scale:
        w = w * _ratio_of_spreads(x, images, mass)
    gap = xp.zeros_like(moment[..., 0, 0])
    if not problem.affine:
        return MapStep(w, gap, 1), moment
    offset = right[..., None, :] - left[..., None, :] @ w
    return MapStep(xp.concat([w, offset], axis=-2), gap, 1), xp.concat([moment, xp.zeros_like(offset)], axis=-2)


def _ratio_of_spreads(x: Array, images: Array, mass: Array) -> float:
    """Return the rms of the images (of x under the plan, times mass) over that of x, both weighted by mass (1, n)."""
    xp = namespace(x)
    used = mass > 1e-12
    square = xp.sum(images**2, axis=-1) / xp.where(used, mass, xp.ones_like(mass))
    spread = float(xp.sum(mass * xp.sum(x**2, axis=-1)))
    return (float(xp.sum(xp.where(used, square, xp.zeros_like(square)))) / spread) ** 0.5 if spread > 0 else 1.0
