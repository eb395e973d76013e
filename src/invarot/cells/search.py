"""The search: many random starts on few groups of cells, the best on more groups, then exchanges; the finalists, best first.

Random starts find a plan in which most types are right. What is left are exchanges: two types that could stand for each
other. So the parts of a good plan are exchanged, two at a time, and every exchange is solved again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..alignment.align import align
from ..arrays import to_numpy
from ..errors import NotConverged
from .agreement import Side, describe_side, score_plan
from .alternation import Views, couple, fit_plans
from .coarse import Groups, Ints, group_cells, merge_groups, share_out
from .preparation import leading_axes

Floats = np.ndarray[Any, Any]

GROUPS = 150  # of each assay, at most
GROUPS_LEAST = 30  # groups, or one per cell
PER_GROUP = 3  # cells, at least: means are less noisy than cells
FEW = 50  # groups on which random starts are solved
RANDOM_STARTS = 400
TURNED_AXES = (3, 5)  # leading axes of a view that a start turns
SOLVED_PLANS = 8  # distinct plans that are solved on
PARTS = 10  # of an assay, two of which are exchanged
PARENTS = 2  # plans whose parts are exchanged in one round
EXCHANGE_ROUNDS = 3  # of exchanges
FIRST_EPSILONS = (0.5, 0.35, 0.25, 0.18, 0.13, 0.1, 0.08)
MIDDLE_EPSILONS = (0.18, 0.13, 0.1, 0.08)
LAST_EPSILONS = (0.08, 0.065, 0.05, 0.05)
SAMPLED_CELLS = 500  # cells of each assay, for the ordinary solver
BACKGROUND = 0.05  # mass of its plans that is spread over all groups
APART = 0.6  # of 2: plans that differ by this much in the l_1 norm are distinct


@dataclass(frozen=True)
class Choice:
    """One finalist: its agreement, and the plan between groups."""

    agreement: float
    plan: Floats


@dataclass(frozen=True)
class GroupPair:
    """Groups of both assays, and what plans between them are scored by."""

    left: Groups
    right: Groups
    sides: tuple[Side, Side]

    def solve(self, plans: Any, epsilons: tuple[float, ...]) -> list[Choice]:
        """Return the distinct answers that these plans lead to, best first; at most ``SOLVED_PLANS``."""
        start = np.stack(list(plans)).astype(np.float32)
        left, right = self.left, self.right
        ends = fit_plans(left.views, right.views, left.weights, right.weights, start, epsilons=epsilons)
        return keep_distinct_plans([Choice(score_plan(*self.sides, plan), plan) for plan in ends])


def search(
    x: Views, y: Views, *, rng: np.random.Generator, a: Floats | None = None, b: Floats | None = None
) -> tuple[Groups, Groups, list[Choice]]:
    """Return the groups of both assays and the finalists, best first; a (n,) and b (m,) are weights of the cells."""
    pair = pair_groups(*(group_cells(one, count_groups(one), rng, weights) for one, weights in ((x, a), (y, b))))
    ends = propose_plans(pair, rng)
    ends += [
        refer_to_groups(plan, rows, columns, pair.left, pair.right) for plan, rows, columns in solve_plainly(x, y, rng)
    ]
    return (
        pair.left,
        pair.right,
        pair.solve((one.plan for one in try_exchanges(pair, pair.solve(ends, MIDDLE_EPSILONS), rng)), LAST_EPSILONS),
    )


def pair_groups(left: Groups, right: Groups) -> GroupPair:
    """Return both sides with what their plans are scored by."""
    return GroupPair(left, right, (describe_side(left.views, left.weights), describe_side(right.views, right.weights)))


def count_groups(views: Views) -> int:
    """Return how many groups the cells are put into."""
    return max(GROUPS_LEAST, min(GROUPS, _count(views) // PER_GROUP))


def propose_plans(pair: GroupPair, rng: np.random.Generator) -> list[Floats]:
    """Return plans between the groups that random starts on few larger groups lead to."""
    (left, rows), (right, columns) = (merge_groups(one, FEW, rng) for one in (pair.left, pair.right))
    few = pair_groups(left, right)
    found = few.solve(draw_starts(left, right, RANDOM_STARTS, rng), FIRST_EPSILONS)
    share = np.outer(share_out(pair.left.weights, rows), share_out(pair.right.weights, columns))
    return [one.plan[np.ix_(rows, columns)] * share for one in found]


def try_exchanges(pair: GroupPair, found: list[Choice], rng: np.random.Generator) -> list[Choice]:
    """Return these plans and better ones: two parts of one assay change places, and the plan is solved again."""
    done: list[Floats] = []
    for _ in range(EXCHANGE_ROUNDS):
        parents = [one for one in found[:PARENTS] if not any(one.plan is plan for plan in done)]
        if not parents:
            break
        done += [one.plan for one in parents]
        plans = [plan for one in parents for plan in exchange_parts(one.plan, pair.left, pair.right, rng)]
        found = keep_distinct_plans(found + pair.solve(plans, MIDDLE_EPSILONS))
    return found


def exchange_parts(plan: Floats, left: Groups, right: Groups, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield the plan with the mass of every two parts exchanged: of the second assay, then of the first."""
    for groups, turned in ((right, plan), (left, plan.T)):
        _, part = merge_groups(groups, PARTS, rng)
        share = share_out(groups.weights, part)
        mass = np.stack([turned[:, part == k].sum(1) for k in range(part.max() + 1)], axis=1)
        for i in range(mass.shape[1]):
            for j in range(i):
                order = np.arange(mass.shape[1])
                order[[i, j]] = j, i
                changed = mass[:, order][:, part] * share
                yield changed if groups is right else changed.T


