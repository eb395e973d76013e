"""The search: many random starts on groups of cells, solved with several prices of another composition; one plan is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .agreement import describe_side, score_plan
from .coarse import Groups, group_cells
from .preparation import leading_axes
from .relaxed import Views, alternate, couple, view_cost

Floats = np.ndarray[Any, Any]

GROUPS = 150  # of each assay, at most
GROUPS_LEAST = 30  # groups, or one per cell
PER_GROUP = 3  # cells, at least: means are less noisy than cells
STARTS = 150
AXES = (3, 5)  # leading axes of a view that a start turns
FINALISTS = 6  # distinct plans that are solved on
SLACKS = (np.inf, 1.0)  # prices of another composition
LOWER = 0.3  # the highest price once it is clear that the composition differs
RESIDUALS = 16  # the price then, over the first quartile of the squared residuals
FIRST = (0.5, 0.35, 0.25, 0.18, 0.13, 0.1, 0.08)
LAST = (0.08, 0.065, 0.05, 0.05)
LEAST = 0.02  # the lowest price
MARGIN = 0.035  # by which another composition has to agree better: twice what it gained where none was missing
APART = 0.6  # of 2: plans that differ by this much in the l_1 norm are distinct


@dataclass(frozen=True)
class Choice:
    """One finalist: the price of another composition it was solved with, its agreement, and the plan between groups."""

    slack: float
    agreement: float
    plan: Floats


def search(
    x: Views, y: Views, *, slacks: tuple[float, ...], rng: np.random.Generator
) -> tuple[Groups, Groups, list[Choice]]:
    """Return the groups of both assays and the finalists, best first."""
    left, right = (group_cells(one, max(GROUPS_LEAST, min(GROUPS, _count(one) // PER_GROUP)), rng) for one in (x, y))
    one, other = (describe_side(groups.views, groups.weights) for groups in (left, right))
    clouds = left.views, right.views, left.weights, right.weights
    starts = draw_starts(left, right, rng)
    ends: list[Floats] = []
    for slack in slacks:
        plans = alternate(*clouds, starts, slack=slack, epsilons=FIRST)
        scores = [score_plan(one, other, plan) for plan in plans]
        ends += [plans[k] for k in keep_distinct(plans, np.argsort(scores)[::-1])]
    found = [
        Choice(slack, score_plan(one, other, plan), plan)
        for slack in slacks
        for plan in alternate(*clouds, np.stack(ends), slack=slack, epsilons=LAST)
    ]
    found.sort(key=lambda choice: MARGIN * np.isfinite(choice.slack) - choice.agreement)
    if np.isfinite(found[0].slack):
        found[0] = replace(found[0], plan=lower_price(clouds, found[0].plan))
    return left, right, found


def lower_price(clouds: tuple[Views, Views, Floats, Floats], plan: Floats) -> Floats:
    """Return the plan at a price of another composition that follows the residuals: cells without a counterpart lose weight.

    Two rounds, since residuals shrink as these cells are let go.
    """
    for _ in range(2):
        cost = view_cost(clouds[0], clouds[1], plan[None])[0]
        residual = (plan * cost).sum(1) / np.maximum(plan.sum(1), 1e-30)
        order = np.argsort(residual)
        quartile = residual[order[np.searchsorted(np.cumsum(plan.sum(1)[order]), 0.25)]]
        slack = float(np.clip(RESIDUALS * quartile, LEAST, LOWER))
        (plan,) = alternate(*clouds, plan[None], slack=slack, epsilons=tuple(min(one, slack) for one in LAST))
    return plan


def _count(views: Views) -> int:
    return len(next(iter(views.values())))


def draw_starts(x: Groups, y: Groups, rng: np.random.Generator) -> Floats:
    """Return plans (s, n, m): those of random rotations of the leading axes of each view in turn."""
    costs = []
    names = list(x.views)
    for i in range(STARTS):
        name, k = names[i % len(names)], AXES[i // len(names) % len(AXES)]
        k = min(k, x.views[name].shape[1], y.views[name].shape[1])
        left, right = leading_axes(x.views[name], k), leading_axes(y.views[name], k)
        turned = left @ np.linalg.qr(rng.normal(size=(k, k)))[0]
        costs.append((turned**2).sum(1)[:, None] + (right**2).sum(1) - 2 * turned @ right.T)
    cost = np.asarray(costs, np.float32)
    plans, _ = couple(cost, x.weights, y.weights, 0.3, np.zeros((len(cost), cost.shape[2]), np.float32), np.inf)
    return plans


def keep_distinct(plans: Floats, order: Floats) -> list[int]:
    """Return the first ``FINALISTS`` of ``order`` whose plans differ."""
    kept: list[int] = []
    for k in order:
        if all(np.abs(plans[k] - plans[one]).sum() > APART for one in kept):
            kept.append(int(k))
        if len(kept) == FINALISTS:
            break
    return kept
