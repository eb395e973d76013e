"""The two half-steps of the loop: couple the clouds under a map, then find the best map for the coupling."""

from __future__ import annotations

from dataclasses import dataclass

from ...arrays import Array, namespace, transpose
from ...geometry.frank_wolfe import MapStep, best_quadratic_map
from ...geometry.schatten import SchattenBall
from ...transport.choice import make_cost
from ...transport.exact import exact_plan
from ...transport.plan import EntropicPlan
from ...transport.sinkhorn import Potentials, sinkhorn
from ...transport.sparse_plan import SparsePlan
from ..budget import Budget
from ..options import Sinkhorn
from ..problem import Problem
from ..tuning import LOOSER, PLAN_SWEEPS


@dataclass(frozen=True)
class PlanStep:
    """The values of s plans that the map step and the history use."""

    images: Array  # (s, n, dy): Γy, or (s, m, dx): Γᵀx where ``turned``
    divergence: Array  # (s,): ε·KL(Γ | a bᵀ), 0 for exact plans
    error: Array  # (s,): l_1 error of the row sums, or of the column sums where ``turned``
    iterations: int
    mode: str
    mass: Array | None = None  # (s, n): the row sums, where they are not the weights
    turned: bool = False


class EntropicCoupler:
    """Entropic plan steps; each starts from the potentials of the previous one.

    The scores ⟨xW, y⟩ = ⟨x, yWᵀ⟩ are computed in the space of fewer dimensions: if that is x's, y is mapped there, and rows and
    columns change places (``turned``). Where a cloud is cut over processes, the points of x are always the rows.
    """

    def __init__(self, problem: Problem, starts: int, budget: Budget, warm: EntropicPlan | None = None) -> None:
        """``warm`` is a plan with the first potentials of all starts."""
        self.problem, self.budget = problem, budget
        whole = problem.rows.whole and problem.columns.whole
        self.turned = whole and problem.x.shape[1] < problem.y.shape[1]
        b = problem.columns.collect(problem.b)
        self.rows, self.columns = (b, problem.a) if self.turned else (problem.a, b)
        self.potentials = Potentials.zero(self.rows, self.columns, starts=starts)
        self.epsilon: float | None = None
        self.maps: Array  # (s, dx, dy): of the last step
        self.error: Array  # (s,): of the row sums of the last step
        if warm is not None:
            self.potentials = self.potentials.with_columns(warm.u if self.turned else warm.v)
            self.epsilon = warm.epsilon

    def couple(self, w: Array, epsilon: float, *, tol: float) -> PlanStep:
        """Solve the plans for maps w (s, dx, dy) at an absolute epsilon, row sums within ``tol``."""
        xp = namespace(w)
        problem = self.problem
        z, targets = (problem.y @ transpose(w), problem.x) if self.turned else (problem.x @ w, problem.y)
        cost = make_cost(
            z, targets, 2 / epsilon, self.rows, self.columns, memory=self.budget.memory, rows=problem.rows,
            columns=problem.columns, rough=True,
        )  # fmt: skip
        warm = self.potentials.at((self.epsilon or epsilon) / epsilon)
        self.epsilon, self.maps = epsilon, w
        found = sinkhorn(cost, self.rows, self.columns, warm=warm, tol=tol, max_iter=self.budget.plan_max_iter)
        self.potentials = found
        images, mass = cost.images(found.u, found.v)
        inner = 2 * xp.sum(images * z, axis=(-2, -1))
        over_rows = inner + epsilon * xp.sum(mass * found.u, axis=-1), xp.sum(xp.abs(mass - self.rows), axis=-1)
        divergence, self.error = problem.rows.sum(xp.stack(over_rows))
        divergence = divergence + epsilon * xp.sum(self.columns * found.v, axis=-1)
        return PlanStep(images, divergence, self.error, found.iterations, cost.mode, turned=self.turned)

    def plan(self, start: int) -> EntropicPlan:
        assert self.epsilon is not None
        problem, found = self.problem, self.potentials
        u, v = (found.v, found.u) if self.turned else (found.u, found.v)
        b = self.rows if self.turned else self.columns
        return EntropicPlan(
            problem.x @ self.maps[start], problem.y, problem.a, b, u[start], v[start],
            self.epsilon, float(self.error[start]), found.iterations, problem.columns,
        )  # fmt: skip


class ExactCoupler:
    """Exact plan steps, one start after the other; epsilon is ignored."""

    def __init__(self, problem: Problem, memory: int | None) -> None:
        self.problem, self.memory = problem, memory
        self.plans: list[SparsePlan] = []

    def couple(self, w: Array, epsilon: float, *, tol: float) -> PlanStep:
        xp = namespace(w)
        problem = self.problem
        self.plans = [exact_plan(problem.x @ one, problem.y, problem.a, problem.b, memory=self.memory) for one in w]
        images = xp.stack([plan.apply(problem.y) for plan in self.plans])
        nothing = xp.zeros_like(images[:, 0, 0])
        return PlanStep(images, nothing, nothing, 1, "exact")

    def plan(self, start: int) -> SparsePlan:
        return self.plans[start]


def make_coupler(
    problem: Problem, starts: int, budget: Budget, warm: EntropicPlan | SparsePlan | None = None
) -> EntropicCoupler | ExactCoupler:
    """Return the coupler of a budget; exact plans have no warm start."""
    if budget.schedule is None:
        return ExactCoupler(problem, budget.memory)
    return EntropicCoupler(problem, starts, budget, warm if isinstance(warm, EntropicPlan) else None)


def best_maps(problem: Problem, plan: PlanStep, w: Array) -> tuple[MapStep, Array]:
    """Return the map step, and its moments (s, dx, dy); Frank–Wolfe starts from ``w``."""
    xp = namespace(w)
    left, right = (plan.images, problem.y) if plan.turned else (problem.x, plan.images)
    moment = problem.rows.sum(transpose(left) @ right)
    if problem.seed_moment is not None:
        moment = moment + problem.seed_moment
    if problem.objective == "transport" and isinstance(problem.maps, SchattenBall):
        tol = Sinkhorn.tol / LOOSER  # the next step continues from this map
        step = best_quadratic_map(problem.maps, problem.second_moment, moment, start=w, tol=tol, max_iter=PLAN_SWEEPS)
        return step, moment
    return MapStep(problem.maps.best_map(moment), xp.zeros_like(moment[..., 0, 0]), 1), moment