def solve_plainly(x: Views, y: Views, rng: np.random.Generator) -> Iterator[tuple[Floats, Ints, Ints]]:
    """Yield plans of the ordinary solver on a sample of cells, and these cells: of the first view, and of all views.

    Where the assays are nearly a rotation of each other, its starts find what random ones miss.
    """
    rows, columns = (np.sort(rng.permutation(_count(one))[:SAMPLED_CELLS]) for one in (x, y))
    for names in dict.fromkeys((tuple(x)[:1], tuple(x))):
        one, other = (np.hstack([views[name][some] for name in names]) for views, some in ((x, rows), (y, columns)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)  # a start need not have converged
            found = align(one, other, effort="quick", rng=rng)
        yield to_numpy(found.plan.dense()), rows, columns


def refer_to_groups(plan: Floats, rows: Ints, columns: Ints, left: Groups, right: Groups) -> Floats:
    """Return a plan between cells as one between groups; groups without such a cell get a little of every other."""
    found = np.outer(left.weights, right.weights) * BACKGROUND
    np.add.at(found, (left.label[rows][:, None], right.label[columns]), (1 - BACKGROUND) * plan)
    return found.astype(np.float32)


def _count(views: Views) -> int:
    return len(next(iter(views.values())))


def draw_starts(x: Groups, y: Groups, count: int, rng: np.random.Generator) -> Floats:
    """Return plans (s, n, m): those of random rotations of the leading axes of each view in turn."""
    costs = []
    names = list(x.views)
    for i in range(count):
        name, k = names[i % len(names)], TURNED_AXES[i // len(names) % len(TURNED_AXES)]
        k = min(k, x.views[name].shape[1], y.views[name].shape[1])
        left, right = leading_axes(x.views[name], k), leading_axes(y.views[name], k)
        turned = left @ np.linalg.qr(rng.normal(size=(k, k)))[0]
        costs.append((turned**2).sum(1)[:, None] + (right**2).sum(1) - 2 * turned @ right.T)
    cost = np.asarray(costs, np.float32)
    plans, _ = couple(cost, x.weights, y.weights, 0.3, np.zeros((len(cost), cost.shape[2]), np.float32))
    return plans


def keep_distinct_plans(found: list[Choice]) -> list[Choice]:
    """Return the best ``SOLVED_PLANS`` whose plans differ, best first."""
    kept: list[Choice] = []
    for one in sorted(found, key=lambda choice: -choice.agreement):
        if all(np.abs(one.plan - other.plan).sum() > APART for other in kept):
            kept.append(one)
        if len(kept) == SOLVED_PLANS:
            break
    return kept
